import MediaBase

/// A width and a height in unsigned 16.16 fixed point.
package struct FixedPointSize: Hashable, Sendable {
    /// The width in units of 1/65536 pixel.
    package var width: UInt32

    /// The height in units of 1/65536 pixel.
    package var height: UInt32

    /// Creates a size from its raw numbers.
    package init(width: UInt32, height: UInt32) {
        self.width = width
        self.height = height
    }
}

/// A track's ID, flags, duration and display size in the movie.
///
/// ISO/IEC 14496-12, 8.3.2 (tkhd).
package struct TrackHeader: Hashable, Sendable {
    /// The track ID; not 0 in a valid file.
    package var trackID: UInt32

    /// All 24 flag bits: 1 enabled, 2 in the movie, 4 in the preview, 8 (ISO) the size is an aspect ratio.
    package var flags: UInt32

    /// The track's duration, in the movie's timescale; `nil` if marked as unknown.
    package var duration: UInt64?

    /// The stacking order: lower numbers are closer to the viewer.
    package var layer: Int16

    /// The volume in 8.8 fixed point; 256 is full volume.
    package var volume: Int16

    /// The matrix a, b, u, c, d, v, x, y, w: 16.16 fixed point, except u, v and w, which are 2.30.
    package var matrix: [Int32]

    /// The size before the matrix is applied.
    package var size: FixedPointSize

    /// True if the track is enabled.
    package var isEnabled: Bool { flags & 1 != 0 }
}

extension TrackHeader {
    /// Reads a `tkhd` payload.
    init(_ reader: inout BigEndianReader) throws(MediaError) {
        let (version, flags) = try reader.versionAndFlags()
        try reader.expect(version: version, atMost: 1)
        try reader.skip(version == 1 ? 16 : 8)
        trackID = try reader.uint32()
        self.flags = flags
        try reader.skip(4)
        duration = try reader.duration(version: version)
        try reader.skip(8)
        layer = try reader.int16()
        try reader.skip(2)
        volume = try reader.int16()
        try reader.skip(2)
        matrix = try reader.matrix()
        size = try reader.fixedPointSize()
    }
}

/// The three sizes that QuickTime stores for a track, before the track's matrix is applied.
///
/// QuickTime File Format, "Track Aperture Mode Dimensions" (tapt).
package struct TrackApertures: Hashable, Sendable {
    /// The display size: cropped to the clean aperture, with square pixels (`clef`).
    package var clean: FixedPointSize?

    /// The size of the whole picture with square pixels (`prof`).
    package var production: FixedPointSize?

    /// The size of the whole picture in stored pixels (`enof`).
    package var encoded: FixedPointSize?
}

extension TrackApertures {
    /// Reads the child boxes of a `tapt` box.
    init(_ boxes: [Box], reader: inout BoxReader) throws(MediaError) {
        for box in boxes {
            switch box.type {
            case "clef": clean = try reader.parse(box, Self.dimensions) ?? clean
            case "prof": production = try reader.parse(box, Self.dimensions) ?? production
            case "enof": encoded = try reader.parse(box, Self.dimensions) ?? encoded
            default: break
            }
        }
    }

    private static func dimensions(_ reader: inout BigEndianReader) throws(MediaError) -> FixedPointSize {
        try reader.skip(4)
        return try reader.fixedPointSize()
    }
}

extension BigEndianReader {
    /// Reads a transformation matrix of nine numbers.
    mutating func matrix() throws(MediaError) -> [Int32] {
        var matrix: [Int32] = []
        for _ in 0..<9 { matrix.append(try int32()) }
        return matrix
    }

    /// Reads a width and a height in 16.16 fixed point.
    mutating func fixedPointSize() throws(MediaError) -> FixedPointSize {
        FixedPointSize(width: try uint32(), height: try uint32())
    }
}

