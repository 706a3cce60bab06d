import Foundation
import Testing

@testable import MediaAnalysis

/// Sound that was clipped and then made quieter, and what only looks like it.
@Suite struct FlatTopDetectorTests {
    private static let rate = 48_000

    /// Seconds of a function of the time, as samples of so many bits.
    private func sound(_ seconds: Double, bits: Int = 16, _ value: (Double) -> Double) -> [Float] {
        let scale = Double(1 << (bits - 1))
        return (0..<Int(seconds * Double(Self.rate))).map { index in
            Float((value(Double(index) / Double(Self.rate)) * scale).rounded() / scale)
        }
    }

    private func detector(bits: Int? = 16, startingAt place: Int64 = 0) -> FlatTopDetector {
        FlatTopDetector(
            channels: 1, significantBits: bits, sampleRate: Self.rate, minimum: 3, startingAt: place)
    }

    private func runs(_ samples: [Float], bits: Int? = 16, slice: Int = 4096) throws -> [Range<Int64>] {
        var detector = detector(bits: bits)
        for start in stride(from: 0, to: samples.count, by: slice) {
            detector.append(try PlanarSamples([Array(samples[start..<min(start + slice, samples.count)])]))
        }
        return detector.result(channel: 0).runs
    }

    private func tone(_ time: Double, _ frequency: Double) -> Double { sin(2 * Double.pi * frequency * time) }

    /// 100 periods a second, each clipped at half its height: twice from a twelfth to five twelfths of a period.
    @Test(arguments: [0.9, 0.25, 0.05], [16, 24])
    func clippedTonesHaveFlatTopsAtAnyLevel(level: Double, bits: Int) throws {
        let samples = sound(2, bits: bits) { level * max(-1, min(1, 2 * tone($0, 100.3))) }
        let found = try runs(samples, bits: bits)
        // The first and the last may be cut.
        #expect((398...402).contains(found.count))
        let top = Float((level * Double(1 << (bits - 1))).rounded() / Double(1 << (bits - 1)))
        for run in found {
            #expect(run.allSatisfy { samples[Int($0)].magnitude == top })
            #expect((156...164).contains(run.count))
        }
        #expect(try runs(samples, bits: bits, slice: 333) == found)
    }

    /// What is clipped in the middle of what is not.
    @Test func onlyWhatIsClippedIsFound() throws {
        let samples = sound(6) { time in
            let signal = tone(time, 220.7) + 0.5 * tone(time, 1031.3)
            return (2..<3).contains(time) ? 0.4 * max(-0.7, min(0.7, signal)) : 0.25 * signal
        }
        let found = try runs(samples)
        #expect(found.count > 200)
        #expect(found.allSatisfy { $0.lowerBound >= 96_000 && $0.upperBound <= 144_000 })
    }

    @Test func whatOnlyLooksLikeItIsNotFound() throws {
        for frequency in [20.0, 50, 100, 440, 1000, 8000, 12_000] {
            for level in [0.9, 0.1, 0.02] {
                #expect(try runs(sound(2) { level * tone($0, frequency) }).isEmpty, "\(frequency) Hz at \(level)")
            }
        }
        // Silence, an offset, a square wave, clicks, a staircase, and eight bits.
        #expect(try runs(sound(1) { _ in 0 }).isEmpty)
        #expect(try runs(sound(1) { _ in 0.5 }).isEmpty)
        #expect(try runs(sound(1) { tone($0, 100) > 0 ? 0.5 : -0.5 }).isEmpty)
        #expect(try runs(sound(1) { ($0 * 10).truncatingRemainder(dividingBy: 1) < 0.01 ? 0.8 : 0 }).isEmpty)
        #expect(try runs(sound(1) { 0.8 * tone(($0 * 8000).rounded(.down) / 8000, 250) }).isEmpty)
        #expect(try runs(sound(1, bits: 8) { 0.8 * tone($0, 300) }).isEmpty)
        #expect(try runs(sound(1, bits: 8) { 0.8 * max(-0.5, min(0.5, tone($0, 300))) }, bits: 8).isEmpty)
        var generator = SystemRandomNumberGenerator()
        let noise = sound(10) { _ in Double.random(in: -0.5...0.5, using: &generator) }
        #expect(try runs(noise).isEmpty)
        let faint = sound(10) { _ in Double.random(in: -0.0001...0.0001, using: &generator) }
        #expect(try runs(faint).isEmpty)
    }

    /// Beyond full scale, and below it, are two things: those at full scale are not found twice.
    @Test func fullScaleIsNotCountedHere() throws {
        let samples = sound(1) { max(-1, min(32767.0 / 32768, 2 * tone($0, 100.3))) }
        #expect(try runs(samples).isEmpty)
    }

    /// Parts of ten seconds, each of which sees a little of what comes before.
    @Test func partsAreTheWhole() throws {
        let samples = sound(31.3) { 0.5 * max(-1, min(1, 1.5 * tone($0, 61.7))) }
        var whole = detector()
        whole.append(try PlanarSamples([samples]))
        var joined = detector()
        for start in stride(from: 0, to: samples.count, by: 480_000) {
            var part = detector(startingAt: Int64(start))
            part.warmUp(try PlanarSamples([Array(samples[max(0, start - 19_200)..<start])]))
            part.append(try PlanarSamples([Array(samples[start..<min(start + 480_000, samples.count)])]))
            joined.append(part)
        }
        let (one, other) = (whole.result(channel: 0), joined.result(channel: 0))
        #expect(one.runs == other.runs && one.count == other.count && one.total == other.total)
        #expect(one.count > 3800)
    }
}

@Suite struct CorrelationWindowsTests {
    /// Ten thousand samples a second; the second channel is inverted from 12 s to 20 s and silent from 25 s on.
    @Test(arguments: [1, 7, 100]) func windowsTellWhereAPairIsInverted(seconds: Int) throws {
        let rate = 10_000
        let left = (0..<30 * rate).map { Float(0.5 * sin(2 * Double.pi * 100 * Double($0) / Double(rate))) }
        let right = left.enumerated().map { index, sample in
            let second = index / rate
            return second >= 25 ? 0 : (12..<20).contains(second) ? -sample : sample
        }
        var whole = StereoCorrelation(channels: 2, second: rate)
        for start in stride(from: 0, to: left.count, by: seconds * rate) {
            let end = min(start + seconds * rate, left.count)
            var part = StereoCorrelation(channels: 2, second: rate, isFirst: start == 0)
            part.append(try PlanarSamples([Array(left[start..<end]), Array(right[start..<end])]))
            whole.append(part)
        }
        let found = whole.windows.correlations(pair: 0)
        #expect(found.count == 28)
        for (start, correlation) in found.enumerated() {
            // Of three seconds so many are inverted, each as loud as the others.
            let inverted = (start..<start + 3).filter { (12..<20).contains($0) }.count
            let heard = (start..<start + 3).filter { $0 < 25 }.count
            guard heard > 0 else {
                #expect(correlation.isNaN)
                continue
            }
            let wanted = Double(heard - 2 * inverted) / (3 * Double(heard)).squareRoot()
            #expect(abs(Double(correlation) - wanted) < 1e-4, "window \(start)")
        }
        #expect(StereoCorrelation(channels: 2).windows.correlations(pair: 0).isEmpty)
    }
}
