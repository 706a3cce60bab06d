import Peaks
import SystemPackage
import TestSupport
import Testing

@testable import MediaJobs

@Suite struct WaveformLevelsTests {
    /// By hand: 7 samples; a level that is a multiple of another must have the extrema of its own samples.
    @Test func joinedLevelsAreMeasuredLevels() throws {
        let samples: [Int16] = [1, -2, 3, -4, 5, -6, 7]
        func spacing(_ samples: Int, _ points: Int = 1) throws -> Peaks.Spacing {
            try Peaks.Spacing(samples: samples, points: points)
        }
        var levels = try WaveformLevels(
            [spacing(6), spacing(2), spacing(4), spacing(3), spacing(2), spacing(3, 2)], sampleRate: 8000, channels: 1)
        try levels.append(samples.span)
        let peaks = try levels.finish().mapValues { try $0.whole() }
        #expect(try peaks[spacing(2)]?.data == [-2, 1, -4, 3, -6, 5, 7, 7])
        #expect(try peaks[spacing(3)]?.data == [-2, 3, -6, 5, 7, 7])
        #expect(try peaks[spacing(4)]?.data == [-4, 3, -6, 7])
        #expect(try peaks[spacing(6)]?.data == [-6, 5, 7, 7])
        // From 0, 1.5, 3, 4.5 and 6, each rounded down.
        #expect(try peaks[spacing(3, 2)]?.data == [1, 1, -2, 3, -4, -4, -6, 5, 7, 7])
        #expect(peaks.count == 5)
        #expect(peaks.allSatisfy { $0.key == $0.value.spacing })
    }

    /// Silence that is counted gives the points that measuring it sample by sample gives.
    @Test func countedSilenceIsMeasuredSilence() throws {
        let spacings = [
            try Peaks.Spacing(samples: 3), try Peaks.Spacing(samples: 7, points: 2), try Peaks.Spacing(samples: 500),
        ]
        let sound: [Int16] = [5, -5, 6, -6, 7, -7, 8, -8, 9, -9]
        for silence in [0, 1, 2, 6, 7, 99, 1000, 1001] {
            var counted = try WaveformLevels(spacings, sampleRate: 8000, channels: 2)
            var measured = try WaveformLevels(spacings, sampleRate: 8000, channels: 2)
            for _ in 0..<3 {
                try counted.appendSilence(frames: Int64(silence), counting: 5)
                try counted.append(sound.span)
                try measured.append([Int16](repeating: 0, count: 2 * silence).span)
                try measured.append(sound.span)
            }
            let (left, right) = (try counted.finish(), try measured.finish())
            for spacing in spacings {
                #expect(try left[spacing]?.whole() == right[spacing]?.whole(), "\(silence), \(spacing)")
            }
        }
    }

    /// 10^11 frames: 390625000 points of 256, by hand, which nobody has made.
    @Test func weeksOfSilenceTakeNoTime() throws {
        let spacing = try Peaks.Spacing(samples: 256)
        var levels = try WaveformLevels([spacing], sampleRate: 48000, channels: 1)
        let begun = ContinuousClock.now
        try levels.append([3, -4].span)
        try levels.appendSilence(frames: 100_000_000_000 - 2)
        try levels.append([7].span)
        let peaks = try #require(try levels.finish()[spacing])
        #expect(ContinuousClock.now - begun < .seconds(1))
        #expect(peaks.length == 390_625_001)
        #expect(peaks.rest.data == [7, 7])
        #expect(peaks.spill?.count == 781_250_000)
    }

    /// Points that were put into a file come back where they were, at every level, and in the binary file.
    @Test func pointsInAFileAreTheSame() throws {
        let samples: [Int16] = (0..<1000).map { Int16(truncatingIfNeeded: $0 &* 7919) }
        let spacings = [
            try Peaks.Spacing(samples: 3), try Peaks.Spacing(samples: 6), try Peaks.Spacing(samples: 7, points: 2),
        ]
        var kept = try WaveformLevels(spacings, sampleRate: 8000, channels: 2)
        var spilled = try WaveformLevels(spacings, sampleRate: 8000, channels: 2)
        for start in stride(from: 0, to: samples.count, by: 50) {
            try kept.append(samples.span.extracting(start..<start + 50))
            try spilled.append(samples.span.extracting(start..<start + 50))
            spilled.makeRoom(keeping: 40)
        }
        let (left, right) = (try kept.finish(), try spilled.finish())
        #expect(left.count == 3 && right.count == 3)
        #expect(right[spacings[0]]?.spill?.count ?? 0 > 0)
        for spacing in spacings {
            #expect(try left[spacing]?.whole() == right[spacing]?.whole())
            #expect(left[spacing]?.length == right[spacing]?.length)
        }
        // Coarser points in a file of their own, of which the last one is a partial one.
        for factor in [2, 7, 1 << 20] {
            let coarser = try Peaks.Spacing(samples: 3 * factor)
            let joined = try #require(right[spacings[0]]).coarser(to: coarser, keeping: 20)
            #expect(try joined.whole() == left[spacings[0]]?.whole().coarser(to: coarser))
            #expect((joined.spill?.count ?? 0 > 0) == (factor < 8))
        }
        let peaks = try #require(left[spacings[0]]).whole()
        for bits in [8, 16] {
            let folder = try TemporaryFolder()
            let file = try OutputFileSet(force: false, inputs: []).begin(FilePath(folder.path("peaks.dat")))
            try #require(right[spacings[0]]).writeBinary(bits: bits, to: file)
            try file.commit()
            #expect(try folder.bytes("peaks.dat") == PeakFile.encode(peaks.converted(toBits: bits), as: .binary))
        }
    }
}
