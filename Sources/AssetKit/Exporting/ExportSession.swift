import LibAV
public import MediaBase
import SystemPackage
import Threading

/// Writes an asset, or a part of it, to a new file according to a preset: `AVAssetExportSession`.
///
/// ```swift
/// let session = ExportSession(asset: asset, preset: .size1280x720)
/// session.timeRange = MediaTimeRange(start: .zero, duration: MediaTime(value: 10, timescale: 1))
/// async let done: Void = session.export(to: "out.mov", as: .mov)
/// for await state in session.states(updateInterval: .milliseconds(200)) { print(state) }
/// try await done
/// ```
///
/// With a preset, the first enabled video track is written, and one audio track: the mix of those that play together
/// (``audioTracks``). With ``Preset/passthrough``, all video and audio tracks are written, and also the tracks of text,
/// timecode and data that the file can hold. ``leftOut`` lists the tracks that are not written. A video composition merges
/// all video tracks into one. ``init(asset:tracks:)`` takes any choice of tracks, each with its own settings; the commands
/// `proxy` and `export` are made with it.
///
/// A session exports once. It may be cancelled from any thread at any time.
public final class ExportSession: Sendable {
    /// The asset to export.
    public let asset: Asset
    /// The preset for the output; `nil` if the tracks were chosen one by one.
    public let preset: Preset?
    private let chosenTracks: [Track]

    private let settings = Mutex(Settings())
    private let progressState = Mutex(Stage())
    private let cancellation = Cancellation()

    private struct Settings: Sendable {
        var timeRange = MediaTimeRange(start: .zero, duration: .positiveInfinity)
        var metadata: [MetadataItem]?
        var isIndexFirst = true
        var fragmentInterval = MediaTime.invalid
        var audioTracks = AudioTracks.mixed
        var audioMix: AudioMix?
        var timePitchAlgorithm = AudioTimePitchAlgorithm.spectral
        var videoComposition: VideoComposition?
        var startTimecode: String?
        var job = JobOptions()
    }

    private struct Stage: Sendable {
        var reencoder: Reencoder?
        var isStarted = false
        var end: MediaTime?
        var result: Result<Void, MediaError>?
        /// The error for a property that was set during the export.
        var misuse: MediaError?
    }

    /// The state of a session.
    public enum State: Sendable, Hashable {
        /// The export has not started.
        case pending
        /// The export is in progress; `progress` runs from 0 to 1.
        case exporting(progress: Double)
        /// The file is complete and in its place.
        case completed
        /// The export failed. Nothing remains of the file.
        case failed(MediaError)
        /// ``ExportSession/cancel()`` was called in time. Nothing remains of the file.
        case cancelled
    }

    /// Creates a session that has not started.
    public init(asset: Asset, preset: Preset) {
        self.asset = asset
        self.preset = preset
        chosenTracks = []
    }

    /// Creates a session that writes chosen tracks, in the order of the list.
    public init(asset: Asset, tracks: [Track]) {
        self.asset = asset
        preset = nil
        chosenTracks = tracks
    }

    deinit { cancel() }
}

// MARK: - Before exporting

extension ExportSession {
    /// Changes a setting; during the export, ends it with an error that reports that the change came too late.
    private func change(_ property: String, _ body: (inout Settings) -> Void) {
        let reencoder = progressState.withLock { stage in
            guard stage.isStarted else {
                settings.withLock { body(&$0) }
                return Reencoder?.none
            }
            stage.misuse = stage.misuse ?? .setTooLate(property, before: "exporting")
            return stage.reencoder
        }
        reencoder?.cancel()
    }

    /// The part of the asset to export; all of it by default.
    ///
    /// Start and end are rounded to the nearest times from which all times in the output can be counted exactly. They
    /// move by less than a hundred-thousandth of a second.
    ///
    /// Set this and the other properties before exporting. Setting one during the export ends it with an error that
    /// names the property.
    public var timeRange: MediaTimeRange {
        get { settings.withLock { $0.timeRange } }
        set { change("timeRange") { $0.timeRange = newValue } }
    }

    /// The metadata of the file; `nil`, the default, for that of the asset.
    public var metadata: [MetadataItem]? {
        get { settings.withLock { $0.metadata } }
        set { change("metadata") { $0.metadata = newValue } }
    }

    /// True, the default, to write the index of a QuickTime or MPEG-4 file before the media.
    public var shouldOptimizeForNetworkUse: Bool {
        get { settings.withLock { $0.isIndexFirst } }
        set { change("shouldOptimizeForNetworkUse") { $0.isIndexFirst = newValue } }
    }

    /// The duration of a fragment of a `mp4`, `m4a` or `mov` file; invalid, the default, for a file without fragments.
    ///
    /// See ``AssetWriter/movieFragmentInterval``.
    public var movieFragmentInterval: MediaTime {
        get { settings.withLock { $0.fragmentInterval } }
        set { change("movieFragmentInterval") { $0.fragmentInterval = newValue } }
    }

