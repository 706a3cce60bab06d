import CFFmpeg
import Glibc
import MediaBase

extension InputFile {
    /// Demuxers whose purpose is to open other files, or files by pattern; disabled unless nested files are allowed.
    private static let nestingFormats: Set<String> = [
        "hls", "hls,applehttp", "applehttp", "dash", "concat", "image2", "imf", "vobsub",
    ]

    /// Demuxers whose purpose is to listen to the network or to run a program; always disabled.
    private static let foreignFormats: Set<String> = ["sdp", "rtsp", "rtp", "sap", "avisynth", "vapoursynth"]

    /// libavformat's own `io_open`, taken from a new context.
    private static let standardOpening = {
        let context = avformat_alloc_context()
        defer { avformat_free_context(context) }
        return context?.pointee.io_open
    }()

    /// Opens a regular file named by the input, or data inside the input itself (`data:`).
    static let openLocalFile:
        @convention(c) (
            UnsafeMutablePointer<AVFormatContext>?, UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
            UnsafePointer<CChar>?, Int32, UnsafeMutablePointer<OpaquePointer?>?
        ) -> Int32 = { context, opened, url, flags, options in
            guard let url else { return shim_error_invalid_argument }
            let isLocal: Bool
            switch avio_find_protocol_name(url).map({ String(cString: $0) }) {
            case "file":
                let name = strncmp(url, "file:", 5) == 0 ? url + 5 : url
                var status = stat()
                // A missing file is reported by the function that opens it.
                isLocal = stat(name, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
            case "crypto", "data": isLocal = true
            default: isLocal = false
            }
            guard isLocal else {
                if let io = context?.pointee.opaque {
                    Unmanaged<InputIO>.fromOpaque(io).takeUnretainedValue().hasRefusedAddress = true
                }
                return shim_error_not_permitted
            }
            return standardOpening?(context, opened, url, flags, options) ?? shim_error_not_permitted
        }

    static func format(of rawSound: RawSound) throws(MediaError) -> UnsafePointer<AVInputFormat> {
        guard let format = av_find_input_format(rawSound.encoding.rawValue) else {
            throw MediaError(.unsupported, "libavformat does not read raw sound as \(rawSound.encoding.rawValue)")
        }
        return format
    }

    /// Returns the format of the content and the number of unrelated bytes before it.
    static func recognise(
        _ io: InputIO, allowsNested: Bool
    ) throws(MediaError) -> (format: UnsafePointer<AVInputFormat>, junk: Int64) {
        var found: UnsafePointer<AVInputFormat>?
        var status = av_probe_input_buffer2(io.context, &found, "", nil, 0, 0)
        if let stop = io.stop { throw stop }
        if status <= AVPROBE_SCORE_MAX / 2, let list = av_find_input_format("hls"), try isPlaylist(io) {
            (found, status) = (list, AVPROBE_SCORE_MAX)
        }
        if isUnsure(found.map { String(cString: $0.pointee.name) }, score: status),
            let (format, junk) = try resynchronise(io, isKnown: status >= 0)
        {
            return (format, junk)
        }
        guard status >= 0, let format = found else {
            let status = AVStatus(rawValue: status)
            if io.isEmptyStream { throw MediaError(.unknownFormat, "is empty") }
            guard status == .invalidData || status == .endOfFile else {
                throw MediaError(status, call: "av_probe_input_buffer2", doing: "recognise the format")
            }
            let known = EditingFile.description(of: try io.bytes(at: 0, count: EditingFile.prefixBytes))
            throw MediaError(
                .unknownFormat, known ?? "is not a media file that libavformat recognises",
                cause: "av_probe_input_buffer2: \(status)")
        }
        let name = String(cString: format.pointee.name)
        guard !foreignFormats.contains(name) else {
            throw MediaError(.nestedFileRefused, "describes media from elsewhere (\(name)), which is never opened")
        }
        guard allowsNested || (!nestingFormats.contains(name) && format.pointee.flags & AVFMT_NOFILE == 0) else {
            throw MediaError(
                .nestedFileRefused,
                "is a list of other files (\(name)), which are opened only where nested files are allowed")
        }
        return (format, 0)
    }

    /// Returns true if the input is an HLS playlist, which libavformat recognises only by its file name from 7.1 on.
    ///
    /// RFC 8216, 4.3.1.1: checks the first line and looks for one of the tags that other playlists do not have.
    private static func isPlaylist(_ io: InputIO) throws(MediaError) -> Bool {
        guard try io.bytes(at: 0, count: 7).elementsEqual("#EXTM3U".utf8) else { return false }
        let text = String(decoding: try io.bytes(at: 0, count: 1 << 16), as: UTF8.self)
        return ["#EXT-X-STREAM-INF:", "#EXT-X-TARGETDURATION:", "#EXT-X-MEDIA-SEQUENCE:"].contains { text.contains($0) }
    }

    /// Returns true if the format is only a guess, or if other data may precede its first frame.
    ///
    /// A file that starts with frames scores more than half of the maximum. Many frames elsewhere in the file score
    /// half, and possible AMR frames without a header score just over a quarter. Intact MPEG program streams may also
    /// score that low.
    private static func isUnsure(_ format: String?, score: Int32) -> Bool {
        switch format {
        case "mpeg": false
        case "mp3", "aac", "ac3", "eac3": score <= AVPROBE_SCORE_MAX / 2
        default: score <= AVPROBE_SCORE_MAX / 4 + 1
        }
    }

    /// Finds frames that start after other data; `nil` if there are no frames or if nothing precedes them.
    ///
    /// - Parameter isKnown: Whether libavformat has named a format without examining all of ``SyncSearch/window``. A
    ///   pipe is then read to its end first.
    private static func resynchronise(
        _ io: InputIO, isKnown: Bool
    ) throws(MediaError) -> (format: UnsafePointer<AVInputFormat>, junk: Int64)? {
        if isKnown { try io.settle(needsWhole: true, keepsHead: false) }
        let tags = lengthOfID3Tags { (try? io.bytes(at: $0, count: 10)) ?? [] }
        let bytes = try io.bytes(at: tags, count: SyncSearch.window)
        guard let match = SyncSearch(bytes, isWhole: bytes.count < SyncSearch.window).first(), match.offset > 0,
            let format = av_find_input_format(match.format)
        else { return nil }
        return (format, Int64(clamping: tags) + Int64(match.offset))
    }
}

/// Returns the total length in bytes of the ID3v2 tags at the start of a file (ID3v2.4.0, 3.1).
///
/// - Parameter read: Returns ten bytes at an offset, or fewer if the file ends.
package func lengthOfID3Tags(read: (_ offset: UInt64) -> [UInt8]) -> UInt64 {
    var offset: UInt64 = 0
    // Several tags in a row are rare but allowed.
    for _ in 0..<8 {
        let head = read(offset)
        guard head.count >= 10, head.starts(with: [0x49, 0x44, 0x33]) else { break }
        let size = head[6...9].reduce(UInt64(0)) { $0 << 7 | UInt64($1 & 0x7F) }
        offset += 10 + size + (head[5] & 0x10 != 0 ? 10 : 0)
    }
    return offset
}

/// A search for the start of a stream of frames that follows other data.
///
/// Formats without a header of their own are recognised by consecutive frames without gaps. libavformat looks for these
/// frames from a file's first byte on. It mistakes any preceding data for another format or does not recognise the file
/// at all.
struct SyncSearch {
    /// The result of a search.
    struct Match: Equatable {
        /// libavformat's name of the format.
        let format: String
        /// The byte offset of the first frame or page from the start of the search.
        let offset: Int
    }

