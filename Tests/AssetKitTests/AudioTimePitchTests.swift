import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Audio of segments at other speeds, by what is heard: frequencies, times of clicks, and numbers of samples.
@Suite struct AudioTimePitchTests {
    private static let rate = 48000

    private func time(_ value: Int64, _ scale: Int32) -> MediaTime { MediaTime(value: value, timescale: scale) }
    private func range(_ start: MediaTime, _ duration: MediaTime) -> MediaTimeRange {
        MediaTimeRange(start: start, duration: duration)
    }

    private func tone(_ frequency: Double = 440, seconds: Double, rate: Int = rate) -> [Float] {
        (0..<Int(seconds * Double(rate))).map {
            Float(0.5 * sin(2 * Double.pi * frequency * Double($0) / Double(rate)))
        }
    }

    /// A composition of one piece of a source, which lasts `stretch` times as long as it is.
    private func stretched(
        _ source: WrittenSound, from start: MediaTime = .zero, _ length: MediaTime, by stretch: Rational
    ) throws -> Composition {
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .audio)
        try composition.insertTimeRange(
            range(start, length), of: source.track, in: source.asset, at: .zero, into: id)
        try composition.scaleTimeRange(range(.zero, length), toDuration: length.multiplied(by: stretch))
        return composition
    }

    private func count(_ length: MediaTime, _ stretch: Rational, rate: Int = rate) throws -> Int {
        Int(try #require(length.multiplied(by: stretch).sampleIndex(rate: Int32(rate), rounding: .up)))
    }

    // MARK: Pitch and channels

    @Test(arguments: [Rational(1, 2), Rational(2), Rational(5, 4), Rational(1001, 1000)], [1, 2, 6])
    func pitchIsKeptInAllChannels(stretch: Rational, channels: Int) throws {
        let folder = try TemporaryFolder()
        let volumes = [1, 0.5, -0.7, 0.1, 0.8, -0.3].prefix(channels)
        let samples = tone(seconds: 4).flatMap { value in volumes.map { Int16(Double(value) * $0 * 32000) } }
        let source = try WrittenSound(
            "tone.wav", in: folder, samples: samples, rate: Self.rate, channels: channels)
        let length = time(3001, 1001)
        let composition = try stretched(source, from: time(1, 3), length, by: stretch)
        let got = try FloatReading(composition: composition).channels()
        #expect(got.count == channels)
        let expected = try count(length, stretch)
        #expect(got.allSatisfy { $0.count == expected })
        // Zero crossings of three seconds or so are good for far less than the ±0.5 % that are asked for.
        #expect(abs(Tones.frequency(got[0], rate: Self.rate) - 440) < 0.1)
        // As loud as the source from the first to the last eleven waves, 25 ms.
        let loudness = 0.5 / 2.squareRoot() * 32000 / 32768
        for part in [got[0].prefix(1200), got[0].suffix(1200), got[0][...]] {
            #expect(abs(Tones.rms(part) / loudness - 1) < 0.05)
        }
        for (channel, volume) in zip(got, volumes) {
            let worst = zip(channel, got[0]).map { abs(Double($0) - Double($1) * volume) }.max() ?? 1
            #expect(worst < 0.01)
        }
    }

    /// Left and right are in phase at all frequencies, and what else the right has does not matter.
    @Test func channelsStayInPhase() throws {
        let folder = try TemporaryFolder()
        let (low, high) = (tone(220, seconds: 4), tone(3000, seconds: 4))
        let alone = tone(701, seconds: 4)
        let samples = low.indices.flatMap { index -> [Int16] in
            let both = low[index] + high[index]
            return [Int16(both * 12000), Int16(both * 12000 + alone[index] * 4000)]
        }
        let source = try WrittenSound("two.wav", in: folder, samples: samples, rate: Self.rate, channels: 2)
        let composition = try stretched(source, time(3, 1), by: Rational(3, 2))
        let got = try FloatReading(composition: composition).channels()
        // The phases of both at each frequency, over windows of a quarter of a second.
        for frequency in [220.0, 3000] {
            for start in stride(from: 0, to: got[0].count - 12000, by: 12000) {
                let angles = got.map { channel in
                    var (real, imaginary) = (0.0, 0.0)
                    for index in 0..<12000 {
                        let window = 0.5 - 0.5 * cos(2 * Double.pi * Double(index) / 12000)
                        let angle = 2 * Double.pi * frequency * Double(index) / Double(Self.rate)
                        real += Double(channel[start + index]) * window * cos(angle)
                        imaginary += Double(channel[start + index]) * window * sin(angle)
                    }
                    return atan2(imaginary, real)
                }
                #expect(cos(angles[0] - angles[1]) > cos(Double.pi / 36))
            }
        }
    }

    @Test func varispeedMovesThePitch() async throws {
        let folder = try TemporaryFolder()
        let source = try WrittenSound("tone.wav", in: folder, floats: tone(seconds: 3), rate: Self.rate)
        let length = time(2, 1)
        for (stretch, frequency) in [(Rational(1, 2), 880.0), (Rational(2), 220), (Rational(5, 4), 352)] {
            let composition = try stretched(source, length, by: stretch)
            let got = try FloatReading(composition: composition, algorithm: .varispeed).samples()
            #expect(try got.count == count(length, stretch))
            #expect(abs(Tones.frequency(got, rate: Self.rate) - frequency) < 0.01)
        }
        // A mix: the output's algorithm, and a track's own.
        var composition = try stretched(source, length, by: Rational(2))
        let second = try composition.addTrack(mediaType: .audio)
        try composition.insertTimeRange(
            range(.zero, time(1, 1)), of: source.track, in: source.asset, at: .zero, into: second)
        let asset = Asset(composition: composition)
        let track = try Media.track(asset, .audio)
        func mixed(
            _ algorithm: AudioTimePitchAlgorithm, _ own: AudioTimePitchAlgorithm?
        ) throws -> Double {
            var (parameters, silent) = (
                AudioMix.InputParameters(track: track), AudioMix.InputParameters(trackID: second)
            )
            parameters.audioTimePitchAlgorithm = own
            try silent.volume.set(0, at: .zero)
            let output = try AudioMixOutput(tracks: asset.loadNow(.tracks))
            output.audioMix = AudioMix([parameters, silent])
            output.audioTimePitchAlgorithm = algorithm
            let reader = try AssetReader(asset: asset)
            try reader.add(output)
            try reader.startReading()
            var samples: [Float] = []
            while let buffer = try output.nextSampleBuffer() {
                buffer.audioBuffer?.withSamples(of: Float.self) {
                    for index in $0.indices { samples.append($0[index]) }
                }
            }
            #expect(samples.count == 4 * Self.rate)
            return Tones.frequency(samples, rate: Self.rate)
        }
        #expect(try abs(mixed(.varispeed, nil) - 220) < 0.1)
        #expect(try abs(mixed(.varispeed, .spectral) - 440) < 0.1)
        #expect(try abs(mixed(.spectral, .varispeed) - 220) < 0.1)
        // An export of one track, which is not mixed, and of its mix.
        for (mix, algorithm, frequency) in [
            (nil, AudioTimePitchAlgorithm?.none, 440.0), (nil, .varispeed, 220), (AudioMix(), .varispeed, 220),
        ] {
            let session = ExportSession(
                asset: Asset(composition: try stretched(source, length, by: Rational(2))), preset: .appleM4A)
            #expect(session.audioTimePitchAlgorithm == .spectral)
            if let algorithm { session.audioTimePitchAlgorithm = algorithm }
            session.audioMix = mix
            let path = folder.path("export.m4a")
            try await session.export(to: FilePath(path), as: .m4a, overwrite: true)
            let bytes = try FFmpeg.pcm(path, format: "f32le")
            let samples = bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
            #expect(abs(Tones.frequency(samples.dropFirst(4800).prefix(96000), rate: Self.rate) - frequency) < 0.5)
        }
    }

    // MARK: Times

    /// A click's place is known to the engine within its shorter windows, 1024 and 2048 samples, and it lasts longer where
    /// it is stretched: 10 ms, for each time that it is.
    @Test(arguments: [Rational(1, 8), Rational(1, 2), Rational(4, 5), Rational(5, 4), Rational(2), Rational(4)])
    func clicksAreAtTheirTimes(stretch: Rational) throws {
        let folder = try TemporaryFolder()
        var samples = [Float](repeating: 0, count: 12 * Self.rate)
        for second in 0..<12 {
            for index in 0..<48 { samples[second * Self.rate + index] = 0.8 * (1 - Float(index) / 48) }
        }
        let source = try WrittenSound("clicks.wav", in: folder, floats: samples, rate: Self.rate)
        // Clicks are at 0.75 s, 1.75 s and so on.
        let composition = try stretched(source, from: time(1, 4), time(11, 1), by: stretch)
        let got = try FloatReading(composition: composition).samples()
        let factor = stretch.doubleValue
        for click in 0..<11 {
            let due = (Double(click) + 0.75) * factor * Double(Self.rate)
            let around = Int(due - 0.4 * factor * Double(Self.rate))..<Int(due + 0.2 * factor * Double(Self.rate))
            let loudest = try #require(around.max { abs(got[$0]) < abs(got[$1]) })
            #expect(abs(got[loudest]) > 0.02)
            #expect(abs(Double(loudest) - due) / Double(Self.rate) < 0.010 * max(1, factor))
        }
    }

    @Test func neighboursHaveNoGapsAndKeepTheirSamples() throws {
        let folder = try TemporaryFolder()
        let source = try WrittenSound("tone.wav", in: folder, floats: tone(seconds: 10), rate: Self.rate)
        let low = try WrittenSound("low.wav", in: folder, floats: tone(seconds: 10, rate: 44100), rate: 44100)
        let pieces: [(source: WrittenSound?, start: MediaTime, length: MediaTime, stretch: Rational)] = [
            (source, .zero, time(7, 5), .one), (source, time(7, 5), time(4, 3), Rational(3, 2)),
            (source, time(1, 2), time(1, 1), Rational(1, 3)), (nil, .zero, time(1, 7), .one),
            (low, time(1, 3), time(2, 1), Rational(7, 5)), (source, time(3, 1), time(1, 2), .one),
        ]
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .audio)
        var borders: [Int] = [0]
        for piece in pieces {
            let start = composition.duration
            if let source = piece.source {
                try composition.insertTimeRange(
                    range(piece.start, piece.length), of: source.track, in: source.asset, at: start, into: id)
                if piece.stretch != .one {
                    try composition.scaleTimeRange(
                        range(start, piece.length), toDuration: piece.length.multiplied(by: piece.stretch))
                }
            } else {
                try composition.insertEmptyTimeRange(range(start, piece.length), intoTrack: id)
            }
            borders.append(Int(try #require(composition.duration.sampleIndex(rate: 48000, rounding: .up))))
        }
        let got = try FloatReading(composition: composition, rate: Self.rate).samples()
        #expect(got.count == borders.last)
        let plain = tone(seconds: 10)
        for (number, piece) in pieces.enumerated() {
            let part = got[borders[number]..<borders[number + 1]]
            if piece.source == nil {
                #expect(part.allSatisfy { $0 == 0 })
            } else if piece.stretch == .one {
                let offset = try #require(
                    (piece.start - composition.tracks[0].segments[number].timeRange.start)
                        .sampleIndex(rate: 48000, rounding: .halfAwayFromZero))
                let isSame = part.indices.allSatisfy { got[$0] == plain[$0 + Int(offset)] }
                #expect(isSame)
            } else {
                #expect(abs(Tones.frequency(part, rate: Self.rate) - 440) < 0.5)
                // No attack and no fade where it meets others: eleven waves are as loud, and so is the first and the last.
                for end in [part.prefix(1200), part.suffix(1200)] { #expect(abs(Tones.rms(end) / 0.3536 - 1) < 0.05) }
                for end in [part.prefix(110), part.suffix(110)] { #expect(end.contains { abs($0) > 0.47 }) }
            }
        }
    }

    @Test func cutsReadsAndThreadsDoNotChangeTheSamples() throws {
        let folder = try TemporaryFolder()
        let noise = Made.noise(Self.rate * 8)
        let source = try WrittenSound("noise.wav", in: folder, samples: noise, rate: Self.rate)
        let composition = try stretched(source, from: time(1, 2), time(5, 1), by: Rational(8, 5))
        let whole = try FloatReading(composition: composition).samples()
        #expect(whole.count == 8 * Self.rate)
        var cut = composition
        try cut.insertEmptyTimeRange(range(time(7, 3), time(1, 1)))
        try cut.removeTimeRange(range(time(7, 3), time(1, 1)))
        #expect(cut.tracks[0].segments.count == 2)
        #expect(try FloatReading(composition: cut).samples() == whole)
        #expect(try FloatReading(composition: composition, threads: 1).samples() == whole)
        for start in [time(1, 10), time(7, 3), time(50001, 10007)] {
            let first = Int(try #require(start.sampleIndex(rate: 48000, rounding: .up)))
            let part = range(start, time(3, 2))
            let last = Int(try #require(part.end.sampleIndex(rate: 48000, rounding: .up)))
            #expect(try FloatReading(composition: composition, range: part).samples() == Array(whole[first..<last]))
            #expect(try FloatReading(composition: cut, range: part).samples() == Array(whole[first..<last]))
        }
    }

    /// Later than thirty seconds into a segment, stretching begins anew: the same places, not the same samples.
    @Test func lateReadsHaveTheSameSoundAtTheSameTime() throws {
        let folder = try TemporaryFolder()
        let rate = 8000
        var samples = tone(330, seconds: 60, rate: rate).map { $0 / 8 }
        for second in 0..<60 { for index in 0..<8 { samples[second * rate + index] += 0.8 } }
        let source = try WrittenSound("clicks.wav", in: folder, floats: samples, rate: rate)
        let composition = try stretched(source, time(60, 1), by: Rational(5, 4))
        let whole = try FloatReading(composition: composition).samples()
        func part(_ start: MediaTime) throws -> [Float] {
            try FloatReading(composition: composition, range: range(start, time(9, 1))).samples()
        }
        let late = try part(time(61, 1))
        #expect(late.count == 9 * rate)
        // Clicks are every 1.25 s, the tone alone between them.
        #expect(abs(Tones.frequency(late[4500..<9500], rate: rate) / 330 - 1) < 0.005)
        for click in 49..<56 {
            let due = click * 10000
            let places = [
                whole[(due - 2000)..<(due + 2000)], late[(due - 61 * rate - 2000)..<(due - 61 * rate + 2000)],
            ]
            .map { part in part.indices.max { abs(part[$0]) < abs(part[$1]) }.map { $0 - part.startIndex } ?? 0 }
            #expect(abs(places[0] - places[1]) <= rate / 100 && abs(places[1] - 2000) <= rate / 80)
        }
        // Begun at the same place, they have the same samples.
        let later = try part(time(65, 1))
        #expect(Array(late[(4 * rate)...]) == Array(later[..<(5 * rate)]))
    }

    // MARK: Limits

    @Test func speedsBeyondTheLimitsAreVarispeed() throws {
        let folder = try TemporaryFolder()
        let source = try WrittenSound("tone.wav", in: folder, floats: tone(seconds: 8), rate: Self.rate)
        for stretch in [Rational(1, 33), Rational(33)] {
            let composition = try stretched(source, stretch > .one ? time(1, 20) : time(8, 1), by: stretch)
            let got = try FloatReading(composition: composition).samples()
            #expect(try got == FloatReading(composition: composition, algorithm: .varispeed).samples())
        }
        for stretch in [Rational(1, 32), Rational(32)] {
            let length = stretch > .one ? time(1, 4) : time(8, 1)
            let got = try FloatReading(composition: stretched(source, length, by: stretch)).samples()
            #expect(try got.count == count(length, stretch))
            #expect(abs(Tones.frequency(got, rate: Self.rate) / 440 - 1) < 0.005)
        }
    }

    @Test func otherSampleRates() throws {
        let folder = try TemporaryFolder()
        let source = try WrittenSound("tone.wav", in: folder, floats: tone(seconds: 3), rate: Self.rate)
        let composition = try stretched(source, time(2, 1), by: Rational(3, 2))
        for rate in [8000, 11025, 44100, 96000, 192_000] {
            let got = try FloatReading(composition: composition, rate: rate).samples()
            #expect(got.count == 3 * rate)
            #expect(abs(Tones.frequency(got, rate: rate) - 440) < 0.5)
        }
        for rate in [7999, 192_001] {
            let reading = FloatReading(composition: composition, rate: rate)
            #expect(errorCode { try reading.samples() } == .unsupported)
            var other = reading
            other.algorithm = .varispeed
            #expect(errorCode { try other.samples() } == nil)
        }
    }

    @Test func valuesThatAreNoNumbersAreSilent() throws {
        let folder = try TemporaryFolder()
        var samples = tone(seconds: 4)
        for (place, value) in [(9000, Float.nan), (9001, .infinity), (9002, -.infinity), (9003, 1e38)] {
            samples[place] = value
        }
        let source = try WrittenSound("odd.wav", in: folder, floats: samples, rate: Self.rate)
        let got = try FloatReading(composition: stretched(source, time(4, 1), by: Rational(5, 4))).samples()
        #expect(got.count == 5 * Self.rate)
        #expect(abs(Tones.frequency(got.suffix(3 * Self.rate), rate: Self.rate) / 440 - 1) < 0.005)
    }

    // MARK: Another program

    /// The spectrum of noise and tones, in each third of an octave: that of the source but for noise, which loses up to 1.7 dB
    /// where it is shortened; and about that of ffmpeg's `rubberband` filter, which has the same library's other engine.
    @Test(arguments: [Rational(2, 3), Rational(3, 2)])
    func theSpectrumIsThatOfTheSource(stretch: Rational) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("sound.wav")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "anoisesrc=r=48000:d=6:seed=5:a=0.2:color=pink", "-f", "lavfi", "-i",
            "aevalsrc=0.1*sin(2*PI*261*t)+0.1*sin(2*PI*659*t)+0.05*sin(2*PI*4000*t):s=48000:d=6", "-filter_complex",
            "amix=2:normalize=0", "-c:a", "pcm_f32le", path,
        ])
        let asset = Asset(path: FilePath(path))
        let length = time(6, 1)
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .audio)
        try composition.insertTimeRange(
            range(.zero, length), of: Media.track(asset, .audio), in: asset, at: .zero, into: id)
        try composition.scaleTimeRange(range(.zero, length), toDuration: length.multiplied(by: stretch), inTrack: id)
        let got = Tones.bands(try FloatReading(composition: composition).samples(), rate: Self.rate)
        let speed = stretch.inverse?.doubleValue ?? 1
        for (filter, most) in [("anull", 2.0), ("rubberband=tempo=\(speed)", 3)] {
            let bytes = try FFmpeg.run(["-i", path, "-af", filter, "-f", "f32le", "-"])
            let other = Tones.bands(bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }, rate: Self.rate)
            let differences = zip(got, other).map { $0 - $1 }
            #expect(differences.allSatisfy { abs($0) < most }, "\(filter): \(differences)")
        }
    }
}
