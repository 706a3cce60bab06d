import ISOMedia
import Testing

struct UserTextTests {
    @Test(
        arguments: [
            (box("name", ascii("Plain")), "Plain"),
            (box("©nam", u16(5, 0x15C7), ascii("Title"), u16(2, 0), ascii("xx")), "Title"),
            (box("name") + box("©nam", u16(1, 0), ascii("T")), "T"),
            (box("©nam", u16(0xFFFF, 0), ascii("cut")), "cut"),
            (box("©nam", u16(0, 0)), nil), (box("©day", u16(4, 0), ascii("2020")), nil), (u32(0), nil),
        ] as [(Bytes, String?)])
    func nameOfTheMovie(userData: Bytes, name: String?) throws {
        let header = try Movie.header(box("udta", userData))
        #expect(header.name == name)
        #expect(header.warnings.isEmpty)
    }
}