    /// The number of bytes to examine, the same as libavformat examines to recognise a format.
    static let window = 1 << 20
    /// The number of consecutive frames that rule out coincidence.
    ///
    /// Each frame must have the version, layer and sample rate of its predecessor.
    private static let enough = 6
    /// The number of consecutive frames that suffice if they reach the end of the data.
    private static let enoughAtEnd = 3

    private let bytes: [UInt8]
    private let isWhole: Bool

    /// Creates a search of the given bytes.
    ///
    /// - Parameter isWhole: Whether no data follows the bytes.
    init(_ bytes: [UInt8], isWhole: Bool) {
        self.bytes = bytes
        self.isWhole = isWhole
    }

    /// Finds the first position at which consecutive frames of one format start.
    func first() -> Match? {
        var place = 0
        while place + 8 <= bytes.count {
            defer { place += 1 }
            let match: String? =
                switch bytes[place] {
                case 0xFF:
                    follows(place, mpegAudio) ? "mp3" : follows(place, adts) ? "aac" : nil
                case 0x0B where bytes[place + 1] == 0x77:
                    follows(place, dolby) ? (bytes[place + 5] >> 3 > 10 ? "eac3" : "ac3") : nil
                case UInt8(ascii: "f"): beginsFLAC(place) ? "flac" : nil
                case UInt8(ascii: "O"): follows(place, oggPage, enough: 2) ? "ogg" : nil
                default: nil
                }
            if let match { return Match(format: match, offset: place) }
        }
        return nil
    }

