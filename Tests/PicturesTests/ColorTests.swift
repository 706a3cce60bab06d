import MediaBase
import Pictures
import Testing

@Suite struct ColorTests {
    @Test func forms() throws {
        #expect(try Color("#f80") == Color(red: 255, green: 136, blue: 0))
        #expect(try Color("#12aBff") == Color(red: 0x12, green: 0xAB, blue: 0xFF))
        #expect(try Color("12345678") == Color(red: 0x12, green: 0x34, blue: 0x56, alpha: 0x78))
        #expect(try Color("White") == .white)
        #expect(try Color("transparent").alpha == 0)
        // CSS: green is half as bright as lime.
        #expect(try Color("green") == Color(red: 0, green: 128, blue: 0))
    }

    @Test(arguments: ["", "#", "#12", "#1234", "#12345", "#1234567", "#gggggg", "#+12345", "whitish", "#１２３", "##123"])
    func refused(text: String) {
        #expect(throws: MediaError.self) { try Color(text) }
    }

    @Test func textForm() throws {
        #expect(Color(red: 1, green: 0xAB, blue: 255).description == "#01abff")
        #expect(Color(red: 1, green: 0xAB, blue: 255, alpha: 9).description == "#01abff09")
        #expect(try Color(Color.transparent.description) == .transparent)
    }

    @Test func opacity() {
        #expect(Color.white.withOpacity(0.5).alpha == 128)
        #expect(Color.white.withOpacity(.nan).alpha == 0)
        #expect(Color.white.withOpacity(9).alpha == 255)
    }
}
