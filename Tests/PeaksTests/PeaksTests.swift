import MediaBase
import Peaks
import Testing

@Suite struct PeaksTests {
    private func peaks(_ data: [Int16], channels: Int = 1, samples: Int = 4, bits: Int = 16) throws -> Peaks {
        try Peaks(
            sampleRate: 8000, spacing: Peaks.Spacing(samples: samples), channels: channels, bits: bits, data: data)
    }

    // By hand: int16 / 256 truncated toward zero.
    @Test func eightBitsTruncate() throws {
        let fine = try peaks([-32768, 32767, -255, 255, -256, 256, -257, 511])
        let coarse = try fine.converted(toBits: 8)
        #expect(coarse.data == [-128, 127, 0, 0, -1, 1, -1, 1] && coarse.bits == 8)
        #expect(try coarse.converted(toBits: 16).data == [-32768, 32512, 0, 0, -256, 256, -256, 256])
        #expect(throws: MediaError.self) { try fine.converted(toBits: 12) }
    }

    @Test func coarserJoinsPoints() throws {
        let fine = try peaks([-1, 1, -2, 5, -9, 0, -3, 3, -4, 8], channels: 1)
        let joined = try fine.coarser(to: Peaks.Spacing(samples: 8))
        #expect(joined.data == [-2, 5, -9, 3, -4, 8] && joined.samplesPerPixel == 8)
        #expect(try fine.coarser(by: 1) == fine)
        #expect(try fine.coarser(by: 1 << 20).data == [-9, 8])
        #expect(try peaks([-1, 1, -2, 2, -3, 3, -4, 4], channels: 2).coarser(by: 2).data == [-3, 3, -4, 4])
    }

    @Test(arguments: [6, 2, 9, Int(Int32.max)])
    func onlyExactMultiples(samplesPerPixel: Int) throws {
        let fine = try peaks([-1, 1, -2, 2])
        #expect(throws: MediaError.self) { try fine.coarser(to: Peaks.Spacing(samples: samplesPerPixel)) }
    }

    @Test func coarserFromAFraction() throws {
        let spacing = try Peaks.Spacing(samples: 3, points: 2)
        let fine = try Peaks(sampleRate: 8000, spacing: spacing, channels: 1, data: [-1, 1, -2, 2, -3, 3])
        #expect(try fine.coarser(to: Peaks.Spacing(samples: 3)).data == [-2, 2, -3, 3])
        #expect(throws: MediaError.self) { try fine.coarser(to: Peaks.Spacing(samples: 4)) }
    }

    @Test func meanSquaresAreJoined() throws {
        let fine = try Peaks(
            sampleRate: 1, spacing: Peaks.Spacing(samples: 2), channels: 1, data: [0, 0, 0, 0, 0, 0],
            meanSquares: [0.5, 0.25, 0.125])
        #expect(try fine.coarser(by: 2).meanSquares == [0.375, 0.125])
    }

    @Test func coarserIsMeasuringCoarser() throws {
        let folder = ["2ch-split-64-16bit.dat", "2ch-split-256-16bit.dat"]
        let fine = try PeakFile.decode(Golden.bytes(folder[0]))
        #expect(try fine.coarser(to: Peaks.Spacing(samples: 256)) == PeakFile.decode(Golden.bytes(folder[1])))
    }

    @Test func spacingIsReduced() throws {
        #expect(try Peaks.Spacing(samples: 4410, points: 100) == Peaks.Spacing(samples: 441, points: 10))
        #expect(try Peaks.Spacing(samples: 48000, points: 25).description == "1920")
        for (samples, points) in [(0, 1), (1, 2), (5, 0), (5, -1), (-5, -5), (Int.max, 1), (1 << 31, 1)] {
            #expect(throws: MediaError.self) { try Peaks.Spacing(samples: samples, points: points) }
        }
    }

    @Test func parametersAreChecked() throws {
        #expect(throws: MediaError.self) { try peaks([1]) }
        #expect(throws: MediaError.self) { try peaks([1, 2], channels: 2) }
        #expect(throws: MediaError.self) { try peaks([], channels: 0) }
        #expect(throws: MediaError.self) { try peaks([0, 128], bits: 8) }
        #expect(throws: MediaError.self) { try peaks([0, 1], bits: 9) }
        let one = try peaks([-3, 4])
        #expect(one.length == 1 && one.point(0)?.minimum == -3 && one.point(0)?.maximum == 4)
        #expect(one.point(1) == nil && one.point(-1) == nil && one.point(0, channel: 1) == nil)
    }
}
