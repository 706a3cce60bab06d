internal import AssetKit
internal import MediaBase

/// Holds what a container says of its tracks against the coded media in them.
struct QCHeaderComparison {
    let tracks: [AssetTrack]
    let report: ProbeReport
    let measurements: QCMeasurements

    /// By how much lengths may differ, in seconds, and rates, as a part.
    private static let lengthSlack = 0.1
    private static let rateSlack = 0.005

    private static let formatsWithoutLength: Set<String> = ["mpegts", "mpeg", "mpegvideo", "h264", "hevc", "aac"]

    /// What differs, track by track.
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
            // Streams without an index say nothing of lengths; what is known is libavformat's estimate.
            if Self.formatsWithoutLength.contains(report.container.format) { found.removeAll { $0.0 == "length" } }
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
        // AAC's spectral band replacement doubles the rate, and containers may say either.
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
