import MediaBase

/// A track's own clock and language.
///
/// ISO/IEC 14496-12, 8.4.2 (mdhd).
package struct MediaHeader: Hashable, Sendable {
    /// When the media came into being, as ``CreationTime`` writes it; `nil` where 0 is written.
    package var creationTime: String?

    /// Units a second of the media's times; `nil` where 0 is written.
    package var timescale: UInt32?

    /// How long the media is, without edits, in its timescale; `nil` where "not known" is written.
    package var duration: UInt64?

    /// The language.
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

/// When something came into being, by the headers of a movie: whole seconds since 1904 (ISO/IEC 14496-12, 8.2.2).
package enum CreationTime {
    /// From 1904 to 1970, in seconds.
    private static let epoch: UInt64 = 2_082_844_800

    /// The moment in ISO 8601 as libavformat writes it; `nil` for 0 and from the year 10000 on.
    ///
    /// Numbers before 1970 count from there, as some writers have it.
    package static func text(_ seconds: UInt64) -> String? {
        let time = seconds >= epoch ? seconds - epoch : seconds
        guard seconds > 0, time < 253_402_300_800 else { return nil }
        let day = Int(time % 86400)
        // Days from 1 March of the year 0, so that a leap day is its year's last one; 400 years have 146,097.
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

/// What kind of media a track holds, by the component that handles it.
///
/// ISO/IEC 14496-12, 8.4.3 (hdlr).
package struct MediaHandler: Hashable, Sendable {
    /// The kind: `vide`, `soun`, `tmcd`, `text`, `sbtl`, `meta` and others.
    package var type: FourCC

    /// The handler's name, often the encoder's or the track's; empty where none is written.
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

    /// Decodes a name: QuickTime counts its bytes in the first one, ISO files end it with a zero.
    ///
    /// Some ISO files count as well, so a first byte that is no letter, or that gives the length exactly, is a count.
    /// Only QuickTime fills in the component type.
    private static func name(_ bytes: ArraySlice<UInt8>, isQuickTime: Bool) -> String {
        let rest = bytes.dropFirst()
        guard let count = bytes.first.map(Int.init), count <= rest.count else { return text(bytes) }
        let isCount = isQuickTime || count < 0x20 || count == rest.prefix { $0 != 0 }.count
        return text(isCount ? rest.prefix(count) : bytes)
    }
}

extension BigEndianReader {
    /// Takes a timescale; 0 becomes `nil`, with a note.
    mutating func timescale() throws(MediaError) -> UInt32? {
        let value = try uint32()
        if value == 0 { note("has the timescale 0") }
        return value == 0 ? nil : value
    }
}

/// Decodes UTF-8 up to the first zero; what is not UTF-8 is repaired.
func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
}
