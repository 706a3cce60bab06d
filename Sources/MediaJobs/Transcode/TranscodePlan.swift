internal import AssetKit
internal import Inspection
internal import MediaBase
internal import Pictures
internal import Timelines

/// The plan of a transcoding: its source, its range, and the tracks of the output with their settings.
struct TranscodePlan {
    /// The request that is planned.
    let request: TranscodeRequest
    /// The type of the output.
    let fileType: MediaFileType
    /// The source: a file, or the composition of a timeline.
    let asset: Asset
    /// The tracks of the output, in their order in the file.
    var tracks: [ExportSession.Track] = []
    /// The part of the source to write, rounded already.
    var range = MediaTimeRange(start: .zero, duration: .positiveInfinity)
    /// The range as requested; `nil` if none was requested.
    var requested: RequestedRange?
    /// The timecode of the first frame, if the source does not declare it itself.
    var startTimecode: String?
    /// The tracks of the file that are not in the output.
    var leftOut: [LeftOutTrack] = []
    /// The report on the timeline; `nil` for a file.
    var timeline: TranscodeReport.Timeline?
    /// The warnings for the user.
    var warnings: [String] = []

    private init(_ request: TranscodeRequest, _ asset: Asset, _ fileType: MediaFileType) {
        (self.request, self.asset, self.fileType) = (request, asset, fileType)
    }

    /// True if the requested end is an absolute position, not one derived from the duration.
    var namesEnd: Bool { request.end?.isMoment ?? false }

    /// The source tracks of the audio, in the order of the output.
    var audio: [AssetTrack] { tracks.flatMap(\.sources).filter { $0.mediaType == .audio } }

    /// The video track that is written without compositing; `nil` if there is none.
    var plainVideo: AssetTrack? {
        for case .video(let track, _, _) in tracks { return track }
        return nil
    }
}

// MARK: - A part of a file

extension TranscodePlan {
    /// Plans a proxy, or the export of a part of one file.
    ///
    /// - Throws: The errors of opening the file, `noSuchTrack`, and the errors of resolving the range and of the
    ///   settings.
    init(_ request: TranscodeRequest, file: Asset, fileType: MediaFileType) throws(MediaError) {
        self.init(request, file, fileType)
        do throws(MediaError) {
            try addTracksOfFile()
        } catch {
            throw error.at(path: file.displayName)
        }
    }

    private mutating func addTracksOfFile() throws(MediaError) {
        let all = try asset.loadNow(.tracks)
        let shown = try videoTrack(in: all)
        let audio = request.audio == .none ? [] : try TrackSelector.audioTracks(request.audioTracks, in: all)
        guard let timed = shown ?? audio.first else {
            throw MediaError(.noSuchTrack, "has no track for a file of the type \(fileType)")
        }
        let frame = shown.flatMap { request.composes ? request.frameDuration(of: $0) : nil }
        let trim = try TrimRange(
            start: request.start, end: request.end, of: timed, in: asset,
            grid: frame.map { TrimGrid(timescale: $0.timescale) }, threads: request.threads)
        (range, requested) = (trim.range, trim.requested)
        if let shown {
            if request.composes {
                try add(try frames(of: shown), of: [shown])
                if fileType.keepsEdits { try setTimecode(of: shown) }
            } else if request.copies {
                tracks.append(.video(shown, .copy))
                tracks += furtherVideo(in: all, besides: shown).map { .video($0, .copy) }
            } else if let settings = try request.videoSettings(for: shown, of: asset, in: fileType) {
                let isTurned = request.turn(of: shown, in: fileType) != .identity
                tracks.append(.video(shown, .encode(settings), turned: isTurned))
            }
        }
        try add(audio: audio)
        // A proxy's tracks keep the order of the source.
        if request.isProxy { tracks.sort { ($0.sources.first?.index ?? 0) < ($1.sources.first?.index ?? 0) } }
        let further = request.copies ? all.filter(canCopy) : []
        tracks += further.map { $0.mediaType == .subtitle ? .subtitles($0) : .data($0) }
        leftOut = LeftOutTrack.others(
            of: all, besides: tracks.flatMap(\.sources),
            videoReason: fileType.holdsPictures ? nil : "\(fileType) files hold no video",
            statesTimecode: shown != nil && fileType.keepsTimecode && request.export.segmentInterval == nil)
        if request.copies { reportLeftOut(all) }
        if request.export.copyFrom == .keyframe, let shown { try beginWithSyncSample(of: shown) }
    }

