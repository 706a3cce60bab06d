import Foundation
import MediaAnalysis
import Testing

/// The signals of EBU Tech 3341 and Tech 3342 that are tones, within the tolerances printed there.
@Suite struct LoudnessMeterTests {
    /// Low, because the signals are long; ``everyRateHasItsOwnFilters(rate:)`` and the first signals have others.
    private static let rate = 8000

    /// What a signal is made of: tones of 1000 Hz in all channels, one after the other.
    private struct Tone {
        var seconds: Double
        /// The peak level of each channel, in dB against full scale; `nil` for silence.
        var levels: [Double?]

        init(_ seconds: Double, _ level: Double?, channels: Int = 2) {
            self.seconds = seconds
            levels = Array(repeating: level, count: channels)
        }

        init(_ seconds: Double, levels: [Double?]) {
            self.seconds = seconds
            self.levels = levels
        }
    }

    private func measure(
        _ tones: [Tone], layout: String = "stereo", rate: Int = rate, frequency: Double = 1000
    ) throws -> LoudnessMeter.Result {
        let channels = tones[0].levels.count
        var planes = [[Float]](repeating: [], count: channels)
        var time = 0
        for tone in tones {
            let end = time + Int((tone.seconds * Double(rate)).rounded())
            for (channel, level) in tone.levels.enumerated() {
                let amplitude = level.map { pow(10, $0 / 20) } ?? 0
                for sample in time..<end {
                    let angle = 2 * Double.pi * frequency * Double(sample) / Double(rate)
                    planes[channel].append(Float(amplitude * sin(angle)))
                }
            }
            time = end
        }
        var steps = try LoudnessSteps(sampleRate: rate, channels: channels)
        var meter = LoudnessMeter(weights: ChannelWeights.weights(layout: layout, channels: channels))
        for start in stride(from: 0, to: time, by: 4099) {
            let part = planes.map { Array($0[start..<min(start + 4099, time)]) }
            steps.append(try PlanarSamples(part))
            meter.append(steps.takeSteps())
        }
        return meter.result
    }

    private func near(_ value: Double?, _ wanted: Double, _ tolerance: Double = 0.1) -> Bool {
        value.map { abs($0 - wanted) <= tolerance } ?? false
    }

    @Test(arguments: [(-23.0, -23.0), (-33.0, -33.0)])
    func signals1And2SteadyTone(level: Double, wanted: Double) throws {
        let found = try measure([Tone(20, level)], rate: 48_000)
        #expect(near(found.integrated, wanted))
        #expect(near(found.momentaryMaximum?.loudness, wanted))
        #expect(near(found.shortTermMaximum?.loudness, wanted))
        #expect(near(found.range, 0))
    }

    @Test(arguments: [11_025, 22_050, 44_100, 96_000])
    func everyRateHasItsOwnFilters(rate: Int) throws {
        let found = try measure([Tone(1, -23)], rate: rate)
        #expect(near(found.integrated, -23))
    }

    @Test func signal3RelativeGate() throws {
        #expect(near(try measure([Tone(10, -36), Tone(60, -23), Tone(10, -36)]).integrated, -23))
    }

    @Test func signal4AbsoluteGate() throws {
        let tones = [Tone(10, -72), Tone(10, -36), Tone(60, -23), Tone(10, -36), Tone(10, -72)]
        #expect(near(try measure(tones).integrated, -23))
    }

    @Test func signal5RelativeGateFromTheMeanOfAll() throws {
        #expect(near(try measure([Tone(20, -26), Tone(20.1, -20), Tone(20, -26)]).integrated, -23))
    }

    @Test(arguments: ["5.0", "5.0(side)"])
    func signal6FiveChannels(layout: String) throws {
        let found = try measure([Tone(5, levels: [-28, -28, -24, -30, -30])], layout: layout)
        #expect(near(found.integrated, -23))
    }

