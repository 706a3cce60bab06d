internal import Glibc

/// The highest sample and the highest value between samples of one channel (ITU-R BS.1770-5, Annex 2).
///
/// The sound is oversampled four times below 96 kHz, twice below 192 kHz, and not at all from there on, by a windowed
/// sinc of twelve samples (``TruePeakFilter``); the samples themselves are among what comes out. Stretches that cannot
/// hold a higher value than was found already are not oversampled, which changes nothing about the result.
package struct TruePeakMeter: Sendable {
    /// The highest magnitude of a sample, with full scale at 1.
    package private(set) var samplePeak: Float = 0
    /// The sample that it is, the first of several, counted from the beginning; `nil` before anything was heard.
    package private(set) var samplePeakPlace: Int64?
    /// The highest magnitude between samples that was met, and the sample before it.
    private var between: Float = 0
    private var betweenPlace: Int64?
    private let filter: TruePeakFilter?
    /// The last samples, and how many of them were not looked at between yet.
    private var tail = [Float](repeating: 0, count: tailLength)
    private var pending = 0
    /// The sample that comes next.
    private var position: Int64

    private static let block = TruePeakFilter.block
    private static let tailLength = TruePeakFilter.block * 2

    /// Begins after silence, at a rate in samples a second.
    ///
    /// - Parameter position: The number of the first sample, for a part of a sound.
    package init(sampleRate: Int, startingAt position: Int64 = 0) {
        filter = TruePeakFilter(sampleRate: sampleRate)
        self.position = position
    }

    /// The highest magnitude of samples and of what lies between them, with full scale at 1.
    package var truePeak: Float { max(samplePeak, between) }

    /// The sample that the true peak is, or the one just before it where it lies between two; `nil` for silence.
    package var truePeakPlace: Int64? { between > samplePeak ? betweenPlace : samplePeakPlace }

    /// The true peak in dB against full scale, dBTP; −∞ for silence.
    package var decibels: Double { 20 * log10(Double(truePeak)) }

    /// Takes the samples that come next.
    package mutating func append(_ samples: Span<Float>) {
        defer { position &+= Int64(samples.count) }
        guard let filter else {
            noteSamplePeak(of: samples, at: position)
            return
        }
        // The seam: the tail with the first samples behind it.
        let length = Self.tailLength
        let seam = min(samples.count, length)
        var work = tail
        for index in 0..<seam { work.append(samples[index]) }
        pending = look(at: work.span, from: length - pending, startingAt: position &- Int64(length), filter)
        if samples.count <= length {
            tail = Array(work.suffix(length))
        } else {
            pending = look(at: samples, from: seam - pending, startingAt: position, filter)
            for index in 0..<length { tail[index] = samples[samples.count - length + index] }
        }
    }

    /// Passes over silence, after silence that is longer than the filter.
    package mutating func skipSilence(frames: Int64) { position &+= frames }

    /// Says that the sound is over, so that what rings on after its last sample counts.
    package mutating func finish() {
        let silence = [Float](repeating: 0, count: Self.block)
        append(silence.span)
        finishPart()
    }

    /// Says that these samples are over, while the sound goes on in another part.
    package mutating func finishPart() {
        let tail = tail
        let start = position &- Int64(tail.count)
        if let filter, pending > 0 { noteBetween(of: tail.span, at: start, filter) }
        noteSamplePeak(of: tail.span.extracting(last: pending), at: position &- Int64(pending))
        pending = 0
    }

    /// Lets the filter see what comes before the first sample; of this only the last few samples matter.
    package mutating func warmUp(_ samples: Span<Float>) {
        let count = min(samples.count, tail.count)
        for index in 0..<count { tail[tail.count - count + index] = samples[samples.count - count + index] }
    }

    /// Joins what was measured of other samples.
    package mutating func add(_ other: TruePeakMeter) {
        func isHigher(_ one: (Float, Int64?), than other: (Float, Int64?)) -> Bool {
            one.0 > other.0 || one.0 == other.0 && one.1 ?? .max < other.1 ?? .max
        }
        if isHigher((other.samplePeak, other.samplePeakPlace), than: (samplePeak, samplePeakPlace)) {
            (samplePeak, samplePeakPlace) = (other.samplePeak, other.samplePeakPlace)
        }
        if isHigher((other.between, other.betweenPlace), than: (between, betweenPlace)) {
            (between, betweenPlace) = (other.between, other.betweenPlace)
        }
    }

    private mutating func noteSamplePeak(of samples: Span<Float>, at start: Int64) {
        note(Self.magnitude(of: samples), of: samples, at: start)
    }

    private mutating func note(_ magnitude: Float, of samples: Span<Float>, at start: Int64) {
        guard magnitude > samplePeak else { return }
        samplePeak = magnitude
        let index = samples.indices.first { samples[$0].magnitude == magnitude } ?? 0
        samplePeakPlace = start &+ Int64(index)
    }

    private mutating func noteBetween(of samples: Span<Float>, at start: Int64, _ filter: TruePeakFilter) {
        let found = filter.peak(of: samples)
        guard found > between else { return }
        between = found
        betweenPlace = start &+ Int64(filter.place(of: samples))
    }

    /// Looks at all whole blocks from a sample on, with a block before it; gives how many samples are left.
    ///
    /// - Parameter place: The number of the first of all these samples.
    private mutating func look(
        at samples: Span<Float>, from first: Int, startingAt place: Int64, _ filter: TruePeakFilter
    ) -> Int {
        let block = Self.block
        var start = first
        var before = Self.magnitude(of: samples.extracting(start - block..<start))
        while start + block <= samples.count {
            let here = Self.magnitude(of: samples.extracting(start..<start + block))
            if here > samplePeak {
                note(here, of: samples.extracting(start..<start + block), at: place &+ Int64(start))
            }
            if max(before, here) * filter.gain > truePeak {
                noteBetween(
                    of: samples.extracting(start - block..<start + block), at: place &+ Int64(start - block), filter)
            }
            before = here
            start += block
        }
        return samples.count - start
    }

    private static func magnitude(of samples: Span<Float>) -> Float {
        var highest = SIMD4<Float>.zero
        var lowest = SIMD4<Float>.zero
        let whole = samples.count / 4 * 4
        let even = samples.extracting(first: whole)
        var index = 0
        while index < whole {
            let four = SIMD4(even[index], even[index &+ 1], even[index &+ 2], even[index &+ 3])
            highest.replace(with: four, where: four .> highest)
            lowest.replace(with: four, where: four .< lowest)
            index &+= 4
        }
        let both = highest.replacing(with: -lowest, where: -lowest .> highest)
        var result = max(max(both[0], both[1]), max(both[2], both[3]))
        for index in whole..<samples.count { result = max(result, samples[index].magnitude) }
        return result
    }
}