    /// The treatment of several audio tracks; ``AudioTracks/mixed`` by default.
    ///
    /// ``Preset/passthrough`` and chosen tracks always keep each one.
    public var audioTracks: AudioTracks {
        get { settings.withLock { $0.audioTracks } }
        set { change("audioTracks") { $0.audioTracks = newValue } }
    }

    /// The volumes of the audio tracks, which are mixed into one; `nil`, the default, for the tracks' own.
    public var audioMix: AudioMix? {
        get { settings.withLock { $0.audioMix } }
        set { change("audioMix") { $0.audioMix = newValue } }
    }

    /// The algorithm for segments of a composition whose audio plays faster or slower, in tracks for which ``audioMix`` has
    /// none; ``AudioTimePitchAlgorithm/spectral``, which keeps the pitch, by default.
    public var audioTimePitchAlgorithm: AudioTimePitchAlgorithm {
        get { settings.withLock { $0.timePitchAlgorithm } }
        set { change("audioTimePitchAlgorithm") { $0.timePitchAlgorithm = newValue } }
    }

    /// The composition of all video tracks into one; `nil`, the default, to use the first track unchanged.
    ///
    /// The output has the composition's size and frame rate to the extent that the preset allows.
    public var videoComposition: VideoComposition? {
        get { settings.withLock { $0.videoComposition } }
        set { change("videoComposition") { $0.videoComposition = newValue } }
    }

    /// The timecode of the first frame; `nil`, the default, for that of the source.
    public var startTimecode: String? {
        get { settings.withLock { $0.startTimecode } }
        set { change("startTimecode") { $0.startTimecode = newValue } }
    }

    /// The options of a job.
    package var job: JobOptions {
        get { settings.withLock { $0.job } }
        set { change("job") { $0.job = newValue } }
    }

    /// Returns the presets that can be used to export an asset.
    ///
    /// - Throws: Any error from opening the asset.
    public static func compatiblePresets(for asset: Asset) async throws(MediaError) -> [Preset] {
        let tracks = try await asset.load(.tracks)
        return Preset.allCases.filter { !$0.fileTypes(for: tracks).isEmpty }
    }

    /// Returns the file types that the preset can make from the asset, the usual one first; all types without a preset.
    ///
    /// - Throws: Any error from opening the asset.
    public func supportedFileTypes() async throws(MediaError) -> [MediaFileType] {
        fileTypes(for: try await asset.load(.tracks))
    }

    private func fileTypes(for tracks: [AssetTrack]) -> [MediaFileType] {
        preset?.fileTypes(for: tracks) ?? Array(MediaFileType.all)
    }

    /// Returns the approximate size of the file in bytes; `nil` if there is no basis for an estimate.
    ///
    /// - Throws: Any error from opening the asset.
    public func estimatedOutputFileLength() async throws(MediaError) -> Int64? {
        let tracks = try await asset.load(.tracks)
        let format = try await asset.load(.container).format
        let whole = MediaTimeRange(start: .zero, duration: try await asset.load(.duration))
        let length = Rational(timeRange.intersection(whole).duration)
        var bits = Rational.zero
        let media = preset?.tracks(of: tracks, in: format, audioTracks: audioTracks, mix: audioMix) ?? chosenTracks
        for track in media {
            guard let rate = track.estimatedBitRate, let sum = bits.adding(Rational(rate)) else { return nil }
            bits = sum
        }
        return length.flatMap { bits.multiplied(by: $0) }?.divided(by: Rational(8))?.rounded()
    }
}

// MARK: - Exporting

extension ExportSession {
    func claim() throws(MediaError) {
        let isFirst = progressState.withLock { stage in
            defer { stage.isStarted = true }
            return !stage.isStarted
        }
        guard isFirst else { throw MediaError(.invalidArgument, "a session exports once") }
    }

    func run(
        _ fileType: MediaFileType, _ makeWriter: () throws(MediaError) -> AssetWriter
    ) throws(MediaError) {
        let reencoder = try prepare(fileType, makeWriter)
        let misuse = progressState.withLock { stage in
            stage.reencoder = reencoder
            return stage.misuse
        }
        // A cancellation before this point has not reached the re-encoder.
        if cancellation.isCancelled || misuse != nil { reencoder.cancel() }
        try reencoder.runNow()
        progressState.withLock { $0.result = .success(()) }
    }

    /// Ends the session with an error, and returns the one to throw.
    func failure(_ error: MediaError, _ path: FilePath) -> MediaError {
        let isCancelled = cancellation.isCancelled
        return progressState.withLock { stage in
            let final =
                isCancelled
                ? MediaError(.cancelled, "cancelled", path: path.string)
                : error.code == .cancelled ? stage.misuse ?? error : error
            stage.result = .failure(final)
            return final
        }
    }

