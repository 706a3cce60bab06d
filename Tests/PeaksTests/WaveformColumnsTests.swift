import MediaBase
import Peaks
import Testing

@Suite struct WaveformColumnsTests {
    private func peaks(_ maximums: [Int16], bits: Int = 16, meanSquares: [Float]? = nil) throws -> Peaks {
        try Peaks(
            sampleRate: 8000, spacing: Peaks.Spacing(samples: 2), channels: 1, bits: bits,
            data: maximums.flatMap { [-$0, $0] }, meanSquares: meanSquares)
    }

    // By hand from floor(c·n/W) ..< ceil((c+1)·n/W): n = 5, W = 3 gives 0..<2, 1..<4, 3..<5.
    @Test func sharedPoints() throws {
        let columns = try WaveformColumns(peaks([4096, 8192, 2048, 16384, 1024]), width: 3).channels[0]
        #expect(columns.maximums == [0.25, 0.5, 0.5] && columns.minimums == [-0.25, -0.5, -0.5])
    }

    @Test func fewerPointsThanColumns() throws {
        let columns = try WaveformColumns(peaks([8192, 16384]), width: 5).channels[0]
        #expect(columns.maximums == [0.25, 0.25, 0.5, 0.5, 0.5])
    }

    @Test func asManyPointsAsColumns() throws {
        let columns = try WaveformColumns(peaks([64, 32, 16], bits: 8), width: 3).channels[0]
        #expect(columns.maximums == [0.5, 0.25, 0.125] && columns.rootMeanSquares == nil)
    }

    @Test func channelsAndLevels() throws {
        let stereo = try Peaks(
            sampleRate: 8000, spacing: Peaks.Spacing(samples: 2), channels: 2,
            data: [-32768, 0, 0, 16384, 0, 8192, 0, 0], meanSquares: [0.25, 0, 0.75, 0.0625])
        let columns = try WaveformColumns(stereo, width: 1)
        #expect(columns.channels.count == 2)
        #expect(columns.channels[0].minimums == [-1] && columns.channels[0].maximums == [0.25])
        #expect(columns.channels[1].minimums == [0] && columns.channels[1].maximums == [0.5])
        #expect(columns.channels[0].rootMeanSquares == [Float(0.5).squareRoot()])
    }

    @Test func noPoints() throws {
        let columns = try WaveformColumns(peaks([]), width: 4).channels[0]
        #expect(columns.maximums == [0, 0, 0, 0] && columns.minimums == [0, 0, 0, 0])
    }

    @Test func widthIsChecked() throws {
        for width in [0, -1, Int.max] {
            #expect(throws: MediaError.self) { try WaveformColumns(peaks([1]), width: width) }
        }
    }
}