    @Test func lowFrequencyEffectsDoNotCount() throws {
        let found = try measure([Tone(5, levels: [-28, -28, -24, 0, -30, -30])], layout: "5.1")
        #expect(near(found.integrated, -23))
    }

    @Test func signal9ShortTermOfAPatternAsLongAsItsWindow() throws {
        let found = try measure((0..<5).flatMap { _ in [Tone(1.34, -20), Tone(1.66, -30)] })
        #expect(near(found.shortTermMaximum?.loudness, -23))
    }

    @Test(arguments: [0, 1, 7, 13, 19])
    func signal10ShortTermMaximumWhereverItBegins(number: Int) throws {
        let found = try measure([Tone(0.15 * Double(number), nil), Tone(3, -23), Tone(1, nil)])
        #expect(near(found.shortTermMaximum?.loudness, -23))
    }

    @Test(arguments: [0, 9, 19])
    func signal11ShortTermMaximumOfRisingTones(last: Int) throws {
        let tones = (0...last).flatMap { number in
            [
                Tone(0.15 * Double(number), nil), Tone(3, -38 + Double(number)),
                Tone(3 - 0.15 * Double(number), nil),
            ]
        }
        #expect(near(try measure(tones).shortTermMaximum?.loudness, -38 + Double(last)))
    }

    @Test func signal12MomentaryOfAPatternAsLongAsItsWindow() throws {
        let found = try measure((0..<25).flatMap { _ in [Tone(0.18, -20), Tone(0.22, -30)] })
        #expect(near(found.momentaryMaximum?.loudness, -23))
    }

    @Test(arguments: 0..<20)
    func signal13MomentaryMaximumWhereverItBegins(number: Int) throws {
        let found = try measure([Tone(0.02 * Double(number), nil), Tone(0.4, -23), Tone(1, nil)])
        #expect(near(found.momentaryMaximum?.loudness, -23))
        let step = try #require(found.momentaryMaximum?.step)
        #expect(abs(step - Int64(2 * number)) <= 1)
    }

    @Test(arguments: [0, 9, 19])
    func signal14MomentaryMaximumOfRisingTones(last: Int) throws {
        let tones = (0...last).flatMap { number in
            [
                Tone(0.02 * Double(number), nil), Tone(0.4, -38 + Double(number)),
                Tone(0.4 - 0.02 * Double(number), nil),
            ]
        }
        #expect(near(try measure(tones).momentaryMaximum?.loudness, -38 + Double(last)))
    }

    /// Tech 3342's signals 1 to 4, ±1 LU there.
    @Test(arguments: [
        ([-20.0, -30.0], 10.0), ([-20.0, -15.0], 5.0), ([-40.0, -20.0], 20.0),
        ([-50.0, -35.0, -20.0, -35.0, -50.0], 15.0),
    ])
    func rangeOfTones(levels: [Double], wanted: Double) throws {
        #expect(near(try measure(levels.map { Tone(20, $0) }).range, wanted, 0.5))
    }

    @Test func soundThatIsTooShortOrTooQuietHasNoLoudness() throws {
        let short = try measure([Tone(0.39, -23)])
        #expect(short.integrated == nil && short.range == nil && short.momentaryMaximum == nil)
        let quiet = try measure([Tone(5, -80)])
        #expect(quiet.integrated == nil && quiet.range == nil)
        #expect(near(quiet.momentaryMaximum?.loudness, -80))
        let silence = try measure([Tone(5, nil)])
        #expect(silence.integrated == nil && silence.momentaryMaximum == nil && silence.shortTermMaximum == nil)
    }

    @Test func longSilenceInConstantTimeIsAsSilenceStepByStep() throws {
        let weights = [1.0]
        let tone = (0..<777).map { 0.01 * Double($0 % 7) }
        for length: Int64 in [0, 5, 309, 310, 311, 1234] {
            var plain = LoudnessMeter(weights: weights)
            plain.append(tone + [Double](repeating: 0, count: Int(length)) + tone)
            var fast = LoudnessMeter(weights: weights)
            fast.append(tone)
            fast.appendSilence(steps: length)
            fast.append(tone)
            #expect(fast.result == plain.result)
        }
    }

