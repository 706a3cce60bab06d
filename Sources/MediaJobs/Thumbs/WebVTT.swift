import MediaBase

/// An index of pictures as WebVTT (W3C), as players read it to show a picture of the place under the pointer.
struct WebVTT {
    /// A stretch of time and what is shown for it.
    struct Cue: Hashable {
        /// Thousandths of a second from the presentation's beginning.
        let start: Int64
        /// The same; later than ``start``.
        let end: Int64
        /// A URL reference, with `#xywh=` where it is a part of a picture.
        let text: String
    }

    /// The cues in order of time; none is empty, and each begins where the one before ends.
    let cues: [Cue]

    /// Makes a cue of every picture, from when it is shown to the next one; the first begins with the range, and the last
    /// ends with it.
    ///
    /// Times are rounded to thousandths, half away from zero, both sides of a border alike. A picture for which not even
    /// one thousandth remains, or whose time is no number, has no cue.
    ///
    /// - Parameters:
    ///   - pictures: When each is shown, in any order, and what refers to it; of several at one time the first counts.
    ///   - range: What the index is for.
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
            // Of two pictures that begin in the same thousandth, the later one is on screen at its end.
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
