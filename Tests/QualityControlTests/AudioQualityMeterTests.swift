import Foundation
import Inspection
import MediaAnalysis
import MediaBase
import Testing

@testable import QualityControl

/// Silence that is counted gives what silence that is measured gives.
@Suite struct AudioQualityMeterTests {
    /// Clipped noise with an offset and a wrong phase: something for each measurement.
    private static func noise(_ count: Int, _ rate: Int) -> [[Float]] {
        var state: UInt64 = 29
        let left: [Float] = (0..<count).map { index in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let tone = sin(2 * Double.pi * 997 * Double(index) / Double(rate))
            return Float(max(-0.5, min(0.5, tone + Double(state >> 40) / 0x1p26)))
        }
        return [left, left.map { 0.5 * -$0 }]
    }

    private static func measured(rate: Int, seconds: Double, counted: Bool) throws -> Measurements.Track {
        var request = MeasurementRequest()
        for check in CheckRegistry.all { request.add(check) }
        request.drawsSound = true
        let form = AudioTrackForm(sampleRate: rate, channelLayout: .stereo, sampleFormat: nil, statedBits: 16)
        var meter = try AudioQualityMeter(request, form, startingAt: 0, of: 0)
        for _ in 0..<2 {
            meter.append(noise(rate + 77, rate))
            let silence = Int(seconds * Double(rate))
            if counted {
                meter.appendSilence(frames: Int64(silence))
            } else {
                let zeros = [Float](repeating: 0, count: silence)
                meter.append([zeros, zeros])
            }
        }
        meter.append(noise(rate / 2, rate))
        return meter.finish(trackIndex: 0)
    }

    @Test(arguments: [8000, 11025], [0.3, 19.9, 20.1, 45.37])
    func countedSilenceIsMeasuredSilence(rate: Int, seconds: Double) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let tracks = try [false, true].map { try Self.measured(rate: rate, seconds: seconds, counted: $0) }
        let texts = try tracks.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
        #expect(texts[0] == texts[1])
        #expect(tracks[0].outline == tracks[1].outline)
        #expect(tracks[1].sound?.loudnessRange != nil && tracks[1].runs.contains { $0.count > 0 })
    }

    /// By hand: two times a second of sound, and 2³⁸ samples between them: over a year.
    @Test func monthsOfSilenceTakeNoTime() throws {
        let form = AudioTrackForm(sampleRate: 8000, channelLayout: .stereo, sampleFormat: nil, statedBits: 16)
        var request = MeasurementRequest()
        for check in [Check.silence, .clipping, .integratedLoudness] { request.add(check) }
        var meter = try AudioQualityMeter(request, form, startingAt: 0, of: 0)
        let noise = Self.noise(8000, 8000)
        meter.append(noise)
        meter.appendSilence(frames: 1 << 38)
        meter.append(noise)
        #expect(meter.frames == 1 << 38 + 16000)
        meter.appendSilence(frames: .max)
        #expect(meter.frames == 1 << 62)
    }
}
