import LibAV
public import MediaBase
public import SystemPackage
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
/// The first enabled video track and every audio track are written. With ``Preset/passthrough``, all video tracks are
/// written, and also the subtitles that the file can hold; ``leftOut`` lists the other tracks. A video composition
/// merges all video tracks into one, and an audio mix merges all audio tracks.
///
/// A session exports once. It may be cancelled from any thread at any time.
public final class ExportSession: Sendable {
    /// The asset to export.
    public let asset: Asset
    /// The preset for the output.
    public let preset: Preset

    private let settings = Mutex(Settings())
    private let progressState = Mutex(Stage())
    private let cancellation = Cancellation()

    private struct Settings: Sendable {
        var timeRange = MediaTimeRange(start: .zero, duration: .positiveInfinity)
        var metadata: [MetadataItem]?
        var isIndexFirst = true
        var audioMix: AudioMix?
        var videoComposition: VideoComposition?
    }

    private struct Stage: Sendable {
        var reencoder: Reencoder?
        var isStarted = false
        var end: MediaTime?
        var result: Result<Void, MediaError>?
        /// The error for a property that was set during the export.
        var misuse: MediaError?
        var leftOut: [TrackLeftOut] = []
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

    /// The mix of all audio tracks into one; `nil`, the default, to keep each track.
    public var audioMix: AudioMix? {
        get { settings.withLock { $0.audioMix } }
        set { change("audioMix") { $0.audioMix = newValue } }
    }

    /// The composition of all video tracks into one; `nil`, the default, to use the first track unchanged.
    ///
    /// The output has the composition's size and frame rate to the extent that the preset allows.
    public var videoComposition: VideoComposition? {
        get { settings.withLock { $0.videoComposition } }
        set { change("videoComposition") { $0.videoComposition = newValue } }
    }

    /// Returns the presets that can be used to export an asset.
    ///
    /// - Throws: Any error from opening the asset.
    public static func compatiblePresets(for asset: Asset) async throws(MediaError) -> [Preset] {
        let tracks = try await asset.load(.tracks)
        return Preset.allCases.filter { !$0.fileTypes(for: tracks).isEmpty }
    }

    /// Returns the file types that the preset can make from the asset, the usual one first.
    ///
    /// - Throws: Any error from opening the asset.
    public func supportedFileTypes() async throws(MediaError) -> [MediaFileType] {
        preset.fileTypes(for: try await asset.load(.tracks))
    }

    /// Returns the approximate size of the file in bytes; `nil` if there is no basis for an estimate.
    ///
    /// - Throws: Any error from opening the asset.
    public func estimatedOutputFileLength() async throws(MediaError) -> Int64? {
        let tracks = try await asset.load(.tracks)
        let whole = MediaTimeRange(start: .zero, duration: try await asset.load(.duration))
        let length = Rational(timeRange.intersection(whole).duration)
        var bits = Rational.zero
        for track in chosen(tracks) {
            guard let rate = bitRate(of: track), let sum = bits.adding(Rational(rate)) else { return nil }
            bits = sum
        }
        return length.flatMap { bits.multiplied(by: $0) }?.divided(by: Rational(8))?.rounded()
    }

    private func bitRate(of track: AssetTrack) -> Int64? {
        if track.mediaType == .audio {
            guard case .encode(let settings) = preset.audio(for: track),
                let source = track.formatDescriptions.first?.audio
            else { return track.formatDescriptions.first?.bitRate }
            let channels = Int64(source.channels)
            return settings.codec == .pcm ? Int64(source.sampleRate) * channels * 24 : 64_000 * channels
        }
        guard case .encode(let settings) = preset.video(for: track) else {
            return track.formatDescriptions.first?.bitRate
        }
        let rate = track.averageFrameRate ?? track.nominalFrameRate ?? Rational(30)
        let usual = Int64(OutputSettingsAssistant.bitRate(settings, at: rate))
        return switch settings.codec {
        // Apple's target rates for 1920 by 1080 at 29.97 frames per second: 147 and 330 Mb/s.
        case .proRes422: usual * 12
        case .proRes4444: usual * 27
        default: settings.bitRate.map(Int64.init) ?? usual / 2
        }
    }

