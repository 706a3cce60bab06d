internal import AssetKit
internal import MediaBase

/// Holds a proxy against the file that it stands for: what editors need to be the same to put one in the other's place.
struct QCProxyComparison {
    let proxy: Asset
    let source: Asset
    let threads: Int

    /// What was compared, and what differs.
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

    /// The first video track's index, one tick of its clock, and when each of its pictures is shown.
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
