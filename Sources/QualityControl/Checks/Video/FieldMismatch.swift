internal import AssetKit
internal import MediaAnalysis

extension Check {
    static let fieldMismatch = Check(
        "fieldMismatch",
        "fraction of the moving frames that look (as by ffmpeg's `idet`, on two lines in eight) interlaced but are not flagged so, progressive but are flagged interlaced, or as if the other field came first",
        of: .video, standard: ValueTest(maximum: 0.1),
        example: Example(passes: "h264-interlaced.mp4", fails: "qc-hidden-fields.mkv"),
        missing: "the file has no pictures that move enough to tell",
        measurement: VideoMeasurer { _ in FieldMeasurement() },
        verdict: .video { $0.fields.flatMap { fields in fields.mismatch.map { .number($0, 0, words: fields.text) } } })
}

private struct FieldMeasurement: VideoMeasurement {
    private var tally = FieldTally()
    /// The frame before the previous one.
    private var before: PixelBuffer?

    mutating func measure(_ frame: VideoFrame) {
        if let previous = frame.previous, let before, let look = frame.look(ofPrevious: previous, before: before) {
            tally.add(look, flagged: previous.isInterlaced ? previous.isTopFieldFirst : nil)
        }
        before = frame.previous
    }

    func finish(_ track: inout Measurements.Track, _ clock: VideoClock) { track.pictures?.fields = .init(tally) }
}

extension Measurements.Fields {
    fileprivate var text: String {
        var parts: [String] = []
        if hiddenInterlaced > 0 { parts.append("\(hiddenInterlaced) look interlaced and are not flagged so") }
        if hiddenProgressive > 0 { parts.append("\(hiddenProgressive) look progressive and are flagged interlaced") }
        if swapped > 0 { parts.append("\(swapped) look as if the other field came first") }
        return parts.joined(separator: ", ") + ", of \(count) moving pictures"
    }
}
