internal import AssetKit
package import MediaBase
internal import SystemCalls
package import SystemPackage

/// Writes still images of one video file: the command `thumbs`.
///
/// The times that are asked for are worked out first, then sorted; one sweep over the file makes the images, and each
/// is written and let go before the next one is made, so that memory does not grow with their number.
package struct ThumbsJob: Sendable {
    /// The file that images are made of.
    package struct Input: Sendable {
        /// How the file was named; `-` where it is standard input.
        package let path: FilePath
        /// Whether it is standard input.
        package let isStandardInput: Bool
        /// Whether the file may make others be opened.
        package let allowsNestedFiles: Bool

        /// Makes an input; opens nothing.
        package init(path: FilePath, isStandardInput: Bool = false, allowsNestedFiles: Bool = false) {
            self.path = path
            self.isStandardInput = isStandardInput
            self.allowsNestedFiles = allowsNestedFiles
        }

        /// What `{stem}` stands for in names: the file's name without its last extension; `stdin` for standard input.
        package var stem: [UInt8] {
            guard !isStandardInput, let name = path.lastComponent?.bytes else { return Array("stdin".utf8) }
            guard let point = name.lastIndex(of: UInt8(ascii: ".")), point > 0 else { return name }
            return Array(name[..<point])
        }

        func asset(isPrecise: Bool) -> Asset {
            var options = Asset.Options()
            options.isPrecise = isPrecise
            options.allowsNestedFiles = allowsNestedFiles
            return isStandardInput ? .standardInput(options: options) : Asset(path: path, options: options)
        }
    }

    /// What is asked for.
    package let request: ThumbsRequest
    /// Where images go.
    package let destination: ThumbsDestination
    /// The format of the files.
    package let format: ThumbsFormat

    /// Makes a job, which may be run on any number of files, at once too.
    package init(_ request: ThumbsRequest, to destination: ThumbsDestination, format: ThumbsFormat = .png) {
        self.request = request
        self.destination = destination
        self.format = format
    }

    /// Makes the images of one file.
    ///
    /// An image that fails does not keep the others from being made; the report says of each what came of it.
    ///
    /// - Parameters:
    ///   - input: The file.
    ///   - outputs: Puts files in place.
    ///   - progress: Gets the done fraction of the work now and then.
    /// - Throws: what concerns the file as a whole: it cannot be read or has no pictures, its length is not known, names
    ///   would collide, or the reader of standard output is gone.
    package func run(
        on input: Input, outputs: OutputFileSet, progress: (Double) -> Void = { _ in }
    ) throws(MediaError) -> ThumbsReport {
        let (asset, track) = try open(input)
        let context = TimeExpression.Context(
            track, tracks: try asset.loadNow(.tracks), containerMetadata: try asset.loadNow(.metadata))
        var frames = FrameTimes(asset, track: track, highest: request.highestFrame ?? 0, threads: request.threads)
        let times = try ThumbsTimes(request, in: context) { number throws(MediaError) in try frames.time(of: number) }
        var files = try ThumbsFiles(
            destination, format: format, outputs: outputs, stem: input.stem, times: times.requested, context: context)

        var answers: [Result<ThumbsReport.Delivered, MediaError>?] = times.requested.map {
            if case .failure(let error) = $0 { .failure(error) } else { nil }
        }
        let half = times.spacing?.multiplied(by: 1, dividedBy: 2)
        let tolerance = request.tolerance ?? half.map { ThumbsRequest.Tolerance(before: $0, after: $0) } ?? .exact
        let moments = times.sweep
        let sweep = ThumbsSweep(asset, track: track, request: request, tolerance: tolerance)
        let format = format
        try sweep.run(moments.map(\.time)) { _, image throws(MediaError) in
            Result { () throws(MediaError) in try ThumbsFiles.Content(image.get(), format: format) }
        } deliver: { index, content throws(MediaError) in
            for place in moments[index].places {
                answers[place] = try Self.answer(content, place: place, files: &files)
            }
            progress(Double(index + 1) / Double(moments.count))
        }
        let images = zip(times.requested, answers).map { requested, answer in
            ThumbsReport.Image(
                requested: (try? requested.get()) ?? .invalid,
                result: answer ?? .failure(MediaError(.cancelled, "was not made")))
        }
        let damage = DamageSummary(sweep.damage)
        return ThumbsReport(
            trackIndex: track.index, trackID: track.id, images: images, damage: damage.isEmpty ? nil : damage)
    }

    private static func answer(
        _ content: Result<ThumbsFiles.Content, MediaError>, place: Int, files: inout ThumbsFiles
    ) throws(MediaError) -> Result<ThumbsReport.Delivered, MediaError> {
        guard case .success(let content) = content else { return content.map(\.delivered) }
        do throws(MediaError) {
            var delivered = content.delivered
            delivered.file = try files.write(content, place: place)
            return .success(delivered)
        } catch {
            if error.code == .brokenPipe, error.path == "-" { throw error }
            // The path of the error is to be the input's; which output failed is part of what is said.
            let place = error.path.map { "\($0): " } ?? ""
            return .failure(MediaError(error.code, place + error.message, cause: error.cause))
        }
    }

    /// Opens the file, and reads all its packets where the request depends on a length that the header only estimates.
    private func open(_ input: Input) throws(MediaError) -> (Asset, AssetTrack) {
        // A pipe can be read once only: what it needs is asked for at once.
        let asset = input.asset(isPrecise: input.isStandardInput && request.needsTimeRange)
        let track = try track(of: asset)
        guard request.needsTimeRange, !input.isStandardInput else { return (asset, track) }
        if try asset.loadNow(.providesPreciseDurationAndTiming), track.timeRange.end.isNumeric { return (asset, track) }
        let precise = input.asset(isPrecise: true)
        return (precise, try self.track(of: precise))
    }

    private func track(of asset: Asset) throws(MediaError) -> AssetTrack {
        let tracks = try asset.loadNow(.tracks)
        do throws(MediaError) {
            guard let wanted = request.track else { return try TrackSelector.standardTrack(of: .video, in: tracks) }
            return try wanted.track(of: .video, in: tracks)
        } catch {
            throw error.at(path: asset.displayName)
        }
    }
}