    @Test func partsSideBySideAreTheWhole() throws {
        let rate = 11_025
        var generator = SystemRandomNumberGenerator()
        let planes = (0..<3).map { _ in
            (0..<rate * 3).map { _ in Float(Int16(truncatingIfNeeded: generator.next())) / 32768 }
        }
        func steps(_ frames: Range<Int>, startingAt step: Int64, warmUp: Int) throws -> [Double] {
            var steps = try LoudnessSteps(sampleRate: rate, channels: 3, startingAt: step)
            steps.warmUp(try PlanarSamples(planes.map { Array($0[frames.lowerBound - warmUp..<frames.lowerBound]) }))
            steps.append(try PlanarSamples(planes.map { Array($0[frames]) }))
            return steps.takeSteps()
        }
        let whole = try steps(0..<planes[0].count, startingAt: 0, warmUp: 0)
        let seam = Int(LoudnessSteps.start(of: 133, sampleRate: rate))
        let memory = Int(KWeighting.memorySeconds * Double(rate))
        let parts =
            try steps(0..<seam, startingAt: 0, warmUp: 0)
            + steps(seam..<planes[0].count, startingAt: 133, warmUp: memory)
        try #require(whole.count == parts.count && whole.count == 900)
        for (one, other) in zip(whole, parts) { #expect(abs(one - other) <= 1e-12 * one) }
    }

    @Test func stepsOfARateThatHundredDoesNotDivideStayInTime() {
        #expect(LoudnessSteps.start(of: 1, sampleRate: 11_025) == 110)
        #expect(LoudnessSteps.start(of: 3, sampleRate: 11_025) == 331)
        #expect(LoudnessSteps.start(of: 100, sampleRate: 11_025) == 11_025)
        #expect(LoudnessSteps.start(of: 8_640_000, sampleRate: 11_025) == 952_560_000)
    }
}

/// The printed coefficients of BS.1770-5, tables 1 and 2.
@Suite struct KWeightingTests {
    @Test func coefficientsAt48kHzAreThePrintedOnes() {
        let weighting = KWeighting(sampleRate: 48_000)
        let shelf = weighting.shelf
        let printed = [1.53512485958697, -2.69169618940638, 1.19839281085285, -1.69065929318241, 0.73248077421585]
        for (own, other) in zip([shelf.b0, shelf.b1, shelf.b2, shelf.a1, shelf.a2], printed) {
            #expect(abs(own - other) < 1e-9)
        }
        #expect(abs(weighting.highPass.a1 - -1.99004745483398) < 1e-9)
        #expect(abs(weighting.highPass.a2 - 0.99007225036621) < 1e-9)
    }
}

@Suite struct ChannelWeightsTests {
    @Test func channelsFromTheSideCountMore() {
        let side = 1.41
        #expect(ChannelWeights.weights(layout: "stereo", channels: 2) == [1, 1])
        #expect(ChannelWeights.weights(layout: "5.1", channels: 6) == [1, 1, 1, 0, side, side])
        #expect(ChannelWeights.weights(layout: "5.1(side)", channels: 6) == [1, 1, 1, 0, side, side])
        #expect(ChannelWeights.weights(layout: "7.1", channels: 8) == [1, 1, 1, 0, 1, 1, side, side])
        #expect(ChannelWeights.weights(layout: "6 channels", channels: 6) == [1, 1, 1, 0, side, side])
        #expect(ChannelWeights.weights(layout: "3 channels (FL+LFE+SR)", channels: 3) == [1, 0, side])
        #expect(ChannelWeights.weights(layout: "22.2", channels: 24).count == 24)
        // A name that does not fit the number says nothing.
        #expect(ChannelWeights.weights(layout: "stereo", channels: 3) == [1, 1, 1])
    }
}