    private func prepare(
        _ fileType: MediaFileType, _ makeWriter: () throws(MediaError) -> AssetWriter
    ) throws(MediaError) -> Reencoder {
        if cancellation.isCancelled { throw MediaError(.cancelled, "cancelled") }
        let settings = settings.withLock { $0 }
        let all = try asset.loadNow(.tracks)
        if let preset, !preset.fileTypes(for: all).contains(fileType) {
            throw MediaError(
                .unsupported, "the preset \(preset) cannot make a \(fileType) file of this", path: asset.displayName)
        }
        guard preset != .passthrough || (settings.videoComposition == nil && settings.audioMix == nil) else {
            throw MediaError(
                .invalidArgument,
                "samples that are taken as they are cannot be composited or mixed; choose another preset",
                path: asset.displayName)
        }
        let tracks =
            preset?.tracks(
                of: all, in: try asset.contents().format, composition: settings.videoComposition,
                audioTracks: settings.audioTracks, mix: settings.audioMix) ?? chosenTracks
        let writer = try makeWriter()
        writer.shouldOptimizeForNetworkUse = settings.isIndexFirst
        writer.movieFragmentInterval = settings.fragmentInterval
        let grid = settings.job.isTimeRangeExact ? nil : (tracks.first(where: \.isVideo) ?? tracks.first)?.trimGrid
        let reencoder = try Reencoder(
            asset: asset, writer: writer, rounded: grid?.rounded(settings.timeRange) ?? settings.timeRange)
        reencoder.reader.threadsPerOutput = settings.job.threads
        reencoder.audioTimePitchAlgorithm = settings.timePitchAlgorithm
        reencoder.passesOverUndecodableAudio = settings.job.passesOverUndecodableAudio
        if let metadata = settings.metadata { writer.metadata = metadata }
        var numbers: [ObjectIdentifier: Int] = [:]
        for (number, track) in tracks.enumerated() {
            guard let input = try reencoder.add(track) else { continue }
            numbers[ObjectIdentifier(input)] = number
            if track.isVideo, let timecode = settings.startTimecode { input.startTimecode = timecode }
        }
        if preset == .passthrough { try reencoder.addFurtherTracks() }
        try reencoder.noteLeftOut { [preset] in
            preset?.reasonToLeaveOut($0) ?? "it was not chosen"
        }
        if let observer = settings.job.observer {
            reencoder.observer = { [numbers] input, buffer in
                if let number = numbers[ObjectIdentifier(input)] { observer(number, buffer) }
            }
        }
        if let verify = settings.job.verification {
            writer.verification = {
                [reader = reencoder.reader, weak writer, weak reencoder] path throws(MediaError) in
                guard let writer, let reencoder else { return }
                try verify(
                    Finished(path: path, writer: writer, damage: reader.damage, undecodable: reencoder.undecodable))
            }
        }
        let end = tracks.flatMap(\.sources).map(\.timeRange.end).filter(\.isNumeric).max() ?? .positiveInfinity
        progressState.withLock { $0.end = min(settings.timeRange.end, end) }
        return reencoder
    }

    /// Cancels the export from any thread, any number of times; a file that is complete is kept.
    public func cancel() {
        cancellation.cancel()
        progressState.withLock { $0.reencoder }?.cancel()
    }

    /// The tracks of the asset that are not in the file, with the reasons; empty before exporting.
    ///
    /// Tracks that cannot be written are listed before anything is written; those of which nothing could be decoded or
    /// that have nothing in the time range, after it. Timecode that the file states otherwise is not listed, nor are
    /// cover pictures, which are metadata.
    public var leftOut: [TrackLeftOut] { progressState.withLock { $0.reencoder }?.leftOut ?? [] }

    /// The metadata for which the file has no place; empty before the file is complete.
    public var metadataLeftOut: [MetadataLeftOut] {
        progressState.withLock { $0.reencoder }?.writer.metadataLeftOut ?? []
    }

    /// The current state of the session.
    public var state: State {
        let stage = progressState.withLock { $0 }
        switch stage.result {
        case .success: return .completed
        case .failure(let error): return error.code == .cancelled ? .cancelled : .failed(error)
        case nil: break
        }
        guard stage.isStarted else { return .pending }
        return .exporting(progress: fraction(stage))
    }

    /// True once reading and writing were set up without an error.
    package var isPrepared: Bool { progressState.withLock { $0.reencoder != nil } }

    /// The completed fraction from 0 to 1; 0 before the export and if the end is not known.
    package var fractionCompleted: Double { fraction(progressState.withLock { $0 }) }

    private func fraction(_ stage: Stage) -> Double {
        guard let reencoder = stage.reencoder, let end = stage.end, end.isNumeric else { return 0 }
        let start = timeRange.start.isNumeric ? max(timeRange.start, .zero) : .zero
        let position = min(reencoder.position, end)
        let part = (position - start).seconds / (end - start).seconds
        return part.isFinite ? min(1, max(0, part)) : 0
    }

    /// Returns the states of the session: immediately, then at every interval, up to the final one.
    ///
    /// A state that is equal to the previous one is omitted.
    public func states(updateInterval: Duration = .milliseconds(100)) -> AsyncStream<State> {
        AsyncStream { continuation in
            let task = Task {
                var last: State?
                while !Task.isCancelled {
                    let state = self.state
                    if state != last { continuation.yield(state) }
                    last = state
                    switch state {
                    case .completed, .failed, .cancelled:
                        continuation.finish()
                        return
                    case .pending, .exporting: break
                    }
                    try? await Task.sleep(for: updateInterval)
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
