import Foundation
import MediaAnalysis
import Testing

private func planes(_ channels: [[Float]]) throws -> PlanarSamples { try PlanarSamples(channels) }

private func tone(_ count: Int, _ amplitude: Float = 0.5) -> [Float] {
    // Never near zero, so that every sample is heard.
    (0..<count).map { $0 % 2 == 0 ? amplitude : -amplitude }
}

@Suite struct SilenceDetectorTests {
    private func detector(_ channels: [[Float]], minimum: Int64 = 100, cut: Int = .max) throws -> SilenceDetector {
        var detector = SilenceDetector(channels: channels.count, threshold: 0.001, minimum: minimum)
        let count = channels[0].count
        var start = 0
        while start < count {
            let end = min(start + min(cut, count), count)
            detector.append(try planes(channels.map { Array($0[start..<end]) }))
            start = end
        }
        return detector
    }

    private let quiet = [Float](repeating: 0.0009, count: 1000)

    @Test func exactToTheSampleAtHeadMiddleAndTail() throws {
        let sound = quiet[..<150] + tone(333) + quiet[..<100] + tone(7) + quiet[..<99] + tone(64) + quiet[..<201]
        let found = try detector([Array(sound)])
        #expect(found.channels[0].runs == [0..<150, 483..<583, 753..<954])
        for cut in [1, 63, 64, 65, 100, 500] {
            #expect(try detector([Array(sound)], cut: cut).channels[0].runs == found.channels[0].runs)
        }
    }

    @Test func eachChannelAndAllAtOnce() throws {
        let left = Array(quiet[..<400] + tone(600))
        let right = Array(tone(150) + quiet[..<850])
        let found = try detector([left, right])
        #expect(found.channels.map(\.runs) == [[0..<400], [150..<1000]])
        #expect(found.all.runs == [150..<400])
    }

    @Test func theThresholdItselfIsHeard() throws {
        #expect(try detector([[Float](repeating: 0.001, count: 500)]).all.runs.isEmpty)
        #expect(try detector([[Float](repeating: 0, count: 500)]).all.runs == [0..<500])
    }

    @Test func partsAreTheWhole() throws {
        let sound = Array(tone(50) + quiet[..<300] + tone(50) + quiet[..<120])
        let whole = try detector([sound])
        for seam in [1, 50, 51, 200, 350, 399, 519] {
            var joined = try detector([Array(sound[..<seam])])
            joined.append(try detector([Array(sound[seam...])]))
            #expect(joined.all.runs == whole.all.runs)
        }
        var filled = try detector([tone(50)])
        filled.appendSilence(frames: 1 << 40)
        #expect(filled.all.runs == [50..<50 + 1 << 40])
    }
}

@Suite struct ClippingDetectorTests {
    @Test func flatTopsOfThreeSamples() throws {
        let top: Float = 32767 / 32768
        var sound = tone(200)
        for index in 60..<63 { sound[index] = top }
        for index in 100..<102 { sound[index] = -1 }
        for index in 126..<130 { sound[index] = -top }
        var detector = ClippingDetector(channels: 1, significantBits: 16, minimum: 3)
        detector.append(try planes([sound]))
        #expect(detector.channels[0].runs == [60..<63, 126..<130])
        // The same numbers in 24 bits are not the largest.
        var finer = ClippingDetector(channels: 1, significantBits: 24, minimum: 2)
        finer.append(try planes([sound]))
        #expect(finer.channels[0].runs == [100..<102])
        var floating = ClippingDetector(channels: 1, significantBits: nil, minimum: 2)
        floating.append(try planes([sound]))
        #expect(floating.channels[0].runs == [100..<102])
    }

    @Test func partsAreTheWhole() throws {
        let sound = [Float](repeating: 1, count: 10) + tone(80) + [Float](repeating: 1, count: 5)
        for seam in [1, 5, 10, 50, 90, 92] {
            var first = ClippingDetector(channels: 1, significantBits: 16, minimum: 4)
            var second = first
            first.append(try planes([Array(sound[..<seam])]))
            second.append(try planes([Array(sound[seam...])]))
            first.append(second)
            #expect(first.channels[0].runs == [0..<10, 90..<95])
        }
    }
}

@Suite struct SoundBalanceTests {
    private func sine(_ amplitude: Double, degrees: Double = 0, offset: Double = 0) -> [Float] {
        (0..<9600).map { Float(amplitude * sin(2 * Double.pi * Double($0) / 48 + degrees * .pi / 180) + offset) }
    }

    private func balance(_ channels: [[Float]]) throws -> StereoCorrelation {
        var balance = StereoCorrelation(channels: channels.count)
        balance.append(try planes(channels))
        return balance
    }

    @Test(arguments: [(0.0, 1.0), (180.0, -1.0), (90.0, 0.0), (60.0, 0.5)])
    func correlationIsTheCosineOfThePhase(degrees: Double, wanted: Double) throws {
        let found = try balance([sine(0.5), sine(0.1, degrees: degrees, offset: 0.2)])
        #expect(abs(try #require(found.correlation(pair: 0)) - wanted) < 1e-5)
    }

    @Test func offsetAndLevel() throws {
        let found = try balance([sine(0.5, offset: 0.01), sine(0)])
        #expect(abs(found.offset(0) - 0.01) < 1e-6 && found.offset(1) == 0)
        #expect(abs(found.decibels(0) - 10 * log10(0.125 + 0.0001)) < 1e-4 && found.decibels(1) == -.infinity)
        // Silence has no phase.
        #expect(found.correlation(pair: 0) == nil)
        #expect(found.correlation(pair: 1) == nil && found.offset(7) == 0)
    }

    @Test func theSameInBothChannels() throws {
        #expect(try balance([sine(0.5), sine(0.5)]).highestDifference(pair: 0) == 0)
        let other = try balance([sine(0.5), sine(0.25)])
        #expect(abs(try #require(other.highestDifference(pair: 0)) - 0.25) < 1e-6)
        #expect(try balance([sine(0.5)]).highestDifference(pair: 0) == nil)
    }

    @Test func partsAreTheWholeButForRounding() throws {
        let (left, right) = (sine(0.5), sine(0.3, degrees: 30))
        let whole = try balance([left, right])
        var joined = try balance([Array(left[..<777]), Array(right[..<777])])
        joined.append(try balance([Array(left[777...]), Array(right[777...])]))
        #expect(abs((joined.correlation(pair: 0) ?? 0) - (whole.correlation(pair: 0) ?? 1)) < 1e-9)
        #expect(joined.frames == whole.frames)
        joined.appendSilence(frames: 9600)
        #expect(abs(joined.decibels(0) - whole.decibels(0) + 10 * log10(2)) < 1e-6)
    }
}
