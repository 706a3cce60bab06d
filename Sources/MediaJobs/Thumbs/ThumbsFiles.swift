import AssetKit
import MediaBase
import Pictures
import SystemCalls
import SystemPackage

/// Names the image files of one input, and writes them.
struct ThumbsFiles {
    private let destination: ThumbsDestination
    private let format: ThumbsFormat
    private let outputs: OutputFileSet
    private let stem: [UInt8]
    private let context: TimeExpression.Context
    private let times: [Result<MediaTime, MediaError>]
    private let indexDigits: Int
    private var madeFolder: FilePath?

    /// An image as a file's bytes, and what is known of it.
    struct Content: Sendable {
        /// The file's bytes.
        let bytes: [UInt8]
        /// What the report says of it, still without a file.
        let delivered: ThumbsReport.Delivered

        /// Encodes an image.
        init(_ image: ImageGenerator.GeneratedImage, format: ThumbsFormat) throws(MediaError) {
            bytes = try format.encode(image.image)
            delivered = ThumbsReport.Delivered(
                actual: image.actualTime, duration: image.duration, file: nil,
                size: Dimensions(width: image.image.width, height: image.image.height), isKeyframe: image.isKeyframe)
        }
    }

    /// Makes sure that every image has a name of its own, before anything is written.
    ///
    /// - Parameters:
    ///   - stem: What `{stem}` stands for.
    ///   - times: The times asked for, in their order.
    ///   - context: What tells the timecode of a time.
    /// - Throws: `invalidArgument` where two images would have the same name, or several go to standard output.
    init(
        _ destination: ThumbsDestination, format: ThumbsFormat, outputs: OutputFileSet, stem: [UInt8],
        times: [Result<MediaTime, MediaError>], context: TimeExpression.Context
    ) throws(MediaError) {
        self.destination = destination
        self.format = format
        self.outputs = outputs
        self.stem = stem
        self.context = context
        self.times = times
        indexDigits = max(3, String(times.count).utf8.count)
        try checkNames()
    }

    private func checkNames() throws(MediaError) {
        guard case .files(let template) = destination else {
            guard times.count <= 1 else {
                throw MediaError(
                    .invalidArgument, "standard output takes one image, not \(times.count); name a folder with -o")
            }
            return
        }
        guard times.count > 1, !template.contains(.index) else { return }
        var names: Set<[UInt8]> = []
        for place in times.indices {
            let name = name(template, of: place, size: nil)
            guard names.insert(name).inserted else {
                throw MediaError(
                    .invalidArgument,
                    "several images would be named \(FilePath(bytes: name).string); put {index} into the name")
            }
        }
    }

    /// Writes the image of one time, and puts it in place.
    ///
    /// - Returns: The file; `nil` for standard output.
    mutating func write(_ content: Content, place: Int) throws(MediaError) -> FilePath? {
        let path: FilePath
        switch destination {
        case .standardOutput: path = "-"
        case .files(let template):
            path = FilePath(bytes: name(template, of: place, size: content.delivered.size))
        }
        do {
            try makeFolder(of: path)
            // Each image is put in place at once: thousands of open files are more than a process may have.
            let output = outputs.setForAnotherJob()
            try output.begin(path).write(contentsOf: content.bytes)
            try output.commit()
        } catch let error as MediaError {
            throw error
        } catch {
            throw MediaError(.inputOutput, "cannot be written", path: path.string, cause: "\(error)")
        }
        return destination == .standardOutput ? nil : path
    }

    private mutating func makeFolder(of path: FilePath) throws {
        let folder = path.removingLastComponent()
        guard destination != .standardOutput, !folder.isEmpty, folder != madeFolder else { return }
        try createFolder(at: folder)
        madeFolder = folder
    }

    private func name(_ template: ThumbsNameTemplate, of place: Int, size: Dimensions?) -> [UInt8] {
        let time = (try? times[place].get()) ?? .invalid
        return template.name { field in
            let text: String? =
                switch field {
                case .stem: nil
                case .index: zeroPadded(String(place + 1), to: indexDigits)
                case .seconds: Self.seconds(time)
                case .timecode: timecode(time)
                case .width: size.map { String($0.width) }
                case .height: size.map { String($0.height) }
                case .ext: format.fileExtension
                }
            return field == .stem ? stem : text.map { Array($0.utf8) }
        }
    }

    private static func seconds(_ time: MediaTime) -> String {
        let thousandths = time.converted(toTimescale: 1000)
        guard thousandths.isNumeric else { return time.description }
        let digits = zeroPadded(String(thousandths.value.magnitude), to: 4)
        return (thousandths.value < 0 ? "-" : "") + digits.dropLast(3) + "." + digits.suffix(3)
    }

    private func timecode(_ time: MediaTime) -> String {
        var text = time.clockText()
        if let rate = context.startTimecode?.rate ?? context.frameRate.flatMap({ try? Timecode.Rate(frameRate: $0) }) {
            // A frame's own time may have been rounded down to a tick; half a tick more is still the same frame.
            let slack = context.timestampScale.map {
                MediaTime(value: 1, timescale: $0).multiplied(by: 1, dividedBy: 2)
            }
            let elapsed = time - context.timecodeOrigin + (context.startTimecode?.time ?? .zero) + (slack ?? .zero)
            if let timecode = try? Timecode(elapsed: elapsed, rate: rate) { text = timecode.description }
        }
        return String(text.map { $0 == ":" || $0 == ";" ? "-" : $0 })
    }
}

extension ThumbsFormat {
    /// The image as a file.
    func encode(_ bitmap: Bitmap) throws(MediaError) -> [UInt8] {
        switch self {
        case .png: try PNGFile.encode(bitmap)
        }
    }
}

private func zeroPadded(_ digits: String, to width: Int) -> String {
    String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}
