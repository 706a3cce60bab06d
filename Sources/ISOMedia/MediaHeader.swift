import MediaBase

/// A track's own clock and language.
///
/// ISO/IEC 14496-12, 8.4.2 (mdhd).
package struct MediaHeader: Hashable, Sendable {
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
        try reader.skip(version == 1 ? 16 : 8)
        timescale = try reader.timescale()
        duration = try reader.duration(version: version)
        language = MediaLanguage(rawValue: try reader.uint16())
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
