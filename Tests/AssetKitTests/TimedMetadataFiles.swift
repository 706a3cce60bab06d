import AssetKit
import Foundation
import SystemPackage
import TestSupport

/// A QuickTime file with one track of timed metadata, put together byte by byte as the QuickTime File Format describes it
/// ("Timed metadata media"), without the library's own writer.
struct TimedMetadataFile {
    /// The fields of the sample entry after its data reference: the table of keys.
    var fields: [UInt8]
    /// The samples, and how long each lasts in units of 1/600 s.
    var samples: [(bytes: [UInt8], duration: UInt32)]

    static func big(_ value: some FixedWidthInteger) -> [UInt8] {
        (0..<value.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    static func box(_ type: [UInt8], _ payload: [UInt8]) -> [UInt8] { big(UInt32(8 + payload.count)) + type + payload }
    static func box(_ type: String, _ payload: [UInt8]) -> [UInt8] { box(Array(type.utf8), payload) }
    static func box(_ localID: UInt32, _ payload: [UInt8]) -> [UInt8] { box(big(localID), payload) }

    /// A key: its local ID, its name after the four characters of its key space, and its type, a number of the table of
    /// well-known types or a name.
    static func key(
        _ localID: UInt32, _ name: String, _ number: UInt32? = nil, named type: String? = nil, language: String? = nil
    ) -> [UInt8] {
        var parts = box("keyd", Array(name.utf8))
        if let number { parts += box("dtyp", big(UInt32(0)) + big(number)) }
        if let type { parts += box("dtyp", big(UInt32(1)) + Array(type.utf8)) }
        if let language { parts += box("loca", Array(language.utf8) + [0]) }
        return box(localID, parts)
    }

    static func table(_ keys: [UInt8]...) -> [UInt8] { box("keys", keys.flatMap(\.self)) }

    var bytes: [UInt8] {
        let (box, big) = (
            { (type: String, payload: [UInt8]) in Self.box(type, payload) }, { (value: UInt32) in Self.big(value) }
        )
        let zeros = { (count: Int) in [UInt8](repeating: 0, count: count) }
        let type = box("ftyp", Array("qt  ".utf8) + big(0) + Array("qt  ".utf8))
        let duration = samples.reduce(0) { $0 + $1.duration }
        let unity = big(0x10000) + zeros(12) + big(0x10000) + zeros(12) + big(0x4000_0000)
        let movie =
            zeros(12) + big(600) + big(duration) + big(0x10000) + [1, 0] + zeros(10) + unity + zeros(24) + big(2)
        let track = big(15) + zeros(8) + big(1) + zeros(4) + big(duration) + zeros(16) + unity + zeros(8)
        let entry = box("mebx", zeros(6) + [0, 1] + fields)
        let times = samples.flatMap { big(1) + big($0.duration) }
        let sizes = samples.flatMap { big(UInt32($0.bytes.count)) }
        let count = UInt32(samples.count)
        let table = [
            box("stsd", zeros(4) + big(1) + entry), box("stts", zeros(4) + big(count) + times),
            box("stsc", zeros(4) + big(1) + big(1) + big(count) + big(1)),
            box("stsz", zeros(8) + big(count) + sizes),
            box("stco", zeros(4) + big(1) + big(UInt32(type.count + 8))),
        ]
        let reference = box("dref", zeros(4) + big(1) + box("alis", [0, 0, 0, 1]))
        let handler = zeros(4) + Array("mhlrmeta".utf8) + zeros(12) + [0]
        let media = [
            box("mdhd", zeros(12) + big(600) + big(duration) + [0x55, 0xC4, 0, 0]), box("hdlr", handler),
            box(
                "minf",
                box("gmhd", box("gmin", zeros(16))) + box("dinf", reference) + box("stbl", table.flatMap(\.self))),
        ]
        let trak = box("tkhd", track) + box("mdia", media.flatMap(\.self))
        return type + box("mdat", samples.flatMap(\.bytes)) + box("moov", box("mvhd", movie) + box("trak", trak))
    }

    /// The file as an asset, and its track.
    func opened() throws -> (Asset, AssetTrack) {
        let asset = Asset(bytes: bytes)
        return (asset, try Media.track(asset, .data))
    }

    /// All groups, and the adaptor that read them.
    func groups(in range: MediaTimeRange? = nil) throws -> ([TimedMetadataGroup], OutputMetadataAdaptor) {
        let (asset, track) = try opened()
        let adaptor =
            try range.map { try asset.timedMetadataGroupsNow(of: track, in: $0) }
            ?? asset.timedMetadataGroupsNow(of: track)
        return (try adaptor.remaining(), adaptor)
    }
}

extension OutputMetadataAdaptor {
    /// All groups that are still to come.
    func remaining() throws -> [TimedMetadataGroup] {
        var groups: [TimedMetadataGroup] = []
        while let group = try nextTimedMetadataGroup() { groups.append(group) }
        return groups
    }
}

/// A transport stream with ID3 tags at times, as ISO/IEC 13818-1 and Apple's "Timed Metadata for HTTP Live Streaming" lay it
/// out: stream type 0x15 with a metadata descriptor.
enum TimedID3Stream {
    /// - Parameter tags: The tags and when they are shown, in units of 1/90000 s.
    static func bytes(_ tags: [(tag: [UInt8], time: UInt64)]) -> [UInt8] {
        // Program 1, whose map has the PID 0x100.
        let programs = section([0x00], [0, 1, 0xC1, 0, 0] + [0, 1, 0xE1, 0x00])
        let descriptor: [UInt8] =
            [0x26, 13, 0xFF, 0xFF] + Array("ID3 ".utf8) + [0xFF] + Array("ID3 ".utf8) + [0, 0x0F]
        let stream: [UInt8] = [0x15, 0xE1, 0x01, 0xF0, UInt8(descriptor.count)] + descriptor
        // The clock is that of no stream (PID 0x1FFF).
        let map = section([0x02], [0, 1, 0xC1, 0, 0, 0xFF, 0xFF, 0xF0, 0] + stream)
        var counter: UInt8 = 0
        var result = packets(0, [0] + programs, &counter)
        counter = 0
        result += packets(0x100, [0] + map, &counter)
        counter = 0
        for (tag, time) in tags {
            let head: [UInt8] = [0x84, 0x80, 5] + timestamp(time)
            let length = UInt16(head.count + tag.count)
            let pes: [UInt8] = [0, 0, 1, 0xBD] + TimedMetadataFile.big(length) + head + tag
            result += packets(0x101, pes, &counter)
        }
        return result
    }

    /// An ID3 tag of version 2.4 with frames.
    static func tag(_ frames: [(id: String, bytes: [UInt8])]) -> [UInt8] {
        func synchsafe(_ value: Int) -> [UInt8] { [21, 14, 7, 0].map { UInt8(value >> $0 & 0x7F) } }
        var body: [UInt8] = []
        for (id, bytes) in frames { body += Array(id.utf8) + synchsafe(bytes.count) + [0, 0] + bytes }
        return Array("ID3".utf8) + [4, 0, 0] + synchsafe(body.count) + body
    }

    private static func timestamp(_ time: UInt64) -> [UInt8] {
        [
            UInt8(0x21 | time >> 29 & 0x0E), UInt8(time >> 22 & 0xFF), UInt8(1 | time >> 14 & 0xFE),
            UInt8(time >> 7 & 0xFF), UInt8(1 | time << 1 & 0xFE),
        ]
    }

    /// A table with its length and its checksum (CRC-32 of MPEG-2).
    private static func section(_ id: [UInt8], _ body: [UInt8]) -> [UInt8] {
        let head = id + TimedMetadataFile.big(UInt16(0xB000 | (body.count + 4))) + body
        var sum: UInt32 = .max
        for byte in head {
            sum ^= UInt32(byte) << 24
            for _ in 0..<8 { sum = sum & 0x8000_0000 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
        }
        return head + TimedMetadataFile.big(sum)
    }

    /// Packets of 188 bytes, the last filled up by an adaptation field.
    private static func packets(_ pid: UInt16, _ payload: [UInt8], _ counter: inout UInt8) -> [UInt8] {
        var result: [UInt8] = []
        var rest = payload[...]
        while !rest.isEmpty {
            let isFirst = rest.startIndex == payload.startIndex
            let room = 184 - min(rest.count, 184)
            result += [0x47] + TimedMetadataFile.big(pid | (isFirst ? 0x4000 : 0))
            result.append((room > 0 ? 0x30 : 0x10) | counter & 0x0F)
            if room > 0 { result.append(UInt8(room - 1)) }
            if room > 1 { result += [0] + [UInt8](repeating: 0xFF, count: room - 2) }
            result += rest.prefix(184)
            rest = rest.dropFirst(184)
            counter &+= 1
        }
        return result
    }
}