    /// A function that returns a frame's length and the properties it must share with the next one; `nil` if no frame
    /// starts.
    private typealias Reader = (_ place: Int) -> (length: Int, kind: Int)?

    /// Returns true if enough consecutive frames follow a position.
    private func follows(_ start: Int, _ read: Reader, enough: Int = Self.enough) -> Bool {
        guard let first = read(start) else { return false }
        var place = start + first.length
        var count = 1
        while count < enough {
            if place >= bytes.count { return isWhole && count >= Self.enoughAtEnd }
            // The last frame may be followed by a tag or by part of a frame.
            guard let next = read(place), next.kind == first.kind else {
                return isWhole && place + 8 > bytes.count && count >= Self.enoughAtEnd
            }
            place += next.length
            count += 1
        }
        return true
    }

    /// Reads the header of an MPEG audio frame of layers I to III (ISO/IEC 11172-3, 2.4.1.3, and 13818-3).
    ///
    /// Free format is not supported, because its frames do not state their length.
    private func mpegAudio(_ place: Int) -> (length: Int, kind: Int)? {
        guard place + 4 <= bytes.count, bytes[place] == 0xFF, bytes[place + 1] & 0xE0 == 0xE0 else { return nil }
        let (second, third) = (Int(bytes[place + 1]), Int(bytes[place + 2]))
        let (version, layer, index, rate) = (second >> 3 & 3, 4 - (second >> 1 & 3), third >> 4, third >> 2 & 3)
        guard version != 1, layer < 4, (1...14).contains(index), rate < 3, bytes[place + 3] & 3 != 2 else { return nil }
        let isFirst = version == 3
        let bitRate = Self.bitRates[isFirst ? layer - 1 : layer == 1 ? 3 : 4][index - 1] * 1000
        let sampleRate = [44100, 48000, 32000][rate] >> (isFirst ? 0 : version == 2 ? 1 : 2)
        let padding = third >> 1 & 1
        let length =
            switch layer {
            case 1: (12 * bitRate / sampleRate + padding) * 4
            case 3 where !isFirst: 72 * bitRate / sampleRate + padding
            default: 144 * bitRate / sampleRate + padding
            }
        return (length, second & 0x1E << 2 | rate)
    }

