internal import AssetKit
internal import Glibc
internal import Inspection
internal import MediaAnalysis
internal import MediaBase

/// Compares the audio of two files: the offset of one, and the difference once both are aligned.
///
/// The reference's audio is converted to the sample rate and channels of the other file if they differ.
struct AudioComparison {
    let file: Asset
    let reference: Asset

    /// The number of seconds of both files that are searched for the offset, followed by the largest offset.
    private static let window = 30
    private static let maximumOffset = 10
    /// The sample rate of the first, coarse search.
    private static let coarseRate = 8000
    /// The maximum numbers of frames and of samples kept for the offset, and of frames combined in the coarse search.
    ///
    /// They apply whatever sample rate a file claims.
    private static let maximumFrames = 1 << 23
    private static let maximumSamples = 1 << 25
    private static let largestFactor = 64
    /// The minimum correlation of audio that matches.
    private static let likeness = 0.3
    /// The number of frames compared at once.
    private static let block = 1 << 14

    /// The minimum energy of the sum of all channels, as a fraction of the loudest channel's, for the sum to be used.
    private static let minimumOfSum = 1e-4

    /// Reads both files and compares their audio.
    ///
    /// There is nothing to compare if either is silent in the part that is searched for the offset.
    func run() throws(MediaError) -> ReferenceMeasurements.Outcome<ReferenceMeasurements.Sound> {
        guard let otherTrack = try Self.track(of: reference) else { return .notApplicable }
        guard let track = try Self.track(of: file), let format = track.formatDescriptions.first?.audio,
            format.sampleRate > 0
        else { return .missing("has no sound") }
        let settings = AudioSettings(
            sampleFormat: .float32, sampleRate: format.sampleRate,
            channelLayout: Self.layout(for: format, otherTrack.formatDescriptions.first?.audio))
        var sound = PlanarAudioReader(try file.samplesNow(of: track, as: .audio(settings)))
        var wanted = PlanarAudioReader(try reference.samplesNow(of: otherTrack, as: .audio(settings)))
        let rate = format.sampleRate
        let length = min(
            (Self.window + Self.maximumOffset) * rate, Self.maximumFrames, Self.maximumSamples / max(1, format.channels)
        )
        let head = (try sound.read(length), try wanted.read(length))
        guard head.1.contains(where: { Self.energy($0) != 0 }) else { return .notApplicable }
        guard head.0.first?.isEmpty == false else { return .missing("has no sound") }
        guard head.0.count == head.1.count else {
            return .missing("has \(head.0.count) channels and the reference has \(head.1.count)")
        }
        guard head.0.contains(where: { Self.energy($0) != 0 }) else { return .missing("is silent") }
        let (own, other) = Self.matched(head.0, head.1)
        let match = SoundAlignment.match(
            own, other, most: Self.maximumOffset * rate,
            factor: min(max(1, rate / Self.coarseRate), Self.largestFactor))
        let correlation = match?.correlation ?? 0
        let offset = match.flatMap { abs($0.correlation) >= Self.likeness ? $0.offset : nil }
        let difference = try Self.difference(head, &sound, &wanted, offset: offset ?? 0)
        return .compared(
            ReferenceMeasurements.Sound(
                offset: offset.map { MediaTime(value: Int64($0), timescale: Int32(clamping: rate)) },
                correlation: correlation, difference: difference?.ifFinite))
    }

    /// Returns the layout to which both are converted, or `nil` to compare the channels as they are.
    private static func layout(for format: AudioFormat, _ other: AudioFormat?) -> ChannelLayout? {
        if format.channelLayout.knownName != nil { return format.channelLayout }
        return format.channels == other?.channels ? nil : .usual(channels: format.channels)
    }

    private static func track(of asset: Asset) throws(MediaError) -> AssetTrack? {
        try asset.loadNow(.tracks).first { $0.mediaType == .audio }
    }

    /// Returns the signals to align: the sums of all channels, or one channel of each if channels cancel each other
    /// out.
    private static func matched(_ one: [[Float]], _ other: [[Float]]) -> ([Float], [Float]) {
        let sums = (mixed(one), mixed(other))
        func cancels(_ sum: [Float], _ channels: [[Float]]) -> Bool {
            energy(sum) <= minimumOfSum * (channels.map(energy).max() ?? 0)
        }
        guard cancels(sums.0, one) || cancels(sums.1, other) else { return sums }
        for (left, right) in zip(one, other) where energy(left) > 0 && energy(right) > 0 { return (left, right) }
        return sums
    }

    private static func energy(_ samples: [Float]) -> Double {
        samples.reduce(0) { $0 + Double($1) * Double($1) }
    }

    private static func mixed(_ channels: [[Float]]) -> [Float] {
        var sum = channels.first ?? []
        for channel in channels.dropFirst() {
            for index in sum.indices where index < channel.count { sum[index] += channel[index] }
        }
        return sum
    }

    /// Returns the level of the difference in dB, relative to the reference, where both overlap once aligned.
    private static func difference(
        _ head: ([[Float]], [[Float]]), _ sound: inout PlanarAudioReader, _ wanted: inout PlanarAudioReader, offset: Int
    ) throws(MediaError) -> Double? {
        var sums = (difference: 0.0, reference: 0.0)
        // The beginning of the later one has no counterpart.
        var left = head.0.map { Array($0.dropFirst(max(0, offset))) }
        var right = head.1.map { Array($0.dropFirst(max(0, -offset))) }
        while true {
            let count = min(left.first?.count ?? 0, right.first?.count ?? 0)
            for channel in left.indices where channel < right.count {
                for index in 0..<min(count, left[channel].count, right[channel].count) {
                    let (one, other) = (Double(left[channel][index]), Double(right[channel][index]))
                    sums.difference += (one - other) * (one - other)
                    sums.reference += other * other
                }
            }
            left = left.map { Array($0.dropFirst(count)) }
            right = right.map { Array($0.dropFirst(count)) }
            let more = (
                left.first?.isEmpty == true ? try sound.read(block) : [],
                right.first?.isEmpty == true ? try wanted.read(block) : []
            )
            if !more.0.isEmpty { left = more.0 }
            if !more.1.isEmpty { right = more.1 }
            guard left.first?.isEmpty == false, right.first?.isEmpty == false else { break }
        }
        return sums.reference > 0 ? 10 * log10(sums.difference / sums.reference) : nil
    }
}
