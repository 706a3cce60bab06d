import MediaBase
import Pictures
import Testing

@Suite struct BitmapOrientationTests {
    /// A picture whose letters are the red of its pixels, row by row.
    private func picture(_ rows: [String]) throws -> Bitmap {
        let bytes = rows.joined().utf8.flatMap { [$0, $0 &+ 1, $0 &+ 2, $0 &+ 3] }
        return try Bitmap(width: rows.first?.utf8.count ?? 0, height: rows.count, bytes: bytes)
    }

    // By hand: the letters as one sees them after turning a sheet with "abc" over "def".
    @Test(arguments: [
        (0, false, ["abc", "def"]), (90, false, ["da", "eb", "fc"]), (180, false, ["fed", "cba"]),
        (270, false, ["cf", "be", "ad"]), (0, true, ["cba", "fed"]), (90, true, ["fc", "eb", "da"]),
        (180, true, ["def", "abc"]), (270, true, ["ad", "be", "cf"]),
    ])
    func letters(degrees: Int, isMirrored: Bool, expected: [String]) throws {
        let orientation = try Bitmap.Orientation(clockwiseDegrees: degrees, isMirrored: isMirrored)
        let turned = try picture(["abc", "def"]).oriented(orientation)
        #expect(try turned == picture(expected))
        #expect(try turned.oriented(orientation.inverse) == picture(["abc", "def"]))
    }

    @Test func everyPairJoins() throws {
        let all = try [0, 90, 180, 270].flatMap { degrees in
            try [false, true].map { try Bitmap.Orientation(clockwiseDegrees: degrees, isMirrored: $0) }
        }
        let sheet = try picture(["abc", "def"])
        for first in all {
            for second in all {
                #expect(sheet.oriented(first).oriented(second) == sheet.oriented(first.followed(by: second)))
            }
        }
    }

    @Test func largerThanATile() throws {
        var bytes: [UInt8] = []
        for index in 0..<70 * 45 { bytes += [UInt8(index % 251), UInt8(index / 251), 7, 255] }
        let sheet = try Bitmap(width: 70, height: 45, bytes: bytes)
        let turned = try sheet.rotated(clockwiseDegrees: 90)
        #expect(turned.width == 45 && turned.height == 70)
        for y in 0..<45 {
            for x in 0..<70 where turned[44 - y, x] != sheet[x, y] { Issue.record("\(x),\(y)") }
        }
        #expect(try turned.rotated(clockwiseDegrees: -90) == sheet)
        #expect(sheet.flippedHorizontally()[0, 3] == sheet[69, 3])
    }

    @Test func degreesAreChecked() throws {
        #expect(try Bitmap.Orientation(clockwiseDegrees: -450).clockwiseDegrees == 270)
        #expect(try Bitmap.Orientation(clockwiseDegrees: 720) == .identity)
        for degrees in [45, 1, -89, Int.min, Int.max] {
            #expect(throws: MediaError.self) { try Bitmap.Orientation(clockwiseDegrees: degrees) }
        }
    }
}
