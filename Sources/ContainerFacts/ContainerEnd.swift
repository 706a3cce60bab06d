import ISOMedia
package import LibAV
import MatroskaMedia
package import MediaBase

/// The position after the last byte of a file's media, as declared by its container.
enum DeclaredEnd {
    /// The container states the position.
    case position(UInt64)
    /// The position is not stated or cannot be read, but is after the end of the file.
    case afterEndOfFile

    /// Returns true if a file of this many bytes ends before the declared position.
    func isMissing(inFileOf length: UInt64) -> Bool {
        switch self {
        case .position(let end): end > length
        case .afterEndOfFile: true
        }
    }
}

/// The end of the media in an AVI, MXF, ASF, FLV or GIF file as declared by the container.
///
/// libavformat 5.1 reads such a file up to its actual end, and does not report that something is missing.
struct ContainerEnd {
    /// The maximum number of bytes of a header to search.
    private static let head = 1 << 16
    /// The maximum number of RIFFs to follow; each one in a large AVI holds up to a gigabyte.
    private static let maximumParts = 10_000

    private let source: any ByteSource
    private let length: UInt64

    /// Prepares to read a file's header.
    ///
    /// - Parameter length: The file's length in bytes.
    init(_ source: any ByteSource, length: UInt64) {
        self.source = source
        self.length = length
    }

    /// Returns the declared end; `nil` for other formats, or if the header does not declare it.
    ///
    /// - Throws: Any error from the source.
    func declared(by format: ContainerFormat) throws(MediaError) -> DeclaredEnd? {
        switch format {
        case .avi: try endOfAVI()
        case .mxf: try endOfMXF()
        case .asf: try endOfASF()
        case .flv: try endOfFLV()
        case .gif: try endOfGIF()
        default: nil
        }
    }

    /// Finds the end of a GIF: its trailer, after blocks that each state their length (GIF89a, 23 to 27).
    private func endOfGIF() throws(MediaError) -> DeclaredEnd? {
        guard length > 13 else { return nil }
        // The data of a picture or an extension ends with an empty block.
        if try source.read(at: length - 2, count: 2) == [0, 0x3B] { return .position(length) }
        func tableSize(_ flags: UInt8) -> UInt64 { flags & 0x80 == 0 ? 0 : 3 << (UInt64(flags & 7) + 1) }
        var (start, window): (UInt64, [UInt8]) = (0, [])
        func byte(_ place: UInt64) throws(MediaError) -> UInt8? {
            if place < start || place - start >= UInt64(window.count) {
                (start, window) = (place, try source.read(at: place, count: Self.head))
            }
            return window.first == nil || place - start >= UInt64(window.count) ? nil : window[Int(place - start)]
        }
        guard let flags = try byte(10) else { return nil }
        var place = 13 + tableSize(flags)
        while let kind = try byte(place) {
            switch kind {
            case 0x3B: return .position(place + 1)
            case 0x21: place += 2
            case 0x2C:
                guard let flags = try byte(place + 9) else { return .afterEndOfFile }
                place += 11 + tableSize(flags)
            // Not a block: other code has to handle this.
            default: return nil
            }
            while let size = try byte(place) {
                place += 1 + UInt64(size)
                if size == 0 { break }
            }
        }
        return .afterEndOfFile
    }

    /// Finds the end of an AVI: each RIFF states its length (Microsoft, AVI RIFF File Reference; OpenDML AVI, 3.0).
    private func endOfAVI() throws(MediaError) -> DeclaredEnd? {
        var place: UInt64 = 0
        for _ in 0..<Self.maximumParts {
            let header = try source.read(at: place, count: 12)
            guard header.count == 12, header.starts(with: "RIFF".utf8) else { break }
            let size = header[4..<8].littleEndian
            // Files written to a pipe have no sizes.
            guard size > 4, size < UInt64(UInt32.max) - 1 else { return nil }
            let end = place + 8 + size
            // The last byte of padding may be missing.
            guard end < length else { return .position(end) }
            place = end + size % 2
        }
        return place > 0 ? .position(place) : nil
    }

    /// Finds the end of an MXF from its partition packs (SMPTE ST 377-1, 7.1).
    ///
    /// The header's pack states the position of the footer, and the footer's pack states the size of its contents.
    private func endOfMXF() throws(MediaError) -> DeclaredEnd? {
        let head = try source.read(at: 0, count: Self.head)
        // A run-in of other bytes may come first; positions are relative to the partition pack.
        let key: [UInt8] = [0x06, 0x0E, 0x2B, 0x34, 0x02, 0x05, 0x01, 0x01, 0x0D, 0x01, 0x02, 0x01, 0x01]
        guard let runIn = head.indices.first(where: { head[$0...].starts(with: key) }),
            let pack = try partition(at: UInt64(runIn)), pack.footer > 0
        else { return nil }
        let (footer, overflow) = pack.footer.addingReportingOverflow(UInt64(runIn))
        guard !overflow, footer < length else { return .afterEndOfFile }
        // For a footer that cannot be read, only the position is known.
        guard let last = try partition(at: footer) else { return nil }
        let (size, isTooMuch) = last.headerBytes.addingReportingOverflow(last.indexBytes)
        guard !isTooMuch, case let (end, isTooFar) = last.end.addingReportingOverflow(size), !isTooFar else {
            return .afterEndOfFile
        }
        return .position(end)
    }