/// Finds the values between samples: a sinc under a Hann window, twelve samples wide, at each quarter or half between two.
///
/// ITU-R BS.1770-5, Annex 2, asks for such a filter and prints one as an example; this one is that of libebur128.
struct TruePeakFilter: Sendable {
    /// Samples that are looked at together.
    static let block = 16
    /// Samples that a value between two of them is made of.
    static let taps = 12

    /// Each place between samples has its coefficients, the last sample's first.
    private let phases: [[Float]]
    /// By how much a value between samples can be higher than all samples around it, at most.
    let gain: Float

    /// The filter for a rate; `nil` where samples are close enough as they are.
    init?(sampleRate: Int) {
        guard sampleRate < 192_000 else { return nil }
        let factor = sampleRate < 96_000 ? 4 : 2
        let half = Double(Self.taps * factor) / 2
        var phases: [[Float]] = []
        for phase in 1..<factor {
            phases.append(
                (0..<Self.taps).map { tap in
                    let place = Double(tap * factor + phase) - half
                    let angle = place * Double.pi / Double(factor)
                    let window = 0.5 * (1 + cos(Double.pi * place / half))
                    return Float(sin(angle) / angle * window)
                })
        }
        self.phases = phases
        // A hair more, for the rounding of sums.
        gain = (phases.map { $0.reduce(0) { $0 + $1.magnitude } }.max() ?? 1) * 1.0001
    }

    /// The highest magnitude between samples, for each of the last ``block`` samples and those before it.
    ///
    /// - Parameter samples: Twice ``block``; 0 where they are not.
    func peak(of samples: Span<Float>) -> Float {
        guard samples.count == Self.block * 2 else { return 0 }
        var highest = SIMD8<Float>.zero
        for phase in phases where phase.count == Self.taps {
            for half in 0..<2 {
                let start = Self.block &+ half &* 8
                var sum = SIMD8<Float>.zero
                for tap in 0..<Self.taps {
                    let place = start &- tap
                    let eight = SIMD8(
                        samples[place], samples[place &+ 1], samples[place &+ 2], samples[place &+ 3],
                        samples[place &+ 4], samples[place &+ 5], samples[place &+ 6], samples[place &+ 7])
                    sum += eight * phase[tap]
                }
                let magnitude = sum.replacing(with: -sum, where: sum .< 0)
                highest.replace(with: magnitude, where: magnitude .> highest)
            }
        }
        let (low, high) = (highest.lowHalf, highest.highHalf)
        let four = low.replacing(with: high, where: high .> low)
        return max(max(four[0], four[1]), max(four[2], four[3]))
    }

    /// The sample just before the highest magnitude that ``peak(of:)`` finds, as its place among the samples.
    func place(of samples: Span<Float>) -> Int {
        guard samples.count == Self.block * 2 else { return 0 }
        var highest: (value: Float, place: Int) = (-1, 0)
        for start in Self.block..<Self.block * 2 {
            for phase in phases where phase.count == Self.taps {
                var sum: Float = 0
                for tap in 0..<Self.taps { sum += samples[start - tap] * phase[tap] }
                if sum.magnitude > highest.value { highest = (sum.magnitude, start - Self.taps / 2) }
            }
        }
        return highest.place
    }
}