    /// The reason against further tracks in segments for streaming.
    private static let notInSegments = "segments hold one video track and audio"

    /// Returns true if a track of text, timecode or data is copied.
    ///
    /// A copy that begins later than its source gets a new timecode track, which starts with its first frame.
    private func canCopy(_ track: AssetTrack) -> Bool {
        guard ![.video, .audio].contains(track.mediaType) else { return false }
        if track.mediaType == .timecode, range.start > .zero { return false }
        return reasonAgainstCopying(further: track) == nil
    }

    /// Returns the reason why a track of text, timecode or data is not copied, in words that follow "because"; `nil` if it
    /// is.
    private func reasonAgainstCopying(further track: AssetTrack) -> String? {
        request.export.segmentInterval == nil
            ? fileType.reasonAgainstCopying(track, of: asset) : Self.notInSegments
    }

    /// Returns the video tracks that are copied besides the first one, unless one was asked for.
    private func furtherVideo(in tracks: [AssetTrack], besides first: AssetTrack) -> [AssetTrack] {
        guard request.videoTrack == nil else { return [] }
        return tracks.filter {
            $0.mediaType == .video && !$0.isAttachedPicture && $0 != first && reasonAgainstCopying(video: $0) == nil
        }
    }

    /// Returns the reason why a video track besides the first one is not copied, in words that follow "because"; `nil`
    /// if it is.
    private func reasonAgainstCopying(video track: AssetTrack) -> String? {
        guard request.videoTrack == nil, fileType.holdsPictures else { return nil }
        if request.export.segmentInterval != nil { return Self.notInSegments }
        let codec = track.formatDescriptions.first?.codec ?? "none"
        guard fileType.canHold(codec: codec, mediaType: .video) else { return "\(fileType) files cannot hold \(codec)" }
        return track.sampleCount == 0 ? "it has no samples" : track.reasonAgainstCopying.map { "it is \($0)" }
    }

    /// Returns the video track to write; `nil` if the output has no video.
    private func videoTrack(in tracks: [AssetTrack]) throws(MediaError) -> AssetTrack? {
        let wanted = try request.videoTrack.map { wanted throws(MediaError) in
            try wanted.track(of: .video, in: tracks)
        }
        guard !request.isProxy else {
            let track: AssetTrack
            if let wanted { track = wanted } else { track = try TrackSelector.standardTrack(of: .video, in: tracks) }
            guard !track.isAttachedPicture else {
                throw MediaError(.noSuchTrack, "has a cover picture and no video that a proxy could be made of")
            }
            return track
        }
        let pictures = tracks.filter { $0.mediaType == .video && !$0.isAttachedPicture }
        let usual = fileType.holdsPictures ? pictures.first(where: \.isEnabled) ?? pictures.first : nil
        if let track = wanted ?? usual, request.keepsVideo(track, in: fileType) { return track }
        guard wanted == nil else {
            throw MediaError(.unsupported, "a track of pictures was asked for, which \(fileType) files cannot hold")
        }
        return nil
    }

    /// Adds the frames of a composition.
    private mutating func add(_ composition: VideoComposition, of sources: [AssetTrack]) throws(MediaError) {
        let made = AssetTrack(framesOf: composition)
        guard let settings = try request.videoSettings(for: made, of: nil, in: fileType) else { return }
        tracks.append(.frames(composition, of: sources, settings))
    }

