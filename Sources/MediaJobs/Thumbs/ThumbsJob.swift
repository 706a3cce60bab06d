package import AssetKit
package import MediaBase
internal import Pictures
internal import SystemCalls
package import SystemPackage

/// Writes still images of one video file: the command `thumbs`.
///
/// The job resolves the requested times and sorts them. One sweep over the file then makes the images; each is written
/// and released before the next is made, so memory use does not grow with their number. Finding scenes, or the best
/// frame near each time, takes an additional pass over the video before that sweep.
package struct ThumbsJob: Sendable {
    /// The file that images are made from.
    package struct Input: Sendable {
        /// The path, after which outputs are named; `-` for standard input.
        package let path: FilePath
        /// Indicates whether the input is standard input.
        package let isStandardInput: Bool
        /// The options for opening the file.
        package let options: Asset.Options

        /// The asset that replaces the file, such as a timeline; `nil` to open the file itself.
        private let made: Asset?
        private let open: @Sendable (Asset.Options) -> Asset

        /// Creates an input without opening anything.
        ///
        /// - Parameters:
        ///   - path: The path, after which outputs are named; `-` for standard input.
        ///   - isStandardInput: True if it is standard input.
        ///   - options: The options for opening the file.
        ///   - asset: The asset to read if the file is only a description of it.
        ///   - open: Returns the file as an asset; called on any thread.
        package init(
            path: FilePath, isStandardInput: Bool, options: Asset.Options, asset: Asset?,
            open: @escaping @Sendable (Asset.Options) -> Asset
        ) {
            self.path = path
            self.isStandardInput = isStandardInput
            self.options = options
            made = asset
            self.open = open
        }

        /// The value of `{stem}` in names: the file's name without its last extension; `stdin` for standard input.
        package var stem: [UInt8] { isStandardInput ? FilePath("-").inputStem : path.inputStem }

        /// - Parameters:
        ///   - isPrecise: True to read all packets for the exact duration.
        ///   - isReadAgain: True if a pipe has to be read more than once.
        func asset(isPrecise: Bool, isReadAgain: Bool = false) -> Asset {
            if let made { return made }
            var options = options
            options.isPrecise = isPrecise
            options.spoolsPipe = isReadAgain
            return open(options)
        }
    }

    /// The requested images.
    package let request: ThumbsRequest
    /// The files to write and their locations.
    package let output: ThumbsOutput

    /// Creates a job, which can run on any number of files, also concurrently.
    package init(_ request: ThumbsRequest, output: ThumbsOutput) {
        self.request = request
        self.output = output
    }

    /// Makes the images of one file.
    ///
    /// An image that fails does not prevent the others; the report has a result for each. Sheets and their index, and
    /// all files of a strict request, are put in place together at the end, or not at all.
    ///
    /// - Parameters:
    ///   - input: The file.
    ///   - outputs: Puts files in place.
    ///   - progress: Receives the completed fraction of the work from time to time.
    ///   - announce: Receives each file when it is complete, in ascending order of time. Throws to end the work.
    /// - Throws: Errors that concern the file as a whole: it cannot be read or has no video, its duration is not known,
    ///   names would collide, a sheet would be too large, the reader of standard output has closed it, one of several
    ///   files that belong together cannot be written, or the request is strict and anything is damaged.
    package func run(
        on input: Input, outputs: OutputFileSet, progress: (Double) -> Void = { _ in },
        announce: (ThumbsEvent) throws(MediaError) -> Void = { _ in }
    ) throws(MediaError) -> ThumbsReport {
        let (asset, track) = try open(input)
        let outputs = outputs.limited(to: try asset.outputAllowance())
            .setForAnotherJob(isWhole: request.isStrict || output.belongsTogether)
        let context = try TimeExpression.Context(track, in: asset)
        let needsFrames = output.needsFrameNumbers
        var frames = FrameTimes(
            asset, track: track, highest: needsFrames ? .max : request.highestFrame ?? 0, threads: request.threads)
        let passes = Double(request.passes)
        let times = try times(in: context, asset, track, &frames) { progress($0 / passes) }
        let names = ThumbsNames(
            stem: input.stem, format: output.format, times: times.requested,
            frames: needsFrames ? try frames.numbers(at: times.requested) : [], context: context)
        let files = try output.images.map { destination throws(MediaError) in
            try ThumbsFiles(destination, outputs: outputs, names: names)
        }
        let index = try output.index.map { template throws(MediaError) in
            try ThumbsIndexFile(FilePath(bytes: names.sheet(template, number: 0, size: nil)), outputs: outputs)
        }
        var chosen = BestFrameSelection.Choice(times: times.requested)
        if request.prefersBest {
            chosen = try BestFrameSelection(asset: asset, track: track, request: request, times: times).chosen {
                progress((passes - 2 + $0) / passes)
            }
        }
        let moments = RequestedTimes.sweep(over: chosen.times)
        let sheets = try output.sheets.map { sheets throws(MediaError) in
            try ThumbsSheets(
                sheets, of: output, outputs: outputs, names: names, expected: moments.count,
                header: sheets.hasHeader ? ContactSheetHeader.lines(input, asset, track: track) : [])
        }
        var writer = ThumbsWriter(times.requested, files: files, sheets: sheets, isWhole: outputs.isWhole)
        var complete: [ThumbsEvent] = []
        func tell(_ event: ThumbsEvent) throws(MediaError) {
            if outputs.isWhole { complete.append(event) } else { try announce(event) }
        }
        let sweep = FrameExtraction(
            asset, track: track, request: request.boxed(for: track, onSheets: output.sheets != nil),
            tolerance: tolerance(spacing: times.spacing), range: times.limit)
        let (wanted, exactSize, sizeProblem) = (output, request.exactSize, sizeProblem(of: track))
        try sweep.run(moments.map(\.time), passed: chosen.frames) { _, image throws(MediaError) in
            Result { () throws(MediaError) in
                let image = image.mapError { $0.code == .damaged ? sizeProblem ?? $0 : $0 }
                return try ThumbsWriter.Content(image.get(), exactSize: exactSize, output: wanted)
            }
        } deliver: { index, content throws(MediaError) in
            try writer.deliver(content, to: moments[index].places, announce: tell)
            progress((passes - 1 + Double(index + 1) / Double(moments.count)) / passes)
        }
        try writer.finish(announce: tell)
        let damage = DamageSummary(sweep.damage)
        if request.isStrict, let error = damage.strictError { throw error }
        var report = ThumbsReport(trackIndex: track.index, trackID: track.id)
        report.duration = track.timeRange.duration
        report.images = zip(times.requested.indices, zip(times.requested, writer.answers)).map { place, answer in
            ThumbsReport.Image(
                requested: (try? answer.0.get()) ?? .invalid, requestedText: request.text(ofTime: place),
                result: answer.1 ?? .failure(MediaError(.cancelled, "was not made")))
        }
        report.damage = damage.isEmpty ? nil : damage
        report.missingCharacters = writer.missingCharacters
        report.warnings = [times.warning, asset.warning(ofThreadsFor: track, wanted: request.threads)].compactMap(
            \.self)
        if let index, report.images.contains(where: { (try? $0.result.get()) != nil }) {
            do throws(MediaError) {
                let cues = try index.write(writer.answers, range: times.range)
                report.index = index.path
                try tell(.index(index.path, cues: cues))
            } catch {
                if outputs.isWhole || error.isGoneReader { throw error.ofOutput }
                report.errors.append(error.ofOutput)
            }
        }
        do throws(MediaError) {
            try outputs.commit()
        } catch {
            throw error.ofOutput
        }
        for event in complete { try announce(event) }
        return report
    }

    private func times(
        in context: TimeExpression.Context, _ asset: Asset, _ track: AssetTrack, _ frames: inout FrameTimes,
        progress: (Double) -> Void
    ) throws(MediaError) -> RequestedTimes {
        try RequestedTimes(request, in: context) { number throws(MediaError) in
            try frames.time(of: number)
        } firstPicture: { () throws(MediaError) in
            guard try asset.mayBeginUndecodable() else { return nil }
            return try frames.allTimes().first
        } find: { range throws(MediaError) in
            try withoutActuallyEscaping(progress) { progress throws(MediaError) in
                let found = ContentTimes(asset: asset, track: track, threads: request.threads, progress: progress)
                if case .scenes(let threshold) = request.times {
                    return try found.scenes(in: range, threshold: threshold)
                }
                return try found.syncSamples(in: range)
            }
        }
    }

    private func tolerance(spacing: MediaTime?) -> ThumbsRequest.Tolerance {
        if request.prefersBest { return .exact }
        if let asked = request.tolerance { return asked }
        // Each of the times is the exact time of a sync sample.
        if case .keyframes = request.times { return .keyframe }
        let half = spacing?.multiplied(by: 1, dividedBy: 2)
        return half.map { ThumbsRequest.Tolerance(before: $0, after: $0) } ?? .exact
    }

    /// Opens the file, and reads its last packets, or all, if the request depends on an end that the header does not state.
    private func open(_ input: Input) throws(MediaError) -> (Asset, AssetTrack) {
        // A pipe can be opened only once, so exact timing is requested at once. If the pipe has to be read more than
        // once, its data is kept.
        let readsAgain = request.needsTimeRange || request.highestFrame != nil || output.needsFrameNumbers
        let asset = input.asset(isPrecise: input.isStandardInput && request.needsTimeRange, isReadAgain: readsAgain)
        let track = try track(of: asset)
        guard request.needsTimeRange, !input.isStandardInput else { return (asset, track) }
        if try asset.loadNow(.providesPreciseDurationAndTiming), track.timeRange.end.isNumeric { return (asset, track) }
        if let settled = try asset.findEnd(of: track) { return (asset, settled) }
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

    /// Returns the error to report for a track that cannot be decoded because of its size; `nil` if the size is usual.
    private func sizeProblem(of track: AssetTrack) -> MediaError? {
        let size = track.formatDescriptions.first?.video?.encodedSize ?? Dimensions(width: 0, height: 0)
        let (pixels, overflow) = size.width.multipliedReportingOverflow(by: size.height)
        let limit = Bitmap.maximumPixelCount
        // libavcodec clears a size that it does not accept.
        if pixels == 0 {
            return MediaError(.damaged, "its pictures have no size, or one of more than \(limit) pixels")
        }
        guard overflow || pixels > limit else { return nil }
        return MediaError(.limitExceeded, "its pictures of \(size) have more than \(limit) pixels")
    }
}
