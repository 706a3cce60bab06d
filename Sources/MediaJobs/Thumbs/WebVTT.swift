internal import MediaBase

/// An index of pictures as WebVTT (W3C), which players use to show a preview of the position under the pointer.
struct WebVTT {
    /// A time interval and the picture shown for it.
    struct Cue: Hashable {
        /// The start time in milliseconds from the start of the presentation.
        let start: Int64
        /// The end time in milliseconds, later than ``start``.
        let end: Int64
        /// A URL reference, with `#xywh=` if it denotes a part of a picture.
        let text: String
    }

    /// The cues in order of time; none is empty, and each starts at the end of the previous one.
    let cues: [Cue]

    /// Creates a cue for every picture, from its start time to that of the next one.
    ///
    /// The first cue starts with the range, and the last ends with it. Times are rounded to milliseconds, half away
    /// from zero, so that adjacent cues share the same rounded time. A picture with less than one millisecond left, or
    /// with a non-numeric time, has no cue.
    ///
    /// - Parameters:
    ///   - pictures: The start time of each picture, in any order, and the reference to it; of several at one time the
    ///     first is used.
    ///   - range: The time range that the index covers.
    init(_ pictures: [(time: MediaTime, reference: String)], range: MediaTimeRange) {
        let ordered = pictures.enumerated().filter(\.element.time.isNumeric).sorted {
            ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
        }.map(\.element)
        let first = Self.thousandths(range.start)
        var borders: [(start: Int64, reference: String)] = []
        var last: MediaTime?
        for picture in ordered where picture.time != last {
            last = picture.time
            let start = borders.isEmpty ? first : max(first, Self.thousandths(picture.time))
            // Of two pictures that start in the same millisecond, the later one is on screen at its end.
            if borders.last?.start == start { borders.removeLast() }
            borders.append((start, picture.reference))
        }
        let end = max(Self.thousandths(range.end), first + 1)
        cues = borders.indices.compactMap { index in
            let from = borders[index].start
            let to = index + 1 < borders.count ? min(borders[index + 1].start, end) : end
            return from < to ? Cue(start: from, end: to, text: borders[index].reference) : nil
        }
    }

    /// The file's text.
    var text: String {
        var text = "WEBVTT\n"
        for cue in cues {
            text += "\n\(Self.clock(cue.start)) --> \(Self.clock(cue.end))\n\(cue.text)\n"
        }
        return text
    }

    private static func thousandths(_ time: MediaTime) -> Int64 {
        let rounded = time.converted(toTimescale: 1000)
        let latest = Int64.max / 2
        guard rounded.isNumeric else { return time > .zero ? latest : 0 }
        return min(max(0, rounded.value), latest)
    }

    private static func clock(_ thousandths: Int64) -> String {
        MediaTime(value: thousandths, timescale: 1000).clockText()
    }
}