    /// Adds audio tracks, each on its own.
    private mutating func add(audio: [AssetTrack]) throws(MediaError) {
        for track in audio {
            if request.copies || request.audio == .copy {
                tracks.append(.audio(track, .copy))
            } else {
                tracks.append(.audio(track, .encode(try request.audioSettings(for: track, in: fileType))))
            }
        }
    }

    /// Sets the reasons why tracks other than the first video and audio are not copied, and adds a warning.
    private mutating func reportLeftOut(_ all: [AssetTrack]) {
        var named: [LeftOutTrack] = []
        for (place, left) in leftOut.enumerated() {
            guard let track = all.first(where: { $0.index == left.trackIndex }),
                track.mediaType != .audio,
                let reason = track.mediaType == .video
                    ? reasonAgainstCopying(video: track) : reasonAgainstCopying(further: track)
            else { continue }
            leftOut[place].reason = reason
            named.append(leftOut[place])
        }
        let names = named.map { "\($0.trackIndex) (\($0.codec ?? $0.type))" }
        if let only = named.first, named.count == 1 {
            warnings.append("track \(names[0]) is left out: \(only.reason)")
        } else if !named.isEmpty {
            warnings.append("tracks \(names.joined(separator: ", ")) are left out; --json tells why")
        }
    }

    /// Moves the start of a copy to the sync sample that the first frame of the range needs.
    private mutating func beginWithSyncSample(of track: AssetTrack) throws(MediaError) {
        guard range.start > .zero else { return }
        guard let first = try asset.syncSampleTime(of: track, notAfter: range.start) else {
            throw MediaError(
                .unsupported, "a copy from a keyframe needs an input that can be read more than once", path: nil)
        }
        range = MediaTimeRange(start: min(range.start, max(.zero, first)), end: range.end)
    }

    /// Returns a composition that shows a track in frames of one size at one rate.
    private func frames(of track: AssetTrack) throws(MediaError) -> VideoComposition {
        let size: Dimensions
        if let wanted = request.export.size {
            size = wanted
        } else {
            size = try VideoComposition.renderSize(for: [track])
        }
        guard let frame = request.frameDuration(of: track) else {
            throw MediaError(.invalidArgument, "there is no such frame rate")
        }
        var layer = VideoComposition.Layer(track: track)
        try layer.transform.set(.upright(track, in: size), at: .zero)
        let whole = MediaTimeRange(start: .zero, duration: .positiveInfinity)
        var composition = VideoComposition(
            renderSize: size, frameDuration: frame,
            instructions: [.init(timeRange: whole, layers: [layer])])
        composition.overlays = request.overlays(in: size)
        return composition
    }

    /// Sets the timecode of the first frame, unless the frame rate differs from the track's.
    private mutating func setTimecode(of track: AssetTrack) throws(MediaError) {
        guard let zero = try TimeExpression.Context(track, in: asset).startTimecode else { return }
        let rate = request.export.frameRate
        guard rate == nil || rate == track.pictureRate else {
            warnings.append("the start timecode \(zero) is left out, because it counts frames of another rate")
            return
        }
        // The start timecode belongs to the track's first frame, which may be late.
        let passed = try Timecode(elapsed: range.start, rate: zero.rate).frameNumber
        let late = try Timecode(
            elapsed: track.timeRange.start, rate: zero.rate, rounding: .halfAwayFromZero
        ).frameNumber
        startTimecode = zero.advanced(byFrames: passed - late)?.wrappedAt24Hours.description
    }
}

extension TranscodeRequest {
    /// True if frames are composited, because the size, the frame rate or a watermark was requested.
    fileprivate var composes: Bool { export.size != nil || export.frameRate != nil || export.watermark != nil }

    /// Returns the frame duration of a track's composited frames, or `nil` if the rate is not valid.
    fileprivate func frameDuration(of track: AssetTrack) -> MediaTime? {
        (export.frameRate ?? track.pictureRate ?? Rational(25)).inverse.map { MediaTime($0) }
    }

