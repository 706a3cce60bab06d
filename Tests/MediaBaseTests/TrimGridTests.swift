import MediaBase
import Testing

@Suite struct TrimGridTests {
    /// By Python's fractions: `scale * ceil(48000 / scale)`.
    @Test(arguments: [
        (1, 48_000), (25, 48_000), (600, 48_000), (1_000, 48_000), (8_797, 52_782), (12_800, 51_200), (24_000, 48_000),
        (30_000, 60_000), (44_100, 88_200), (47_999, 95_998), (48_000, 48_000), (90_000, 90_000),
        (14_112_000, 14_112_000), (1_000_000_000, 1_000_000_000), (2_147_483_647, 2_147_483_647),
    ])
    func ticksAreTheTracksOwnOrParts(own: Int32, wanted: Int32) {
        #expect(TrimGrid(timescale: own).timescale == wanted)
    }

    @Test func whatIsNoTimescaleCountsAsOne() {
        for none in [0, -1, Int32.min] { #expect(TrimGrid(timescale: none).timescale == 48_000) }
    }

    /// By Python: the fraction nearest to `Fraction(text) * L`, half away from zero, over L, and the least multiple of the
    /// timescale in which that is whole.
    @Test(arguments: [
        ("2.9829833333333333", 30_000, "178979/60000"), ("3.9839833333333334", 30_000, "239039/60000"),
        ("2.982983333", 8_797, "78724/26391"), ("2.5", 30_000, "75000/30000"), ("0", 90_000, "0/90000"),
        ("1.000000001", 1_000_000_000, "1000000001/1000000000"), ("1/3", 12_800, "17067/51200"),
        ("1/96000", 48_000, "1/48000"), ("-1/96000", 48_000, "-1/48000"), ("0.00000999", 25, "0/25"),
        ("1/600", 600, "1/600"), ("7.00125", 600, "16803/2400"), ("1.23456789", 14_112_000, "17422222/14112000"),
        ("3.141592653589793", 2_147_483_647, "6746518849/2147483647"),
        ("123456.789012345678", 44_100, "10888888791/88200"), ("0.5", 44_100, "22050/44100"),
    ])
    func timesAreRoundedOnce(text: String, own: Int32, wanted: String) throws {
        guard case .time(let time) = try TimeExpression(parsing: text) else {
            Issue.record("\(text)")
            return
        }
        let rounded = TrimGrid(timescale: own).rounded(time)
        #expect("\(rounded.value)/\(rounded.timescale)" == wanted)
        #expect(!rounded.hasBeenRounded)
    }

    @Test func whatIsNoNumberStays() {
        let grid = TrimGrid(timescale: 30_000)
        #expect(grid.rounded(.indefinite).isIndefinite)
        #expect(grid.rounded(.positiveInfinity) == .positiveInfinity)
        // Beyond 64 bits in ticks of the grid.
        let far = MediaTime(value: .max, timescale: 1)
        #expect(grid.rounded(far) == far)
        let open = grid.rounded(
            MediaTimeRange(start: MediaTime(value: 1, timescale: 7), duration: .positiveInfinity))
        #expect(open.start == MediaTime(value: 8571, timescale: 60_000))
        #expect(open.end == .positiveInfinity)
    }

    /// Times of a track less a start on its grid are exact, and the start is the nearest there is: over all sizes of
    /// timescales, decimals of 1 to 17 digits, fractions and frame counts.
    @Test func timesFromARoundedStartAreExact() throws {
        var chance = Chance(state: 29)
        let known: [Int32] = [8_797, 30_000, 90_000, 1_000_000_000, 14_112_000, 1, .max]
        for turn in 0..<20_000 {
            let own =
                turn % 3 == 0
                ? known[Int(chance.next() % 7)] : Int32(clamping: 1 + chance.next() % (1 << (1 + chance.next() % 31)))
            let grid = TrimGrid(timescale: own)
            let asked = try Self.time(&chance)
            let start = grid.rounded(asked)
            // Exact fractions of 128 bits: twice the distance is no more than a tick.
            let distance = Int128(asked.value) * Int128(start.timescale) - Int128(start.value) * Int128(asked.timescale)
            let unit = Int128(asked.timescale) * Int128(start.timescale)
            let isNear = Int128(distance.magnitude) * 2 * Int128(grid.timescale) <= unit
            #expect(isNear, "\(asked) in \(own)")
            #expect(grid.timescale.isMultiple(of: own) && grid.timescale.isMultiple(of: start.timescale))
            #expect(start.timescale.isMultiple(of: own) && !start.hasBeenRounded)
            #expect(own >= 48_000 ? grid.timescale == own : (48_000..<48_000 + own).contains(grid.timescale))
            let tick = MediaTime(value: Int64(chance.next() % (1 << 40)), timescale: own)
            let passed = tick - start
            let isExact =
                Int128(passed.value) * Int128(start.timescale) == Int128(passed.timescale)
                * (Int128(tick.value) * Int128(start.timescale / own) - Int128(start.value))
            #expect(isExact && !passed.hasBeenRounded, "\(tick) from \(start)")
            #expect(start.timescale.isMultiple(of: passed.timescale))
        }
    }

    /// A time as a person or a script would ask for it.
    private static func time(_ chance: inout Chance) throws -> MediaTime {
        let whole = chance.next() % 10_000
        let text =
            switch chance.next() % 4 {
            case 0: "\(chance.next() % (1 << 40))/\(1 + chance.next() % (1 << 31))"
            case 1: "\(Double(chance.next() % (1 << 53)) / Double(1 << 40))"
            default: "\(whole).\(String(chance.next() % 100_000_000_000_000_000).prefix(1 + Int(chance.next() % 17)))"
            }
        // What Swift prints of small numbers has an exponent.
        let plain = text.contains("e") ? "0.1" : text
        guard case .time(let time) = try TimeExpression(parsing: plain) else { return .zero }
        return time
    }
}

@Suite struct CommonTimescaleTests {
    @Test(
        arguments: [
            ([30_000, 44_100], 4_410_000), ([], 1), ([0, -5, 600], 600), ([90_000, 48_000, 1_000], 720_000),
            ([.max, .max], .max), ([52_782, 44_100], 387_947_700),
        ] as [([Int32], Int32)])
    func isTheLeastMultiple(scales: [Int32], wanted: Int32) { #expect(MediaTime.commonTimescale(of: scales) == wanted) }

    @Test func isNoneBeyond32Bits() {
        #expect(MediaTime.commonTimescale(of: [1_000_000_000, 30_000]) == nil)
        #expect(MediaTime.commonTimescale(of: [.max, 2]) == nil)
    }
}

/// Numbers that are the same every time (Steele, Lea, Flood: SplitMix64).
private struct Chance {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
