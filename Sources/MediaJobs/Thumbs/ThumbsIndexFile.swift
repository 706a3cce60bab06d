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
            file = try self.outputs.beginInFolder(path)
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
