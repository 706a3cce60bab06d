internal import Glibc

/// Measures the highest sample and the highest value between samples of one channel (ITU-R BS.1770-5, Annex 2).
///
/// Audio is oversampled four times below 96 kHz, twice below 192 kHz, and not at all at higher rates, with a windowed
/// sinc of twelve samples (``TruePeakFilter``); the output includes the samples themselves. Sections that cannot exceed
/// the highest value found so far are not oversampled, which does not change the result.
package struct TruePeakMeter: Sendable {
    /// The highest magnitude of a sample, with full scale at 1.
    package private(set) var samplePeak: Float = 0
    /// The index of that sample, or of the first of several, counted from the beginning; `nil` as long as there is only
    /// silence.
    package private(set) var samplePeakPlace: Int64?
    /// The highest magnitude found between samples, and the index of the sample before it.
    private var between: Float = 0
    private var betweenPlace: Int64?
    private let filter: TruePeakFilter?
    /// The last samples, and the number of them that were not examined yet.
    private var tail = [Float](repeating: 0, count: tailLength)
    private var pending = 0
    /// The index of the next sample.
    private var position: Int64

    private static let block = TruePeakFilter.block
    private static let tailLength = TruePeakFilter.block * 2

    /// Creates a meter that starts after silence, at a rate in samples per second.
    ///
    /// - Parameter position: The index of the first sample, for a part of the audio.
    package init(sampleRate: Int, startingAt position: Int64 = 0) {
        filter = TruePeakFilter(sampleRate: sampleRate)
        self.position = position
    }

    /// The highest magnitude of the samples and of the values between them, with full scale at 1.
    package var truePeak: Float { max(samplePeak, between) }

    /// The index of the sample at the true peak, or just before it if the peak lies between samples; `nil` for silence.
    package var truePeakPlace: Int64? { between > samplePeak ? betweenPlace : samplePeakPlace }

    /// The true peak in dB relative to full scale (dBTP); −∞ for silence.
    package var decibels: Double { 20 * log10(Double(truePeak)) }

    /// Adds the next samples.
    package mutating func append(_ samples: Span<Float>) {
        defer { position &+= Int64(samples.count) }
        guard let filter else {
            noteSamplePeak(of: samples, at: position)
            return
        }
        // The seam: the tail followed by the first samples.
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

    /// Skips silence; the preceding samples must be silent for longer than the filter.
    package mutating func skipSilence(frames: Int64) { position &+= frames }

    /// Ends the audio, so that the filter's output after the last sample counts.
    package mutating func finish() {
        let silence = [Float](repeating: 0, count: Self.block)
        append(silence.span)
        finishPart()
    }

    /// Ends these samples, while the audio continues in another part.
    package mutating func finishPart() {
        let tail = tail
        let start = position &- Int64(tail.count)
        if let filter, pending > 0 { noteBetween(of: tail.span, at: start, filter) }
        noteSamplePeak(of: tail.span.extracting(last: pending), at: position &- Int64(pending))
        pending = 0
    }

    /// Passes the samples that precede the first one to the filter, of which only the last few matter.
    package mutating func warmUp(_ samples: Span<Float>) {
        let count = min(samples.count, tail.count)
        for index in 0..<count { tail[tail.count - count + index] = samples[samples.count - count + index] }
    }

    /// Adds the measurements of other samples.
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

    /// Examines all whole blocks from a sample on, each with the block before it; returns the number of samples left.
    ///
    /// - Parameter place: The index of the first of all these samples.
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

/// Computes the values at each quarter or half between samples, with a Hann-windowed sinc twelve samples wide.
///
/// ITU-R BS.1770-5, Annex 2, requires such a filter and lists one as an example; this is the filter of libebur128.
struct TruePeakFilter: Sendable {
    /// The number of samples examined together.
    static let block = 16
    /// The number of samples that contribute to a value between two of them.
    static let taps = 12

    /// The coefficients for each position between samples, the last sample's first.
    private let phases: [[Float]]
    /// The maximum factor by which a value between samples can exceed all samples around it.
    let gain: Float

    /// Creates the filter for a rate, or returns `nil` if the samples are already close enough together.
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
        // Slightly more, to allow for rounding of the sums.
        gain = (phases.map { $0.reduce(0) { $0 + $1.magnitude } }.max() ?? 1) * 1.0001
    }

    /// Returns the highest magnitude between samples, for the last ``block`` samples and the samples before them.
    ///
    /// - Parameter samples: Exactly twice ``block`` samples; otherwise the result is 0.
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

    /// Returns the index of the sample just before the highest magnitude that ``peak(of:)`` finds.
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
