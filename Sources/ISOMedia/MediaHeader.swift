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
        // QuickTime counts the characters in the first byte, ISO files end them with a zero; some ISO files are
        // written QuickTime's way. Only QuickTime fills in the component type, and no name begins with a control
        // character.
        let isCounted = reader.next.map { Int($0) < reader.remaining && (componentType != 0 || $0 < 0x20) } ?? false
        if isCounted {
            let count = Int(try reader.uint8())
            name = text(try reader.take(count))
        } else {
            name = text(reader.takeRest())
        }
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
