import MediaBase
import Testing

@testable import LibAV

/// Which packets follow a jump of the clock, and when they are shown instead.
@Suite struct ClockJumpsTests {
    private typealias Stored = (stream: Int, time: Int64, position: Int64)

    /// The times, in ticks, that packets of 0.04 s (stream 0) and 0.02 s (stream 1) get.
    private func shown(_ packets: [Stored], _ follower: inout ClockFollower) -> [Int64] {
        packets.map { packet in
            packet.time
                + follower.shift(
                    of: ClockFollower.Timing(
                        decode: packet.time, presentation: packet.time, duration: packet.stream == 0 ? 3600 : 1800,
                        position: packet.position),
                    stream: packet.stream)
        }
    }

    @Test(arguments: [Int64(-324_000_000), -20_000, 910_000, 324_000_000, 1 << 33])
    func whatFollowsAJumpFollowsWhatPrecedesIt(ahead: Int64) {
        var follower = ClockFollower()
        let times = (0..<50).map { Int64(1_000_000 + $0 * 3600) }
        let packets: [Stored] = times.enumerated().map { number, time in
            (stream: 0, time: number < 25 ? time : time + ahead, position: Int64(number * 1000))
        }
        #expect(shown(packets, &follower) == times)
        #expect(follower.jumps.all.map(\.position) == [25_000])
        #expect(follower.settled().all.map(\.ticks) == [1_000_000 + 25 * 3600])
        // Whoever reads from there on finds the same.
        let jumps = follower.settled()
        #expect(jumps.shift(at: 24_999) == 0 && jumps.shift(at: 30_000) == -ahead)
        #expect(jumps.isLast(23_000, ofStream: 0) && !jumps.isLast(22_000, ofStream: 0))
    }

    @Test func aGapAndJitterAreNoJumps() {
        var follower = ClockFollower()
        let packets: [Stored] = [(0, 0, 0), (0, 3600, 100), (0, 800_000, 200), (0, 796_400, 300), (0, 803_600, 400)]
        #expect(shown(packets, &follower) == packets.map(\.time))
        #expect(follower.jumps.all.isEmpty)
    }

    /// A stream's last packet before the jump is read after another one's first packet behind it, and the other way
    /// round: what counts is where they lie in the file.
    @Test func streamsCrossAJumpByTheirPositions() {
        var follower = ClockFollower()
        let packets: [Stored] = [
            (0, 500_000, 0), (1, 500_000, 10), (1, 501_800, 20),
            // Audio comes first, but the video packet lies before it.
            (1, 90_000, 60), (0, 503_600, 30), (0, 90_000, 50), (1, 91_800, 70), (0, 93_600, 80),
        ]
        let shift: Int64 = 503_600 - 90_000
        #expect(
            shown(packets, &follower)
                == packets.map { $0.position < 50 ? $0.time : $0.time + shift })
        #expect(follower.jumps.all.map(\.position) == [50])
        // Of the whole file it is known that video ends last, at 507,200.
        let jumps = follower.settled()
        #expect(jumps.all.map(\.position) == [50] && jumps.shift(at: 50) == 507_200 - 90_000)
        #expect(jumps.isLast(30, ofStream: 0) && jumps.isLast(20, ofStream: 1))
    }

    /// A single packet with a wrong time, far ahead or behind, is no recording of its own.
    @Test(arguments: [Int64(-1_350_000), 90_000_000]) func aWrongTimeIsNoJump(wrong: Int64) {
        var follower = ClockFollower()
        let times = (0..<50).map { Int64(2_000_000 + $0 * 3600) }
        let packets: [Stored] = times.enumerated().map { number, time in
            (stream: 0, time: number == 25 ? time + wrong : time, position: Int64(number * 100))
        }
        _ = shown(packets, &follower)
        #expect(follower.settled().all.isEmpty)
    }

    /// A stream that begins late or falls silent for a minute does not move the others.
    @Test func streamsThatAreSilentForLongAreNoJumps() {
        var follower = ClockFollower()
        var packets: [Stored] = []
        for number in 0..<3000 as Range<Int64> {
            packets.append((0, number * 3600, number * 100))
            if !(100..<2000).contains(number), number > 50 { packets.append((1, number * 3600, number * 100 + 50)) }
        }
        #expect(shown(packets, &follower) == packets.map(\.time))
    }
}