    /// Returns the overlays for frames of a given size.
    fileprivate func overlays(in size: Dimensions) -> [VideoComposition.Overlay] {
        guard let watermark = export.watermark else { return [] }
        let image = watermark.image
        // Leave a small margin to the corner.
        let margin = min(size.width, size.height) / 40
        let place = watermark.place ?? (size.width - image.width - margin, size.height - image.height - margin)
        return [VideoComposition.Overlay(image: image, x: Double(place.x), y: Double(place.y))]
    }
}

// MARK: - A timeline

extension TranscodePlan {
    /// Throws if a request can only be fulfilled for a media file.
    static func checkTimeline(_ request: TranscodeRequest) throws(MediaError) {
        guard request.videoTrack == nil, request.audioTracks == nil else {
            throw MediaError(.invalidArgument, "tracks are chosen of a media file, not of a timeline")
        }
        guard request.export.copyFrom == .exact else {
            throw MediaError(.invalidArgument, "a copy from a keyframe is made of a media file, not of a timeline")
        }
    }

    /// Plans the export of a timeline.
    ///
    /// - Throws: An error that names the element which cannot be rendered.
    init(_ request: TranscodeRequest, timeline: OpenTimeline, fileType: MediaFileType) throws(MediaError) {
        self.init(request, Asset(composition: timeline.composition), fileType)
        self.timeline = TranscodeReport.Timeline(timeline, isRendered: !request.copies)
        warnings = timeline.warnings
        let all = try asset.loadNow(.tracks)
        let pictures = all.filter { $0.mediaType == .video }
        if request.copies {
            try timeline.checkStorable(.video)
            if fileType.holdsPictures, let track = pictures.first { tracks.append(.video(track, .copy)) }
        } else if var composition = timeline.videoComposition, fileType.holdsPictures {
            composition.overlays = request.overlays(in: composition.renderSize)
            try add(composition, of: pictures)
        }
        let sounds = all.filter { $0.mediaType == .audio }
        if let mix = timeline.audioMix, request.audio != .none {
            if request.copies || request.audio == .copy {
                try timeline.checkStorable(.audio)
                try add(audio: sounds)
            } else if let first = sounds.first {
                tracks.append(.mix(mix, of: sounds, try request.audioSettings(for: first, in: fileType)))
            }
        }
        guard !tracks.isEmpty else {
            throw MediaError(.noSuchTrack, "the timeline has nothing for a file of the type \(fileType)")
        }
        try setRange(timeline)
    }

    /// Resolves the requested range on the timeline's own clock, and sets the timecode of the first frame.
    private mutating func setRange(_ timeline: OpenTimeline) throws(MediaError) {
        let (end, zero) = (timeline.renderedDuration, timeline.startTimecode)
        let context = TimeExpression.Context(
            timeRange: MediaTimeRange(start: .zero, duration: end), frameRate: timeline.videoComposition?.frameRate,
            startTimecode: zero)
        func frameTime(_ number: Int64) throws(MediaError) -> MediaTime {
            guard let frame = timeline.videoComposition?.frameDuration else {
                return try TimeExpression.noFrames(number)
            }
            return frame.multiplied(by: number)
        }
        let first = try request.start?.resolve(in: context, frameTime: frameTime)
        let last = try request.end?.resolve(in: context, frameTime: frameTime)
        let grid = (tracks.first(where: \.isVideo) ?? tracks.first)?.trimGrid ?? TrimGrid(timescale: 1)
        try RequestedRange.check(start: first, end: last)
        let start = first.map(grid.rounded)
        try RequestedRange.check(start: start, end: last.map(grid.rounded))
        if let start, start >= end {
            throw MediaError(
                .outOfRange, "the start, \(start.seconds) s, is not before the timeline's end at \(end.seconds) s")
        }
        range = MediaTimeRange(start: start ?? .zero, end: min(last.map(grid.rounded) ?? end, end))
        if first != nil || last != nil { requested = RequestedRange(start: first, end: last) }
        if let zero, let passed = try? Timecode(elapsed: range.start, rate: zero.rate) {
            startTimecode = zero.advanced(byFrames: passed.frameNumber)?.wrappedAt24Hours.description
        }
    }
}
