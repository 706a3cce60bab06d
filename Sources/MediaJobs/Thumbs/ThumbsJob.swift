package import AssetKit
package import MediaBase
internal import Pictures
internal import SystemCalls
package import SystemPackage

/// Writes still images of one video file: the command `thumbs`.
///
/// The times that are asked for are worked out first, then sorted; one sweep over the file makes the images, and each
/// is written and let go before the next one is made, so that memory does not grow with their number. Only scenes, and
/// the best frames near each time, take a look at the pictures before that sweep.
package struct ThumbsJob: Sendable {
    /// The file that images are made of.
    package struct Input: Sendable {
        /// How the file was named; `-` where it is standard input.
        package let path: FilePath
        /// Whether it is standard input.
        package let isStandardInput: Bool
        /// How it is opened.
        package let options: Asset.Options

        /// What is read in its place, such as a timeline; `nil` for the file itself.
        private let made: Asset?

        /// Makes an input; opens nothing.
        ///
        /// - Parameter asset: What is read, where the file only says how that is made.
        package init(
            path: FilePath, isStandardInput: Bool = false, options: Asset.Options = Asset.Options(),
            asset: Asset? = nil
        ) {
            self.path = path
            self.isStandardInput = isStandardInput
            self.options = options
            made = asset
        }

        /// What `{stem}` stands for in names: the file's name without its last extension; `stdin` for standard input.
        package var stem: [UInt8] { isStandardInput ? FilePath("-").inputStem : path.inputStem }

        /// - Parameters:
        ///   - isPrecise: Whether all packets are read, for the exact length.
        ///   - isReadAgain: Whether a pipe has to be read more than once.
        func asset(isPrecise: Bool, isReadAgain: Bool = false) -> Asset {
            if let made { return made }
            var options = options
            options.isPrecise = isPrecise
            options.spoolsPipe = isReadAgain
            return isStandardInput ? .standardInput(options: options) : Asset(path: path, options: options)
        }
    }

    /// What is asked for.
    package let request: ThumbsRequest
    /// What is written, and where.
    package let output: ThumbsOutput

    /// Makes a job, which may be run on any number of files, at once too.
    package init(_ request: ThumbsRequest, output: ThumbsOutput) {
        self.request = request
        self.output = output
    }

    /// Makes the images of one file.
    ///
    /// An image that fails does not keep the others from being made; the report says of each what came of it. Sheets and
    /// their index, and all files of a strict request, are put in place together at the end, or not at all.
    ///
    /// - Parameters:
    ///   - input: The file.
    ///   - outputs: Puts files in place.
    ///   - progress: Gets the done fraction of the work now and then.
    ///   - announce: Gets each file as it is complete, in rising order of time. What it throws ends the work.
    /// - Throws: what concerns the file as a whole: it cannot be read or has no pictures, its length is not known, names
    ///   would collide, a sheet would be too large, the reader of standard output is gone, one of several files that
    ///   belong together cannot be written, or anything is damaged, where the request is strict.
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
        let chosen =
            request.prefersBest
            ? try BestFrameSelection(asset: asset, track: track, request: request, times: times).chosen {
                progress((passes - 2 + $0) / passes)
            } : times.requested
        let moments = RequestedTimes.sweep(over: chosen)
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
        try sweep.run(moments.map(\.time)) { _, image throws(MediaError) in
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
        report.images = zip(times.requested.indices, zip(times.requested, writer.answers)).map { place, answer in
            ThumbsReport.Image(
                requested: (try? answer.0.get()) ?? .invalid, requestedText: request.text(ofTime: place),
                result: answer.1 ?? .failure(MediaError(.cancelled, "was not made")))
        }
        report.damage = damage.isEmpty ? nil : damage
        report.warnings = [times.warning].compactMap(\.self)
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
            try outputs.commitAll()
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
        // Each of the times is a sync sample's own.
        if case .keyframes = request.times { return .keyframe }
        let half = spacing?.multiplied(by: 1, dividedBy: 2)
        return half.map { ThumbsRequest.Tolerance(before: $0, after: $0) } ?? .exact
    }

    /// Opens the file, and reads all its packets where the request depends on a length that the header only estimates.
    private func open(_ input: Input) throws(MediaError) -> (Asset, AssetTrack) {
        // A pipe can be named once only: what it needs is asked for at once, and where it takes more than one way through
        // the pictures, the pipe is kept.
        let readsAgain = request.needsTimeRange || request.highestFrame != nil || output.needsFrameNumbers
        let asset = input.asset(isPrecise: input.isStandardInput && request.needsTimeRange, isReadAgain: readsAgain)
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

    /// Why nothing of a track can be decoded, where its pictures' size says so; `nil` where that is a usual one.
    private func sizeProblem(of track: AssetTrack) -> MediaError? {
        let size = track.formatDescriptions.first?.video?.encodedSize ?? Dimensions(width: 0, height: 0)
        let (pixels, overflow) = size.width.multipliedReportingOverflow(by: size.height)
        let limit = Bitmap.maximumPixelCount
        // libavcodec forgets a size that it does not take.
        if pixels == 0 {
            return MediaError(.damaged, "its pictures have no size, or one of more than \(limit) pixels")
        }
        guard overflow || pixels > limit else { return nil }
        return MediaError(.limitExceeded, "its pictures of \(size) have more than \(limit) pixels")
    }
}
