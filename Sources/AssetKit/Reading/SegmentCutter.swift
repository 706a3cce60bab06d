import LibAV
import MediaBase

/// Cuts the packets of a track into segments, at places that depend on the packets alone.
struct SegmentCutter: Sendable {
    private let rule: SegmentRule
    private let timeBase: Rational
    private let sampleRate: Int
    /// Whether durations are told in samples.
    private let countsSamples: Bool
    /// About how many samples in each channel a segment has.
    private let length: Int
    private let byteLimit: Int

    private var number = 0
    /// The first packet of the segment to come.
    private(set) var head: StoredSample?
    /// The last packets of the segments so far.
    private var recent: [StoredSample] = []
    /// Whether there is nothing more to cut.
    private(set) var isOver = false
    /// Why the packets broke off.
    private(set) var error: MediaError?

    /// Packets that a segment has at least, so that the pre-roll does not outweigh it, and at most.
    private static let packetCounts = 8...1 << 14
    /// Bytes of packets in a segment at most.
    private static let mostBytes = 16 << 20
    /// Packets that are remembered for the pre-roll.
    private static let recentCount = 256

    /// - Parameter bytes: About how many bytes of decoded sound, at 32 bits a sample, a segment has.
    init(_ rule: SegmentRule, format: AudioFormat, timeBase: Rational, bytes: Int) {
        self.rule = rule
        self.timeBase = timeBase
        sampleRate = max(1, format.sampleRate)
        countsSamples = timeBase == Rational(1, Int64(sampleRate))
        length = Self.samples(in: bytes, format) * rule.lengthFactor
        byteLimit = 4 * max(bytes, 1 << 20) * rule.lengthFactor
    }

    /// About how many samples in each channel a segment has.
    static func samples(in bytes: Int, _ format: AudioFormat) -> Int { max(1, bytes / (4 * max(1, format.channels))) }

    /// The next segment; `nil` where there is none.
    mutating func next(from packets: () throws(MediaError) -> StoredSample?) -> SoundSegment? {
        guard !isOver else { return nil }
        var list: [StoredSample] = []
        var samples = 0
        var bytes = 0
        while true {
            do throws(MediaError) {
                guard let sample = try take(packets) else {
                    isOver = true
                    return list.isEmpty && number > 0 ? nil : segment(list, isLast: true)
                }
                // Behind new parameters a decoder that has not seen all would be another one.
                let isChange = sample.packet.changesFormat && (number > 0 || !list.isEmpty)
                let isFull = samples >= length && list.count >= Self.packetCounts.lowerBound
                if isChange || isFull || list.count >= Self.packetCounts.upperBound || bytes >= Self.mostBytes {
                    head = sample
                    isOver = isChange
                    return segment(list, isLast: false)
                }
                list.append(sample)
                samples += self.samples(in: sample)
                bytes += sample.size
            } catch {
                isOver = true
                self.error = error
                return list.isEmpty ? nil : segment(list, isLast: false)
            }
        }
    }

    private mutating func take(_ packets: () throws(MediaError) -> StoredSample?) throws(MediaError) -> StoredSample? {
        if let head = head.take() { return head }
        return try packets()
    }

    private mutating func segment(_ list: [StoredSample], isLast: Bool) -> SoundSegment {
        let preRoll = number == 0 ? [] : rule.preRoll(recent, timeBase: timeBase)
        recent = Array((recent + list.suffix(Self.recentCount)).suffix(Self.recentCount))
        defer { number += 1 }
        return SoundSegment(
            number: number, preRoll: preRoll, packets: list, following: head, isLast: isLast, byteLimit: byteLimit)
    }

    /// How many samples a packet has by its duration, or as most codecs' have.
    private func samples(in sample: StoredSample) -> Int {
        if countsSamples, (1...1 << 20).contains(sample.packet.duration) { return Int(sample.packet.duration) }
        let duration = MediaTime(ticks: sample.packet.duration, timeBase: timeBase)
        let samples = duration.sampleIndex(rate: Int32(clamping: sampleRate), rounding: .up) ?? 0
        return samples > 0 ? Int(min(samples, 1 << 20)) : 1024
    }
}
