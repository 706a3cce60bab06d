import ISOMedia
import Testing

struct MediaLanguageTests {
    /// Packed by hand: each letter less 0x60, five bits each.
    ///
    /// Numbers from QuickTime's table of language codes.
    @Test(
        arguments: [
            (0x15C7, "eng", nil), (0x55C4, "und", nil), (0x10B5, "deu", nil), (0x7FFF, nil, nil), (0xFFFF, nil, nil),
            (0, "eng", 0), (2, "deu", 2), (11, "jpn", 11), (94, "epo", 94), (138, "jav", 138), (100, nil, 100),
            (0x3FF, nil, 0x3FF), (0x0400, nil, nil), (0x7C00, nil, nil),
        ] as [(UInt16, String?, UInt16?)])
    func fieldNamesALanguage(raw: UInt16, letters: String?, number: UInt16?) {
        let language = MediaLanguage(rawValue: raw)
        #expect(language.iso639 == letters)
        #expect(language.macintoshCode == number)
    }
}
