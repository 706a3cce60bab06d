import MediaBase
import SystemCalls
import SystemPackage

/// The WebVTT file of one input, opened early so that an unwritable path is reported before the work starts.
struct ThumbsIndexFile {
    /// The path as it was given.
    let path: FilePath
    private let file: OutputFile
    private let outputs: OutputFileSet

    /// Opens the file and creates missing folders.
    init(_ path: FilePath, outputs: OutputFileSet) throws(MediaError) {
        self.path = path
        self.outputs = outputs.isWhole ? outputs : outputs.setForAnotherJob()
        do {
            let folder = path.removingLastComponent()
            if !folder.isEmpty { try createFolder(at: folder) }
            file = try self.outputs.begin(path)
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// Writes an index of the delivered images, and puts it in place unless its set does so later.
    ///
    /// - Returns: The number of cues.
    func write(
        _ answers: [Result<ThumbsReport.Delivered, MediaError>?], range: MediaTimeRange
    ) throws(MediaError) -> Int {
        let delivered = answers.compactMap { try? $0?.get() }
        var range = range
        // A track of unknown length ends with its last image.
        if !range.end.isNumeric, let last = delivered.max(by: { $0.actual < $1.actual }) {
            range = MediaTimeRange(start: .zero, end: last.actual + last.duration)
        }
        let pictures = delivered.compactMap { image in
            reference(to: image).map { (time: image.actual, reference: $0) }
        }
        let index = WebVTT(pictures, range: range)
        do {
            try file.complete(with: Array(index.text.utf8))
            if !outputs.isWhole { try outputs.commit() }
        } catch {
            throw Self.failure(error, path)
        }
        return index.cues.count
    }

    private func reference(to image: ThumbsReport.Delivered) -> String? {
        if let sheet = image.sheet {
            let part = "\(sheet.x),\(sheet.y),\(sheet.size.width),\(sheet.size.height)"
            return URLReference.relative(to: sheet.file, from: path) + "#xywh=" + part
        }
        return image.file.map { URLReference.relative(to: $0, from: path) }
    }

    private static func failure(_ error: any Error, _ path: FilePath) -> MediaError {
        (error as? MediaError ?? MediaError(.inputOutput, "cannot be written", cause: "\(error)")).at(path: path.string)
    }
}

/// A relative URL reference from one file to another, as used in web pages.
///
/// All bytes outside RFC 3986's unreserved set are percent-encoded.
enum URLReference {
    /// Returns the reference to `file` for use in a document at `document`.
    ///
    /// Paths are compared by name only, because browsers do not resolve symbolic links.
    static func relative(to file: FilePath, from document: FilePath) -> String {
        let target = file.absolute.components.map(\.bytes)
        let base = document.absolute.components.map(\.bytes).dropLast()
        let shared = zip(target.dropLast(), base).prefix { $0 == $1 }.count
        let steps = [String](repeating: "..", count: base.count - shared)
        return (steps + target.dropFirst(shared).map(escaped)).joined(separator: "/")
    }

    private static func escaped(_ name: [UInt8]) -> String {
        var text = ""
        for byte in name {
            let scalar = Unicode.Scalar(byte)
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~": text.unicodeScalars.append(scalar)
            default: text += "%" + padded(byte, to: 2, radix: 16).uppercased()
            }
        }
        return text
    }
}

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
