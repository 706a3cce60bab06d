internal import AssetKit
internal import Glibc
internal import MediaAnalysis
internal import MediaBase

/// Compares the audio of two files: the offset of one, and the difference once both are aligned.
///
/// The reference's audio is converted to the sample rate and channels of the other file if they differ.
struct QCSoundComparison {
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

    /// The names of the usual layouts of one to eight channels, as in `av_channel_layout_default`.
    private static let usualLayouts = ["mono", "stereo", "2.1", "4.0", "5.0", "5.1", "6.1", "7.1"]
    /// The minimum energy of the sum of all channels, as a fraction of the loudest channel's, for the sum to be used.
    private static let minimumOfSum = 1e-4

    /// Reads both files and compares their audio.
    ///
    /// There is nothing to compare if either is silent in the part that is searched for the offset.
    func run() throws(MediaError) -> QCReferenceMeasurements.Outcome<QCReferenceMeasurements.Sound> {
        guard let otherTrack = try Self.track(of: reference) else { return .notApplicable }
        guard let track = try Self.track(of: file), let format = track.formatDescriptions.first?.audio,
            format.sampleRate > 0
        else { return .missing("has no sound") }
        let settings = AudioSettings(
            sampleFormat: .float32, sampleRate: format.sampleRate,
            channelLayout: Self.layout(for: format, otherTrack.formatDescriptions.first?.audio))
        var sound = try Self.reader(of: file, track, settings)
        var wanted = try Self.reader(of: reference, otherTrack, settings)
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
            QCReferenceMeasurements.Sound(
                offset: offset.map { MediaTime(value: Int64($0), timescale: Int32(clamping: rate)) },
                correlation: correlation, difference: difference?.ifFinite))
    }

    /// Returns the layout to which both are converted, or `nil` to compare the channels as they are.
    private static func layout(for format: AudioFormat, _ other: AudioFormat?) -> ChannelLayout? {
        if format.channelLayout.knownName != nil { return format.channelLayout }
        guard format.channels != other?.channels, usualLayouts.indices.contains(format.channels - 1) else { return nil }
        return ChannelLayout(channels: format.channels, name: usualLayouts[format.channels - 1])
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
        _ head: ([[Float]], [[Float]]), _ sound: inout SoundPlaneReader, _ wanted: inout SoundPlaneReader, offset: Int
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

/// Compares a proxy with its source in the properties that editors need to swap one for the other.
struct QCProxyComparison {
    let proxy: Asset
    let source: Asset
    let threads: Int

    /// The comparison of one property.
    struct Entry {
        /// The rule's id.
        let id: String
        let outcome: QCOutcome
    }

    /// Compares tracks, channels, frames and their times, rate, length and timecode.
    func run() throws(MediaError) -> [Entry] {
        let (one, other) = (try ProbeJob(asset: proxy).run(), try ProbeJob(asset: source).run())
        func tracks(_ report: ProbeReport, _ type: String) -> [TrackReport] { report.tracks.filter { $0.type == type } }
        let sounds = (tracks(one, "audio"), tracks(other, "audio"))
        var entries = [
            Self.entry("proxy-video-tracks", "\(tracks(one, "video").count)", "\(tracks(other, "video").count)"),
            Self.entry("proxy-audio-tracks", "\(sounds.0.count)", "\(sounds.1.count)"),
            Self.entry("proxy-channels", Self.channels(sounds.0), Self.channels(sounds.1)),
            Self.entry("proxy-frame-rate", Self.rate(one), Self.rate(other)),
            Self.entry(
                "proxy-timecode", one.container.startTimecode ?? "none", other.container.startTimecode ?? "none"),
        ]
        entries += try frames()
        return entries
    }

    private static func channels(_ tracks: [TrackReport]) -> String {
        tracks.isEmpty ? "none" : tracks.map { "\($0.audio?.channels ?? 0)" }.joined(separator: "+")
    }

    private static func rate(_ report: ProbeReport) -> String {
        let rate = report.tracks.lazy.compactMap(\.video?.frameRate?.nominal).first
        return rate.map { "\($0.num)/\($0.den)" } ?? "none"
    }

    private static func entry(_ id: String, _ measured: String, _ wanted: String) -> Entry {
        guard measured != wanted else { return Entry(id: id, outcome: .passed) }
        let subject = id.split(separator: "-").dropFirst().joined(separator: " ")
        return Entry(id: id, outcome: .failed([QCFact(subject: subject, measured: measured, wanted: wanted)]))
    }

    // MARK: Frames

    private func frames() throws(MediaError) -> [Entry] {
        guard let (track, ownTicks, times) = try frames(of: proxy), let (_, ticks, wanted) = try frames(of: source)
        else {
            let reason = QCOutcome.notApplicable("one of the two has no pictures")
            return ["proxy-frame-count", "proxy-frame-times"].map { Entry(id: $0, outcome: reason) }
        }
        let count = Self.entry("proxy-frame-count", "\(times.count)", "\(wanted.count)")
        // Each file rounds times to its own ticks.
        let slack = max(ownTicks, ticks)
        for (index, (time, other)) in zip(times, wanted).enumerated() where !Self.near(time, other, slack) {
            let fact = QCFact(
                subject: "frame \(index)", measured: time.description, wanted: other.description, trackIndex: track,
                range: .init(start: time, end: index + 1 < times.count ? times[index + 1] : time))
            return [count, Entry(id: "proxy-frame-times", outcome: .failed([fact]))]
        }
        return [count, Entry(id: "proxy-frame-times", outcome: .passed)]
    }

    private static func near(_ one: MediaTime, _ other: MediaTime, _ slack: MediaTime) -> Bool {
        one - other <= slack && other - one <= slack
    }

    /// Returns the first video track's index, one tick of its clock, and the times at which its frames are shown.
    private func frames(of asset: Asset) throws(MediaError) -> (Int, MediaTime, [MediaTime])? {
        let tracks = try asset.loadNow(.tracks)
        guard let track = tracks.first(where: { $0.mediaType == .video && !$0.isAttachedPicture }) else { return nil }
        var source = FrameTimes(asset, track: track, highest: .max, threads: threads)
        var times: [MediaTime] = []
        while true {
            do throws(MediaError) {
                times.append(try source.time(of: Int64(times.count)))
            } catch {
                guard error.code == .outOfRange else { throw error }
                return (track.index, MediaTime(value: 1, timescale: max(1, track.naturalTimeScale)), times)
            }
        }
    }
}

/// Compares the container's declarations about tracks with the coded media.
struct QCHeaderComparison {
    let tracks: [AssetTrack]
    let report: ProbeReport
    let measurements: QCMeasurements

    /// The tolerance of lengths in seconds, followed by the relative tolerance of rates.
    private static let lengthSlack = 0.1
    private static let rateSlack = 0.005

    /// The contradictions, track by track.
    var mismatches: [QCMeasurements.Mismatch] {
        measurements.tracks.flatMap { measured -> [QCMeasurements.Mismatch] in
            let index = measured.trackIndex
            guard let track = tracks.first(where: { $0.index == index }) else { return [] }
            let described = report.tracks.first { $0.index == index }
            var found: [(String, String, String)] = []
            if let pictures = measured.pictures {
                found += Self.size(track, pictures) + Self.timing(track, pictures)
                found += Self.headers(described?.video)
            }
            if let sound = measured.sound, measured.pairedTrackIndex == nil { found += Self.sound(track, sound) }
            // Streams without an index declare no lengths; the known length is libavformat's estimate.
            if ContainerFormat(report.container.format).statesNoLength { found.removeAll { $0.0 == "length" } }
            return found.map { .init(trackIndex: index, what: $0.0, container: $0.1, media: $0.2) }
        }
    }

    private static func size(_ track: AssetTrack, _ pictures: QCMeasurements.Pictures) -> [(String, String, String)] {
        var found: [(String, String, String)] = []
        let stated = track.containerSize ?? track.formatDescriptions.first?.video?.encodedSize
        if let stated, let size = pictures.size, stated != size { found.append(("size", text(stated), text(size))) }
        if pictures.sizeChanges > 0 {
            found.append(("size", "one size", "\(pictures.sizeChanges) changes"))
        }
        return found
    }

    private static func timing(_ track: AssetTrack, _ pictures: QCMeasurements.Pictures) -> [(String, String, String)] {
        var found: [(String, String, String)] = []
        guard let start = pictures.start, let last = pictures.lastStart, let usual = pictures.usualDuration,
            let end = pictures.end
        else { return [] }
        let over = (end - last - usual).seconds
        if pictures.isVariable == false, over > max(lengthSlack, 2 * usual.seconds) {
            found.append(("length", end.clockText(), (last + usual).clockText()))
        }
        let length = (last - start).seconds
        guard let nominal = track.nominalFrameRate, pictures.isVariable == false, pictures.count > 10, length > 0 else {
            return found
        }
        let rate = Double(pictures.count - 1) / length
        let ratio = rate / nominal.doubleValue
        // Some containers count fields.
        if ![0.5, 1, 2].contains(where: { abs(ratio / $0 - 1) <= rateSlack }) {
            found.append(("frameRate", "\(nominal.num)/\(nominal.den)", QCEvaluation.decimals(rate, 3)))
        }
        return found
    }

    private static func headers(_ video: VideoReport?) -> [(String, String, String)] {
        var found: [(String, String, String)] = []
        if let color = video?.color, color.conflict == true, let container = color.container, let stream = color.stream
        {
            found.append(("color", text(container), text(stream)))
        }
        if let fields = video?.fields, fields.conflict == true, let container = fields.container,
            let stream = fields.stream
        {
            found.append(("fields", container, stream))
        }
        return found
    }

    private static func sound(_ track: AssetTrack, _ sound: QCMeasurements.Sound) -> [(String, String, String)] {
        var found: [(String, String, String)] = []
        let format = track.formatDescriptions.first?.audio
        // AAC's spectral band replacement doubles the rate, and containers may declare either.
        let stated = track.containerSampleRate ?? format?.sampleRate
        if let stated, stated > 0, sound.sampleRate != stated, sound.sampleRate != 2 * stated {
            found.append(("sampleRate", "\(stated)", "\(sound.sampleRate)"))
        }
        if let channels = format?.channels, channels > 0, channels != sound.channels.count {
            found.append(("channels", "\(channels)", "\(sound.channels.count)"))
        }
        let end = track.timeRange.end
        if end.isNumeric, abs((end - sound.duration).seconds) > lengthSlack {
            found.append(("length", end.clockText(), sound.duration.clockText()))
        }
        return found
    }

    private static func text(_ size: Dimensions) -> String { "\(size.width)x\(size.height)" }

    private static func text(_ color: ColorInfo) -> String {
        [color.primaries, color.transfer, color.matrix, color.range].map { $0 ?? "-" }.joined(separator: "/")
    }
}
