import ISOMedia
import Testing

struct FourCCTests {
    @Test func literalStandsForItsBytes() {
        #expect(("moov" as FourCC).rawValue == 0x6D6F_6F76)
        #expect(("qt" as FourCC).rawValue == 0x7174_2020)
        #expect(("©nam" as FourCC).rawValue == 0xA96E_616D)
        #expect(("longer" as FourCC) == "long")
    }

    @Test func textShowsFourCharacters() {
        #expect(FourCC(rawValue: 0x6D6F_6F76).text == "moov")
        #expect(FourCC(rawValue: 0xA96E_616D).text == "©nam")
        #expect(FourCC(rawValue: 0x6D73_0055).text == "ms\u{FFFD}U")
        #expect("\(FourCC(rawValue: 0x7F41_9F20))" == "\u{FFFD}A\u{FFFD} ")
    }
}