/// The creation time, timescale, duration and language of a track's media.
///
/// ISO/IEC 14496-12, 8.4.2 (mdhd).
package struct MediaHeader: Hashable, Sendable {
    /// The media's creation time, as formatted by ``CreationTime``; `nil` if 0 is written.
    package var creationTime: String?

    /// The media's time units per second; `nil` if 0 is written.
    package var timescale: UInt32?

    /// The media's duration without edits, in ``timescale``; `nil` if marked as unknown.
    package var duration: UInt64?

    /// The language of the media.
    package var language: MediaLanguage
}

extension MediaHeader {
    /// Reads an `mdhd` payload.
    init(_ reader: inout BigEndianReader) throws(MediaError) {
        let (version, _) = try reader.versionAndFlags()
        try reader.expect(version: version, atMost: 1)
        creationTime = CreationTime.text(version == 1 ? try reader.uint64() : UInt64(try reader.uint32()))
        try reader.skip(version == 1 ? 8 : 4)
        timescale = try reader.timescale()
        duration = try reader.duration(version: version)
        language = MediaLanguage(rawValue: try reader.uint16())
    }
}

/// Creation times in a movie's headers: whole seconds since 1904 (ISO/IEC 14496-12, 8.2.2).
package enum CreationTime {
    /// The number of seconds from 1904 to 1970.
    private static let epoch: UInt64 = 2_082_844_800

    /// Formats a time as ISO 8601, as libavformat does; `nil` for 0 and from the year 10000 on.
    ///
    /// Numbers that would be dates before 1970 count from 1970, because some writers store them so.
    package static func text(_ seconds: UInt64) -> String? {
        let time = seconds >= epoch ? seconds - epoch : seconds
        guard seconds > 0, time < 253_402_300_800 else { return nil }
        let day = Int(time % 86400)
        // Days since 1 March of year 0, so that a leap day is the last day of its year; 400 years have 146,097 days.
        let days = Int(time / 86400) + 719_468
        let inEra = days % 146_097
        let yearOfEra = (inEra - inEra / 1460 + inEra / 36524 - inEra / 146_096) / 365
        let inYear = inEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * inYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        let year = yearOfEra + days / 146_097 * 400 + (month <= 2 ? 1 : 0)
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let dayOfMonth = inYear - (153 * march + 2) / 5 + 1
        let date = [digits(year, 4), digits(month, 2), digits(dayOfMonth, 2)].joined(separator: "-")
        let clock = [day / 3600, day / 60 % 60, day % 60].map { digits($0, 2) }.joined(separator: ":")
        return "\(date)T\(clock).000000Z"
    }
}

/// The kind of media in a track, identified by the component that handles it.
///
/// ISO/IEC 14496-12, 8.4.3 (hdlr).
package struct MediaHandler: Hashable, Sendable {
    /// The kind of media: `vide`, `soun`, `tmcd`, `text`, `sbtl`, `meta` and others.
    package var type: FourCC

    /// The handler's name, often that of the encoder or the track; empty if not stated.
    package var name: String
}

extension MediaHandler {
    /// Reads an `hdlr` payload.
    init(_ reader: inout BigEndianReader) throws(MediaError) {
        try reader.skip(4)
        let componentType = try reader.uint32()
        type = try reader.fourCC()
        try reader.skip(min(12, reader.remaining))
        name = Self.name(reader.takeRest(), isQuickTime: componentType != 0)
    }

    /// Decodes a name, which has a length byte first in QuickTime and a terminating zero in ISO files.
    ///
    /// Some ISO files also have a length byte. So the first byte is taken as a length if it is not a printable
    /// character or matches the length exactly. Only QuickTime fills in the component type.
    private static func name(_ bytes: ArraySlice<UInt8>, isQuickTime: Bool) -> String {
        let rest = bytes.dropFirst()
        guard let count = bytes.first.map(Int.init), count <= rest.count else { return text(bytes) }
        let isCount = isQuickTime || count < 0x20 || count == rest.prefix { $0 != 0 }.count
        return text(isCount ? rest.prefix(count) : bytes)
    }
}

