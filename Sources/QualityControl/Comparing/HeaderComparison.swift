internal import AssetKit
internal import Inspection
internal import MediaBase

/// Compares a proxy with its source in the properties that editors need to swap one for the other.
struct ProxyComparison {
    let proxy: Asset
    let source: Asset
    let threads: Int

    /// The comparison of one property.
    struct Entry {
        /// The rule's id.
        let id: String
        let outcome: Outcome
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
        return Entry(id: id, outcome: .failed([Violation(subject: subject, measured: measured, wanted: wanted)]))
    }

    // MARK: Frames

    private func frames() throws(MediaError) -> [Entry] {
        guard let (track, ownTicks, times) = try frames(of: proxy), let (_, ticks, wanted) = try frames(of: source)
        else {
            let reason = Outcome.notApplicable("one of the two has no pictures")
            return ["proxy-frame-count", "proxy-frame-times"].map { Entry(id: $0, outcome: reason) }
        }
        let count = Self.entry("proxy-frame-count", "\(times.count)", "\(wanted.count)")
        // Each file rounds times to its own ticks.
        let slack = max(ownTicks, ticks)
        for (index, (time, other)) in zip(times, wanted).enumerated() where !Self.near(time, other, slack) {
            let fact = Violation(
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
struct HeaderComparison {
    let tracks: [AssetTrack]
    let report: ProbeReport
    let measurements: Measurements

    /// The tolerance of lengths in seconds, followed by the relative tolerance of rates.
    private static let lengthSlack = 0.1
    private static let rateSlack = 0.005

    /// The contradictions, track by track.
    var mismatches: [Measurements.Mismatch] {
        measurements.tracks.flatMap { measured -> [Measurements.Mismatch] in
            let index = measured.trackIndex
            guard let track = tracks.first(where: { $0.index == index }) else { return [] }
            let described = report.tracks.first { $0.index == index }
            var found: [Found] = []
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

    /// A property, the container's value and that of the media.
    private typealias Found = (what: String, container: String, media: String)

    /// Returns a contradiction if two values are known and differ.
    private static func mismatch(_ what: String, _ container: String?, _ media: String?, if differs: Bool) -> [Found] {
        guard differs, let container, let media else { return [] }
        return [(what, container, media)]
    }

    private static func size(_ track: AssetTrack, _ pictures: Measurements.Pictures) -> [Found] {
        let stated = track.containerSize ?? track.formatDescriptions.first?.video?.encodedSize
        return mismatch("size", stated.map(text), pictures.size.map(text), if: stated != pictures.size)
            + mismatch("size", "one size", "\(pictures.sizeChanges) changes", if: pictures.sizeChanges > 0)
    }

    private static func timing(_ track: AssetTrack, _ pictures: Measurements.Pictures) -> [Found] {
        guard pictures.isVariable == false, let start = pictures.start, let last = pictures.lastStart,
            let usual = pictures.usualDuration, let end = pictures.end
        else { return [] }
        let found = mismatch(
            "length", end.clockText(), (last + usual).clockText(),
            if: (end - last - usual).seconds > max(lengthSlack, 2 * usual.seconds))
        let length = (last - start).seconds
        guard let nominal = track.nominalFrameRate, pictures.count > 10, length > 0 else { return found }
        let rate = Double(pictures.count - 1) / length
        let ratio = rate / nominal.doubleValue
        // Some containers count fields.
        let isNear = [0.5, 1, 2].contains { abs(ratio / $0 - 1) <= rateSlack }
        return found + mismatch("frameRate", "\(nominal.num)/\(nominal.den)", rate.text(decimals: 3), if: !isNear)
    }

    private static func headers(_ video: VideoReport?) -> [Found] {
        let (color, fields) = (video?.color, video?.fields)
        return mismatch("color", color?.container.map(text), color?.stream.map(text), if: color?.conflict == true)
            + mismatch(
                "fields", fields?.container?.rawValue, fields?.stream?.rawValue, if: fields?.conflict == true)
    }

    private static func sound(_ track: AssetTrack, _ sound: Measurements.Sound) -> [Found] {
        let format = track.formatDescriptions.first?.audio
        let (rate, channels, end) = (sound.sampleRate, sound.channels.count, track.timeRange.end)
        // AAC's spectral band replacement doubles the rate, and containers may declare either.
        let stated = track.containerSampleRate ?? format?.sampleRate ?? 0
        let declared = format?.channels ?? 0
        return mismatch("sampleRate", "\(stated)", "\(rate)", if: stated > 0 && rate != stated && rate != 2 * stated)
            + mismatch("channels", "\(declared)", "\(channels)", if: declared > 0 && declared != channels)
            + mismatch(
                "length", end.clockText(), sound.duration.clockText(),
                if: end.isNumeric && abs((end - sound.duration).seconds) > lengthSlack)
    }

    private static func text(_ size: Dimensions) -> String { "\(size.width)x\(size.height)" }

    private static func text(_ color: ColorInfo) -> String {
        [color.primaries, color.transfer, color.matrix, color.range].map { $0 ?? "-" }.joined(separator: "/")
    }
}