    /// The fields of a partition pack that determine lengths.
    private struct Partition {
        let footer: UInt64
        let headerBytes: UInt64
        let indexBytes: UInt64
        /// The end of the pack itself, including its fill bytes.
        let end: UInt64
    }

    private func partition(at place: UInt64) throws(MediaError) -> Partition? {
        let bytes = try source.read(at: place, count: 16 + 9 + 88)
        guard bytes.count >= 17, bytes.starts(with: [0x06, 0x0E, 0x2B, 0x34, 0x02, 0x05]) else { return nil }
        let longForm = bytes[16] & 0x80 != 0 ? Int(bytes[16] & 0x7F) : 0
        let start = 17 + longForm
        guard longForm <= 8, bytes.count >= start + 56 else { return nil }
        let length = longForm == 0 ? UInt64(bytes[16]) : bytes[17..<start].bigEndian
        let end = place.addingReportingOverflow(UInt64(start)).partialValue.addingReportingOverflow(length)
        guard !end.overflow else { return nil }
        func number(_ offset: Int) -> UInt64 { bytes[start + offset..<start + offset + 8].bigEndian }
        return Partition(footer: number(24), headerBytes: number(32), indexBytes: number(40), end: end.partialValue)
    }

    /// Finds the end of an ASF: its header object is followed by the data object, which states its length.
    ///
    /// ASF Specification, 3.2 and 5.1.
    private func endOfASF() throws(MediaError) -> DeclaredEnd? {
        let header = try source.read(at: 0, count: 24)
        guard header.count == 24, case let place = header[16..<24].littleEndian, place >= 30 else { return nil }
        let data = try source.read(at: place, count: 24)
        let identifier: [UInt8] = [0x36, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11]
        guard data.count == 24 else { return .position(place) }
        // Broadcasts leave the size at 0.
        guard data.starts(with: identifier), case let size = data[16..<24].littleEndian, size > 50 else {
            return nil
        }
        let (end, overflow) = place.addingReportingOverflow(size)
        return overflow ? .afterEndOfFile : .position(end)
    }

    /// Finds the end of an FLV: its first tag may state the size of the file, or its duration in seconds.
    ///
    /// Adobe Flash Video File Format, E.5.
    private func endOfFLV() throws(MediaError) -> DeclaredEnd? {
        let head = try source.read(at: 0, count: Self.head)
        guard head.count > 24, head[13] == 18 else { return nil }
        let script = head[24..<min(head.count, 24 + Int(head[14..<17].bigEndian))]
        if let size = Self.property("filesize", in: script), size > 0, size < 0x1p63 { return .position(UInt64(size)) }
        // Without a size, use the time of the last tag, which is followed by its own size.
        guard let duration = Self.property("duration", in: script), duration > 0, length > 15 else { return nil }
        let size = (try source.read(at: length - 4, count: 4)).bigEndian
        guard size > 11, size <= length - 4, case let tag = try source.read(at: length - 4 - size, count: 8),
            tag.count == 8, [8, 9, 18].contains(tag[0]), tag[1..<4].bigEndian == size - 11
        else { return nil }
        let milliseconds = tag[4..<7].bigEndian | UInt64(tag[7]) << 24
        // Encoders round the duration, and omit that of the last frame.
        return Double(milliseconds) / 1000 + max(1, duration / 100) < duration ? .afterEndOfFile : nil
    }

    /// Returns a numeric property of a script tag (AMF 0: the name's length, the name, 0 for a number, 64 bits).
    private static func property(_ name: String, in script: ArraySlice<UInt8>) -> Double? {
        let pattern = [0, UInt8(truncatingIfNeeded: name.utf8.count)] + Array(name.utf8) + [0]
        guard
            let place = script.indices.first(where: { script[$0...].starts(with: pattern) }),
            case let value = script[place...].dropFirst(pattern.count).prefix(8), value.count == 8
        else { return nil }
        return Double(bitPattern: value.bigEndian)
    }
}

extension InputFile {
    /// True if the file is shorter than its header, index or last page declares; valid once everything has been read.
    ///
    /// For a pipe, only what reading it shows is known.
    package var isTruncated: Bool { endsEarly || isCutOff }

    /// True if the file ends before a position that its header or index names; requires reading no packets.
    package var isCutOff: Bool {
        if isCutShort { return true }
        if format == .ogg { return (try? OggPages.breakOff(FileByteSource(self))) ?? false }
        guard let length else { return false }
        return declaredEnd?.isMissing(inFileOf: UInt64(clamping: length)) ?? false
    }

