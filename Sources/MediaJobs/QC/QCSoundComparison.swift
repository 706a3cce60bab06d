internal import AssetKit
internal import Glibc
internal import MediaAnalysis
internal import MediaBase

/// Compares the sound of two files: by how much one is later, and what differs when both are in step.
///
/// The reference's is brought to the other's rate and channels where they differ.
struct QCSoundComparison {
    let file: Asset
    let reference: Asset

    /// Seconds of both that are looked at for the offset, and the largest offset.
    private static let window = 30
    private static let mostOffset = 10
    /// The rate at which a place is looked for at first.
    private static let coarseRate = 8000
    /// Frames and samples of each that are kept for the offset at most, and how many are taken together at most, whatever
    /// rate a file claims.
    private static let mostFrames = 1 << 23
    private static let mostSamples = 1 << 25
    private static let largestFactor = 64
    /// From which correlation on two sounds are alike.
    private static let likeness = 0.3
    /// Frames that are compared at once.
    private static let block = 1 << 14

    /// Reads both files; `nil` where one of them has no sound, or nothing but silence.
    func run() throws(MediaError) -> QCReferenceMeasurements.Sound? {
        guard let track = try Self.track(of: file), let otherTrack = try Self.track(of: reference),
            let format = track.formatDescriptions.first?.audio, format.sampleRate > 0
        else { return nil }
        let settings = AudioSettings(
            sampleFormat: .float32, sampleRate: format.sampleRate,
            channelLayout: format.channelLayout.knownName == nil ? nil : format.channelLayout)
        var sound = try Self.reader(of: file, track, settings)
        var wanted = try Self.reader(of: reference, otherTrack, settings)
        let rate = format.sampleRate
        let length = min(
            (Self.window + Self.mostOffset) * rate, Self.mostFrames, Self.mostSamples / max(1, format.channels))
        let head = (try sound.read(length), try wanted.read(length))
        guard head.0.count == head.1.count, !head.0.isEmpty else { return nil }
        guard
            let match = SoundAlignment.match(
                Self.mixed(head.0), Self.mixed(head.1), most: Self.mostOffset * rate,
                factor: min(max(1, rate / Self.coarseRate), Self.largestFactor))
        else { return nil }
        let isAlike = abs(match.correlation) >= Self.likeness
        let difference = try Self.difference(head, &sound, &wanted, offset: isAlike ? match.offset : 0)
        return QCReferenceMeasurements.Sound(
            offset: isAlike ? MediaTime(value: Int64(match.offset), timescale: Int32(clamping: rate)) : nil,
            correlation: match.correlation, difference: difference?.ifFinite)
    }

    private static func track(of asset: Asset) throws(MediaError) -> AssetTrack? {
        try asset.loadNow(.tracks).first { $0.mediaType == .audio }
    }

    private static func reader(
        of asset: Asset, _ track: AssetTrack, _ settings: AudioSettings
    ) throws(MediaError) -> SoundPlaneReader {
        let output = TrackOutput(track: track, audioSettings: settings)
        let reader = try AssetReader(asset: asset)
        try reader.add(output)
        try reader.startReading()
        return SoundPlaneReader(output)
    }

    private static func mixed(_ channels: [[Float]]) -> [Float] {
        var sum = channels.first ?? []
        for channel in channels.dropFirst() {
            for index in sum.indices where index < channel.count { sum[index] += channel[index] }
        }
        return sum
    }

    /// The level of what differs against the reference's, in dB, over all that both have in step.
    private static func difference(
        _ head: ([[Float]], [[Float]]), _ sound: inout SoundPlaneReader, _ wanted: inout SoundPlaneReader, offset: Int
    ) throws(MediaError) -> Double? {
        var sums = (difference: 0.0, reference: 0.0)
        // What is first of the one that is later has nothing beside it.
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