    /// The bit rates in kbit/s by index, from 1 on: MPEG-1 layers I, II and III; MPEG-2 layer I; MPEG-2 layers II and
    /// III.
    private static let bitRates = [
        [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
        [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
        [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
        [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]

    /// Reads the header of an AAC frame in ADTS (ISO/IEC 13818-7, 6.2).
    private func adts(_ place: Int) -> (length: Int, kind: Int)? {
        guard place + 7 <= bytes.count, bytes[place] == 0xFF, bytes[place + 1] & 0xF6 == 0xF0 else { return nil }
        let third = Int(bytes[place + 2])
        let length = Int(bytes[place + 3] & 3) << 11 | Int(bytes[place + 4]) << 3 | Int(bytes[place + 5]) >> 5
        guard third >> 2 & 15 < 13, length > 7 else { return nil }
        return (length, Int(bytes[place + 1]) << 8 | third & 0xFD)
    }

    /// Reads the header of an AC-3 or Enhanced AC-3 frame (ETSI TS 102 366, 4.3.1 and E.1.2).
    private func dolby(_ place: Int) -> (length: Int, kind: Int)? {
        guard place + 6 <= bytes.count, bytes[place] == 0x0B, bytes[place + 1] == 0x77 else { return nil }
        let (fourth, identification) = (Int(bytes[place + 4]), Int(bytes[place + 5]) >> 3)
        let rate = fourth >> 6
        if identification > 10 {
            guard identification <= 16 else { return nil }
            let words = (Int(bytes[place + 2]) & 7) << 8 | Int(bytes[place + 3])
            return (2 * (words + 1), identification << 8 | rate)
        }
        let rates = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640]
        guard rate < 3, fourth >> 1 & 31 < rates.count else { return nil }
        let bitRate = rates[fourth >> 1 & 31]
        let words = rate == 0 ? 2 * bitRate : rate == 2 ? 3 * bitRate : 320 * bitRate / 147 + fourth & 1
        return (2 * words, identification << 8 | rate)
    }

    /// Returns true if FLAC's marker and first metadata block, whose length is fixed, start here (RFC 9639, 8.1 and
    /// 8.2).
    private func beginsFLAC(_ place: Int) -> Bool {
        bytes[place..<place + 4].elementsEqual("fLaC".utf8) && bytes[place + 4] & 0x7F == 0
            && bytes[place + 5..<place + 8].elementsEqual([0, 0, 34])
    }

    /// Reads the header of an Ogg page (RFC 3533, 6).
    private func oggPage(_ place: Int) -> (length: Int, kind: Int)? {
        guard place + 27 <= bytes.count, bytes[place..<place + 5].elementsEqual([0x4F, 0x67, 0x67, 0x53, 0]),
            case let segments = Int(bytes[place + 26]), place + 27 + segments <= bytes.count
        else { return nil }
        let content = bytes[place + 27..<place + 27 + segments].reduce(0) { $0 + Int($1) }
        return (27 + segments + content, 0)
    }
}

/// Recognition of editing programs' files, which are not media, with advice on how to get a readable timeline.
enum EditingFile {
    /// The number of bytes at the start of a file that are needed to recognise it.
    static let prefixBytes = 4096

    /// Returns a predicate that describes the file and suggests what to do; `nil` if it is not such a file.
    static func description(of prefix: [UInt8]) -> String? {
        let conversion =
            "otioconvert (pip install opentimelineio-plugins) makes an .otio of it, which export, thumbs and waveform read"
        if prefix.starts(with: Array("PK\u{3}\u{4}".utf8)) {
            guard contains(prefix, "content.otio") else { return nil }
            return
                "is an OpenTimelineIO bundle (.otioz), not media; unpack it with unzip, and name the content.otio in it"
        }
        if prefix.starts(with: compoundDocument) {
            let isAAF = prefix.dropFirst(compoundDocument.count).starts(with: classOfAAF)
            return "is \(isAAF ? "an AAF" : "a compound document, perhaps an AAF"), not media; \(conversion)"
        }
        if contains(prefix, "<fcpxml") { return "is an FCPXML (Final Cut Pro), not media; \(conversion)" }
        if contains(prefix, "<xmeml") { return "is an XML of Final Cut Pro 7, not media; \(conversion)" }
        if contains(prefix, "\"OTIO_SCHEMA\"") {
            return "is an OpenTimelineIO timeline, not media; export, thumbs and waveform read it"
        }
        return isEditList(prefix) ? "is an edit decision list (EDL), not media; \(conversion)" : nil
    }

    /// The signature of files in Microsoft's Compound File Binary format ([MS-CFB], 2.2).
    private static let compoundDocument: [UInt8] = [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]
    /// The class identifier of AAF files (AAF Low-Level Container Specification).
    private static let classOfAAF: [UInt8] = [
        0x41, 0x41, 0x46, 0x42, 0x0D, 0x00, 0x4F, 0x4D, 0x06, 0x0E, 0x2B, 0x34, 0x01, 0x01, 0x01, 0xFF,
    ]

    private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        bytes.firstRange(of: Array(text.utf8)) != nil
    }

    /// Returns true if the text contains a CMX 3600 event or the lines above the first event.
    ///
    /// An event line starts with a number and ends with four timecodes.
    private static func isEditList(_ prefix: [UInt8]) -> Bool {
        let lines = prefix.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        func begins(_ text: String) -> Bool { lines.contains { $0.starts(with: Array(text.utf8)) } }
        if begins("TITLE:"), begins("FCM:") { return true }
        return lines.prefix(64).contains { line in
            let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard words.count >= 8, let number = words.first, number.allSatisfy(isDigit) else { return false }
            return words.suffix(4).allSatisfy(isTimecode)
        }
    }

    private static func isTimecode(_ word: ArraySlice<UInt8>) -> Bool {
        word.count == 11
            && word.enumerated().allSatisfy { $0 % 3 == 2 ? ":;.,".utf8.contains($1) : isDigit($1) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
