import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Groups of timed metadata that are written, read by ffprobe and by a reader of boxes in Python, and read back.
@Suite struct TimedMetadataWritingTests {
    private static func time(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 600) }
    private static func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: time(start), end: time(end))
    }
    private static let still = MetadataIdentifier(
        keySpace: .quickTimeMetadata, key: "com.apple.quicktime.still-image-time")
    private static let note = MetadataIdentifier(keySpace: .quickTimeMetadata, key: "com.example.note")
    private static let title = MetadataIdentifier.iTunesMetadataSongName
    private static let face = MetadataIdentifier(keySpace: MetadataKeySpace(rawValue: "fiel"), key: "com.example.face")
    private static let place = MetadataIdentifier.quickTimeMetadataLocationISO6709
    private static let specifications = [
        MetadataSpecification(still, dataType: .int8), MetadataSpecification(note, dataType: .utf8, language: "de"),
        MetadataSpecification(note, dataType: .utf8, language: "en"), MetadataSpecification(title, dataType: .utf16),
        MetadataSpecification(face, dataType: .rectangle), MetadataSpecification(place, dataType: .location),
    ]

    private static func input(_ list: [MetadataSpecification] = specifications) throws -> AssetWriterInput {
        AssetWriterInput(mediaType: .data, sourceFormatHint: try FormatDescription(metadata: list))
    }

    /// A group of items whose types are those of their values.
    private static func group(_ items: [MetadataItem], _ start: Int64, _ end: Int64) -> TimedMetadataGroup {
        TimedMetadataGroup(items: items, timeRange: range(start, end))
    }

    private static let groups = [
        group([MetadataItem(still, .integer(-1)), MetadataItem(note, .text("größer"), language: "de")], 0, 150),
        group([MetadataItem(note, .text("larger"), language: "en"), MetadataItem(title, .text("Ö😀"))], 150, 300),
        // After a gap, one that has nothing to say, and one that is written with another value's form.
        group([MetadataItem(face, .numbers([0.5, 0.25, 1, -2]))], 400, 450), group([], 450, 500),
        group([MetadataItem(place, .location("+48.2+016.4/")), MetadataItem(still, .float(127))], 500, 600),
    ]

    private func write(_ fileType: MediaFileType, to file: Written) throws {
        let asset = try Media.asset("timecode-25.mov")
        let track = try Media.track(asset, .video)
        let (video, data) = (AssetWriterInput(copying: track), try Self.input())
        let adaptor = try InputMetadataAdaptor(input: data)
        data.addTrackAssociation(withTrackOf: video, type: "cdsc")
        try file.write(fileType, [video, data]) { _ in
            for buffer in try Media.all(TrackOutput(track: track), of: asset) { try video.appendNow(buffer) }
            video.markAsFinished()
            for group in Self.groups { try adaptor.appendNow(group) }
            data.markAsFinished()
        }
    }

    /// Prints the table of keys of the file's `mebx` track, and each sample with its duration: by the specification, in
    /// another language, without libavformat.
    private static let parser = #"""
        import struct, sys
        data = open(sys.argv[1], "rb").read()
        def boxes(start, end):
            while start < end:
                size, kind = struct.unpack(">I4s", data[start:start + 8])
                head = 8
                if size == 1:
                    size, head = struct.unpack(">Q", data[start + 8:start + 16])[0], 16
                assert size >= head and start + size <= end, (kind, size)
                yield kind, start + head, start + size
                start += size
        def child(place, *path):
            for kind in path:
                place = next((a, b) for k, a, b in boxes(*place) if k == kind)
            return place
        def table(place, kind, form, skip=8):
            a, b = child(place, kind)
            return list(struct.iter_unpack(form, data[a + skip:b]))
        movie = child((0, len(data)), b"moov")
        for kind, a, b in boxes(*movie):
            if kind != b"trak": continue
            stbl = child((a, b), b"mdia", b"minf", b"stbl")
            c, d = child(stbl, b"stsd")
            if data[c + 12:c + 16] != b"mebx": continue
            handler = child((a, b), b"mdia", b"hdlr")[0]
            print("handler", data[handler + 8:handler + 12].decode())
            for name, e, f in boxes(*child((c + 8 + 16, d), b"keys")):
                parts = {k: data[x:y] for k, x, y in boxes(e, f)}
                declared, typed = parts[b"keyd"], parts[b"dtyp"]
                number = struct.unpack(">I", typed[4:])[0] if typed[:4] == bytes(4) else typed[4:].decode()
                print("key", struct.unpack(">I", name)[0], declared[:4].decode(), declared[4:].decode("latin-1"), number,
                      parts.get(b"loca", b"-").rstrip(b"\0").decode())
            sizes = [s for s, in table(stbl, b"stsz", ">I", 12)] or [table(stbl, b"stsz", ">I", 4)[0][0]]
            times = [t for n, t in table(stbl, b"stts", ">II") for _ in range(n)]
            wide = any(k == b"co64" for k, _, _ in boxes(*stbl))
            chunks = [o for o, in (table(stbl, b"co64", ">Q") if wide else table(stbl, b"stco", ">I"))]
            runs = table(stbl, b"stsc", ">III")
            at = iter(zip(sizes, times))
            scale = struct.unpack(">I", data[child((a, b), b"mdia", b"mdhd")[0] + 12:][:4])[0]
            for number, offset in enumerate(chunks, 1):
                for _ in range([n for first, n, _ in runs if first <= number][-1]):
                    size, time = next(at)
                    print("sample", time * 600 // scale, data[offset:offset + size].hex())
                    offset += size
        """#

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test(arguments: [MediaFileType.mov, .mp4]) func boxesAreThoseOfTheSpecification(fileType: MediaFileType) throws {
        let file = try Written("timed.\(fileType)")
        try write(fileType, to: file)
        #expect(try file.probe("d:0", "stream=codec_tag_string") == ["mebx"])
        let times = try file.probe("d:0", "packet=pts_time").map { $0.prefix { $0 != "," } }
        #expect(times == ["0.000000", "0.250000", "0.500000", "0.666667", "0.750000", "0.833333"])
        let result = try Program.run("python3", ["-c", Self.parser, file.path])
        #expect(result.error.isEmpty)
        let box = TimedMetadataFile.box as (UInt32, [UInt8]) -> [UInt8]
        let rectangle: [UInt8] = [0x3F, 0, 0, 0, 0x3E, 0x80, 0, 0, 0x3F, 0x80, 0, 0, 0xC0, 0, 0, 0]
        let samples: [(Int, [UInt8])] = [
            (150, box(1, [0xFF]) + box(2, Array("größer".utf8))),
            (150, box(3, Array("larger".utf8)) + box(4, [0, 0xD6, 0xD8, 0x3D, 0xDE, 0])), (100, box(0, [])),
            (50, box(5, rectangle)), (50, box(0, [])),
            (100, box(6, Array("+48.2+016.4/".utf8)) + box(1, [0x7F])),
        ]
        #expect(
            result.output.split(separator: "\n").map(String.init) == [
                "handler meta", "key 1 mdta com.apple.quicktime.still-image-time 65 -",
                "key 2 mdta com.example.note 1 de", "key 3 mdta com.example.note 1 en", "key 4 itsk ©nam 2 -",
                "key 5 fiel com.example.face 72 -",
                "key 6 mdta com.apple.quicktime.location.ISO6709 com.apple.quicktime.metadata.location.ISO6709 -",
            ] + samples.map { "sample \($0.0) \(Self.hex($0.1))" })
    }

    @Test(arguments: [MediaFileType.mov, .mp4]) func groupsComeBack(fileType: MediaFileType) async throws {
        let file = try Written("timed.\(fileType)")
        try write(fileType, to: file)
        let (asset, track) = (file.asset, try Media.track(file.asset, .data))
        #expect(track.associatedTracks == ["cdsc": [1]] && track.detailedMediaType == .metadata)
        #expect(track.formatDescriptions.first?.metadataSpecifications == Self.specifications)
        let read = try asset.timedMetadataGroupsNow(of: track).remaining()
        let written = Self.groups
        #expect(
            read.map(\.timeRange) == written[..<2].map(\.timeRange) + [Self.range(300, 400)]
                + written[2...].map(\.timeRange))
        #expect(
            read.map { $0.items.map(\.identifier) } == written[..<2].map { $0.items.map(\.identifier) } + [[]]
                + written[2...].map { $0.items.map(\.identifier) })
        #expect(read[0].items.map(\.dataType) == [.int8, .utf8] && read[1].items.map(\.dataType) == [.utf8, .utf16])
        #expect(read[0].items.map(\.value) == [.integer(-1), .text("größer")])
        #expect(read[1].items.map(\.value) == [.text("larger"), .text("Ö😀")])
        #expect(read[3].items.map(\.value) == [.numbers([0.5, 0.25, 1, -2])])
        #expect(read[5].items.map(\.value) == [.location("+48.2+016.4/"), .integer(127)])
        // What was read is written again with the same bytes, by its groups' own keys.
        #expect(Set(read.flatMap(\.specifications)) == Set(Self.specifications))
        let copy = try Written("copy.mov")
        let session = ExportSession(asset: asset, preset: .passthrough)
        try await session.export(to: FilePath(copy.path), as: .mov)
        let copied = try copy.asset.timedMetadataGroupsNow(of: Media.track(copy.asset, .data)).remaining()
        #expect(copied == read && session.leftOut.isEmpty)
    }

    @Test func groupsThatCannotFollowAreRefused() async throws {
        let file = try Written("timed.mov")
        let data = try Self.input()
        let adaptor = try InputMetadataAdaptor(input: data)
        #expect(errorCode { try InputMetadataAdaptor(input: data) } == .invalidArgument)
        let one = [MetadataItem(Self.still, .integer(1))]
        let writer = try file.writer(.mov)
        try writer.add(data)
        #expect(errorCode { try adaptor.appendNow(Self.group(one, 0, 60)) } == .invalidArgument)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        try await adaptor.append(Self.group(one, 60, 120))
        let unknown = MetadataIdentifier(keySpace: .quickTimeMetadata, key: "com.example.other")
        let refused = [
            // Overlapping, backward, without an end, without a duration.
            Self.group(one, 100, 180), Self.group(one, 0, 30), Self.group(one, 60, 120),
            TimedMetadataGroup(items: one, timeRange: MediaTimeRange(start: Self.time(120), duration: .indefinite)),
            Self.group(one, 130, 130), TimedMetadataGroup(items: one, timeRange: .invalid),
            // Keys and languages that the format has not, and values that do not fit.
            Self.group([MetadataItem(unknown, .integer(1))], 120, 180),
            Self.group([MetadataItem(Self.note, .text("?"), language: "fr")], 120, 180),
            Self.group([MetadataItem(Self.still, .integer(128))], 120, 180),
            Self.group([MetadataItem(Self.still, .float(0.5))], 120, 180),
            Self.group([MetadataItem(Self.still, .text("1"))], 120, 180),
            Self.group([MetadataItem(Self.face, .numbers([1, 2, 3]))], 120, 180),
            Self.group([MetadataItem(Self.title, .data([1]))], 120, 180),
        ]
        for group in refused { #expect(errorCode { try adaptor.appendNow(group) } == .invalidArgument) }
        try adaptor.appendNow(Self.group(one, 120, 180))
        data.markAsFinished()
        try await writer.finishWriting()
        let read = try file.asset.timedMetadataGroupsNow(of: Media.track(file.asset, .data)).remaining()
        #expect(read.map(\.timeRange) == [Self.range(60, 120), Self.range(120, 180)])
    }

    @Test func formatsAndFilesThatCannotHoldThem() throws {
        #expect(errorCode { try FormatDescription(metadata: []) } == .invalidArgument)
        let twice = [Self.specifications[0], Self.specifications[0]]
        #expect(errorCode { try FormatDescription(metadata: twice) } == .invalidArgument)
        let id3 = MetadataSpecification(.id3MetadataTitleDescription, dataType: .utf8)
        #expect(errorCode { try FormatDescription(metadata: [id3]) } == .invalidArgument)
        for fileType in [MediaFileType.mkv, .m4a, .wav, .webm] {
            let writer = try Written("f.\(fileType)").writer(fileType)
            #expect(errorCode { try writer.add(try Self.input()) } == .unsupported)
        }
        let plain = [
            AssetWriterInput(mediaType: .data), AssetWriterInput(mediaType: .video),
            AssetWriterInput(
                mediaType: .data,
                sourceFormatHint: FormatDescription(
                    mediaType: .data, codec: "unknown", codecTag: "mebx", extradata: [1])),
            AssetWriterInput(audioSettings: AudioOutputSettings(codec: .aac)),
        ]
        for input in plain { #expect(errorCode { try InputMetadataAdaptor(input: input) } == .invalidArgument) }
    }

    /// A session that starts in a group, and one that ends in one, cut them.
    @Test func sessionsCutGroups() throws {
        let file = try Written("timed.mov")
        let data = try Self.input()
        let adaptor = try InputMetadataAdaptor(input: data)
        try file.write(.mov, [data], from: Self.time(100)) { writer in
            try writer.endSession(atSourceTime: Self.time(200))
            for place in 0..<5 {
                let item = MetadataItem(Self.still, .integer(Int64(place)))
                try adaptor.appendNow(Self.group([item], Int64(place) * 60, Int64(place + 1) * 60))
            }
            data.markAsFinished()
        }
        let read = try file.asset.timedMetadataGroupsNow(of: Media.track(file.asset, .data)).remaining()
        #expect(read.map { $0.items.map(\.value) } == [[.integer(1)], [.integer(2)], [.integer(3)]])
        #expect(read.map(\.timeRange) == [Self.range(0, 20), Self.range(20, 80), Self.range(80, 100)])
    }
}