extension BigEndianReader {
    /// Reads a timescale; 0 becomes `nil`, with a note.
    mutating func timescale() throws(MediaError) -> UInt32? {
        let value = try uint32()
        if value == 0 { note("has the timescale 0") }
        return value == 0 ? nil : value
    }
}

/// Decodes UTF-8 up to the first zero, replacing invalid bytes.
func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
}

/// The language field of a media header: an ISO 639-2/T code packed into 15 bits, or an old Macintosh language number.
///
/// ISO/IEC 14496-12, 8.4.2 (mdhd); QuickTime File Format, "Language Code Values".
package struct MediaLanguage: RawRepresentable, Hashable, Sendable {
    /// The 16 bits of the field.
    package let rawValue: UInt16

    /// Creates a language from the bits of the field.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The Macintosh language number, or `nil` if the field contains a packed code or no language.
    package var macintoshCode: UInt16? { rawValue < 0x400 ? rawValue : nil }

    /// The three-letter code of ISO 639-2/T.
    ///
    /// `nil` for QuickTime's "unspecified" (0x7FFF), for bits that are not letters, and for Macintosh numbers without a
    /// code. `und` is returned as is.
    package var iso639: String? {
        if let code = macintoshCode { return Self.macintoshLanguages[code] }
        guard rawValue != 0x7FFF, rawValue < 0x8000 else { return nil }
        var text = ""
        for shift in [10, 5, 0] as [UInt16] {
            let letter = UInt8(truncatingIfNeeded: rawValue >> shift & 0x1F)
            guard (1...26).contains(letter) else { return nil }
            text.unicodeScalars.append(Unicode.Scalar(letter + 0x60))
        }
        return text
    }

    /// The ISO 639-2/T codes by Macintosh language number.
    private static let macintoshLanguages: [UInt16: String] = [
        0: "eng", 1: "fra", 2: "deu", 3: "ita", 4: "nld", 5: "swe", 6: "spa", 7: "dan", 8: "por", 9: "nor",
        10: "heb", 11: "jpn", 12: "ara", 13: "fin", 14: "ell", 15: "isl", 16: "mlt", 17: "tur", 18: "hrv", 19: "zho",
        20: "urd", 21: "hin", 22: "tha", 23: "kor", 24: "lit", 25: "pol", 26: "hun", 27: "est", 28: "lav", 29: "sme",
        30: "fao", 31: "fas", 32: "rus", 33: "zho", 34: "nld", 35: "gle", 36: "sqi", 37: "ron", 38: "ces", 39: "slk",
        40: "slv", 41: "yid", 42: "srp", 43: "mkd", 44: "bul", 45: "ukr", 46: "bel", 47: "uzb", 48: "kaz", 49: "aze",
        50: "aze", 51: "hye", 52: "kat", 53: "ron", 54: "kir", 55: "tgk", 56: "tuk", 57: "mon", 58: "mon", 59: "pus",
        60: "kur", 61: "kas", 62: "snd", 63: "bod", 64: "nep", 65: "san", 66: "mar", 67: "ben", 68: "asm", 69: "guj",
        70: "pan", 71: "ori", 72: "mal", 73: "kan", 74: "tam", 75: "tel", 76: "sin", 77: "mya", 78: "khm", 79: "lao",
        80: "vie", 81: "ind", 82: "tgl", 83: "msa", 84: "msa", 85: "amh", 86: "tir", 87: "orm", 88: "som", 89: "swa",
        90: "kin", 91: "run", 92: "nya", 93: "mlg", 94: "epo", 128: "cym", 129: "eus", 130: "cat", 131: "lat",
        132: "que", 133: "grn", 134: "aym", 135: "tat", 136: "uig", 137: "dzo", 138: "jav",
    ]
}