    private func chosen(_ tracks: [AssetTrack]) -> [AssetTrack] {
        let media = tracks.filter { [.video, .audio].contains($0.mediaType) && !$0.isAttachedPicture }
        if preset == .passthrough { return media }
        let pictures = media.filter { $0.mediaType == .video }
        let first = preset.needsPictures ? pictures.first(where: \.isEnabled) ?? pictures.first : nil
        return media.filter { $0.mediaType == .audio || $0 == first }
    }
}

// MARK: - Exporting

extension ExportSession {
    /// Writes the file on threads outside Swift's cooperative pool; cancelling the task cancels the export.
    ///
    /// - Parameters:
    ///   - path: The path of the new file.
    ///   - fileType: The type of the file; one of ``supportedFileTypes()``.
    ///   - overwrite: True to replace an existing file, at the end of the export.
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` for a file type that the preset cannot make from the
    ///   asset, ``MediaError/Code-swift.struct/invalidArgument`` if the session has exported before or the path is that
    ///   of a file being read, and any error during the export; nothing remains of the file then.
    public func export(
        to path: FilePath, as fileType: MediaFileType, overwrite: Bool = false
    ) async throws(MediaError) {
        let isFirst = progressState.withLock { stage in
            defer { stage.isStarted = true }
            return !stage.isStarted
        }
        guard isFirst else { throw MediaError(.invalidArgument, "a session exports once") }
        do throws(MediaError) {
            try await offload(onCancel: { self.cancel() }) { () throws(MediaError) in
                let reencoder = try self.prepare(path, fileType, overwrite: overwrite)
                let misuse = self.progressState.withLock { stage in
                    stage.reencoder = reencoder
                    return stage.misuse
                }
                // A cancellation before this point has not reached the re-encoder.
                if self.cancellation.isCancelled || misuse != nil { reencoder.cancel() }
                try reencoder.runNow()
            }
            progressState.withLock { $0.result = .success(()) }
        } catch {
            let isCancelled = cancellation.isCancelled
            let final = progressState.withLock { stage in
                let final =
                    isCancelled
                    ? MediaError(.cancelled, "cancelled", path: path.string)
                    : error.code == .cancelled ? stage.misuse ?? error : error
                stage.result = .failure(final)
                return final
            }
            throw final
        }
    }

    private func prepare(
        _ path: FilePath, _ fileType: MediaFileType, overwrite: Bool
    ) throws(MediaError) -> Reencoder {
        if cancellation.isCancelled { throw MediaError(.cancelled, "cancelled") }
        let settings = settings.withLock { $0 }
        let tracks = try asset.loadNow(.tracks)
        guard preset.fileTypes(for: tracks).contains(fileType) else {
            throw MediaError(
                .unsupported, "the preset \(preset) cannot make a \(fileType) file of this", path: asset.displayName)
        }
        let writer = try AssetWriter(path: path, fileType: fileType, overwrite: overwrite)
        writer.shouldOptimizeForNetworkUse = settings.isIndexFirst
        let leading = chosen(tracks).first { $0.mediaType == .video } ?? chosen(tracks).first
        let grid = settings.videoComposition.map { AssetTrack(framesOf: $0).trimGrid } ?? leading.map(\.trimGrid)
        let reencoder = try Reencoder(
            asset: asset, writer: writer, rounded: grid?.rounded(settings.timeRange) ?? settings.timeRange)
        if let metadata = settings.metadata { writer.metadata = metadata }
        guard preset != .passthrough || (settings.videoComposition == nil && settings.audioMix == nil) else {
            throw MediaError(
                .invalidArgument,
                "samples that are taken as they are cannot be composited or mixed; choose another preset",
                path: asset.displayName)
        }
        let media = chosen(tracks)
        if let composition = settings.videoComposition,
            case .encode(let wanted) = preset.video(for: AssetTrack(framesOf: composition))
        {
            let pictures = tracks.filter { $0.mediaType == .video && !$0.isAttachedPicture }
            try reencoder.add(composition, of: pictures, encodedWith: wanted)
        }
        let sounds = media.filter { $0.mediaType == .audio }
        if let mix = settings.audioMix, let first = sounds.first,
            case .encode(let wanted) = preset.audio(for: first)
        {
            try reencoder.add(mix, of: sounds, encodedWith: wanted)
        }
        for track in media {
            if track.mediaType == .video {
                if settings.videoComposition == nil { try reencoder.add(track, video: preset.video(for: track)) }
            } else if settings.audioMix == nil {
                try reencoder.add(track, audio: preset.audio(for: track))
            }
        }
        if preset == .passthrough {
            let leftOut = try reencoder.addFurtherTracks()
            progressState.withLock { $0.leftOut = leftOut }
        }
        let ends = media.map(\.timeRange.end).filter(\.isNumeric)
        progressState.withLock { $0.end = min(settings.timeRange.end, ends.max() ?? .positiveInfinity) }
        return reencoder
    }

    /// Cancels the export from any thread, any number of times; a file that is complete is kept.
    public func cancel() {
        cancellation.cancel()
        progressState.withLock { $0.reencoder }?.cancel()
    }

    /// The tracks that ``Preset/passthrough`` omits, with the reasons; empty before exporting.
    ///
    /// Timecode is not listed, because it is written again, nor are cover pictures, which are metadata.
    public var leftOut: [TrackLeftOut] { progressState.withLock { $0.leftOut } }

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
        guard let reencoder = stage.reencoder, let end = stage.end, end.isNumeric else {
            return .exporting(progress: 0)
        }
        let start = timeRange.start.isNumeric ? max(timeRange.start, .zero) : .zero
        let position = min(reencoder.position, end)
        let part = (position - start).seconds / (end - start).seconds
        return .exporting(progress: part.isFinite ? min(1, max(0, part)) : 0)
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