    /// True if the last packets that were read end earlier than the header declares.
    ///
    /// This is checked only if the header counts samples, or if an MP3's tag counts its frames. Other durations may be
    /// rounded, or may belong to another track.
    private var endsEarly: Bool {
        if format == .isoMedia {
            guard isFragmented else { return false }
            return (try? MovieHeader.fragmentsEndEarly(in: FileByteSource(self), limits: BoxLimits(limits)))
                ?? false
        }
        let isMP3 = format == .mp3
        guard isMP3 || format.countsSamples, statesDurations, let stream = stream(0),
            let duration = stream.duration, let end = readEnd(ofStream: 0)
        else { return false }
        guard isMP3 else { return end - (stream.startTime ?? .zero) < duration }
        // A tag that counts bytes is exact; one that counts frames may include itself and omit the last frame.
        guard let tag = xingTag, tag.byteCount == nil, tag.frameCount != nil else { return false }
        return end + MediaTime(value: 2 * 1152, timescale: 32000) < duration
    }

    /// True if the first boxes of an MP4 include a fragment.
    private var isFragmented: Bool {
        let source = FileByteSource(self)
        return (try? MovieHeader.beginsWithFragments(source)) ?? false
    }

    /// The end of the file's media as declared by its header; `nil` if not declared.
    private var declaredEnd: DeclaredEnd? {
        let source = FileByteSource(self)
        let length = UInt64(clamping: length ?? 0)
        let position: UInt64?
        switch format {
        case .mp3: position = xingTag?.declaredEnd(inFileOf: length)
        case .isoMedia: position = try? MovieHeader.declaredEnd(of: source, limits: BoxLimits(limits))
        case .matroska: position = try? MatroskaHeader.declaredEnd(of: source)
        default:
            guard let chunks = SoundFileChunks(format) else {
                return try? ContainerEnd(source, length: length).declared(by: format)
            }
            position = try? chunks.declaredEnd(of: source)
        }
        return position.map { .position($0) }
    }

    /// The tag in the first frame of an MP3; `nil` if there is none.
    private var xingTag: XingTag? {
        XingTag { position, count in (try? bytes(at: position, count: count)) ?? [] }
    }

    /// The longest shortfall to ignore: it is shorter than a frame of any codec, and allows for rounding.
    private static let minimumShortfall = MediaTime(value: 1, timescale: 100)

    /// Returns the declared and the actual duration of the stream that falls short most; `nil` if this is unknown.
    ///
    /// Call this at the end of a file that breaks off.
    package func shortfall(of streams: [Int]) -> (stated: MediaTime, read: MediaTime)? {
        streams.compactMap { index -> (stated: MediaTime, read: MediaTime)? in
            guard let stream = stream(index), [.video, .audio].contains(stream.format.mediaType),
                let stated = stream.duration ?? (statesDurations ? duration : nil), stated.isNumeric,
                let end = readEnd(ofStream: index)
            else { return nil }
            let read = max(.zero, end - (stream.startTime ?? .zero))
            return read.isNumeric && stated - read > Self.minimumShortfall ? (stated, read) : nil
        }.max { $0.stated - $0.read < $1.stated - $1.read }
    }
}

/// The last pages of an Ogg file; the last page of a stream is marked as such.
///
/// RFC 3533, 6.
enum OggPages {
    /// The number of bytes in a page before its segment table, and in the longest page.
    private static let headLength = 27
    private static let longest = headLength + 255 + 255 * 255
    private static let endOfStream: UInt8 = 4

    /// Returns true if the last page is cut off, or states that its stream continues.
    ///
    /// The last page of a complete file ends a stream, even if streams are multiplexed or chained. Other data may
    /// follow, such as a tag. If that is longer than a page, no break is reported.
    ///
    /// - Throws: Any error from the source.
    static func breakOff(_ source: any ByteSource) throws(MediaError) -> Bool {
        guard let size = source.size else { return false }
        let count = min(size, UInt64(2 * longest))
        let bytes = try source.read(at: size - count, count: Int(count))
        var last: UInt8?
        var place = 0
        while place + 4 <= bytes.count {
            guard bytes[place] == 0x4F, bytes[place..<place + 4].elementsEqual("OggS".utf8) else {
                place += 1
                continue
            }
            let table = place + headLength
            guard table <= bytes.count, table + Int(bytes[table - 1]) <= bytes.count else { return true }
            // A page has version 0, the only one; other data merely looks like a page.
            guard bytes[place + 4] == 0 else {
                place += 4
                continue
            }
            let content = table + Int(bytes[table - 1])
            let end = bytes[table..<content].reduce(content) { $0 + Int($1) }
            guard end <= bytes.count else { return true }
            last = bytes[place + 5]
            place = end
        }
        return last.map { $0 & endOfStream == 0 } ?? false
    }
}
