internal import AssetKit
internal import MediaBase
internal import Pictures
internal import Timelines

/// The plan of an export: its source, and the input for each track of the output.
struct ExportPlan {
    /// The source: a file, or the composition of a timeline.
    let asset: Asset
    /// The source of the video.
    var video = Video.none
    /// The audio tracks to write, in the order of the file; with a ``mix``, they become one track.
    var audio: [AssetTrack] = []
    /// The subtitle tracks to copy.
    var subtitles: [AssetTrack] = []
    /// The mix of the audio tracks into one; `nil` if each remains separate.
    var mix: AudioMix?
    /// The part of the time line to write.
    var range = MediaTimeRange(start: .zero, duration: .positiveInfinity)
    /// The range as requested.
    var requested: RequestedRange?
    /// True if the requested end is an absolute position, not one derived from the duration.
    var namesEnd = false
    /// The timecode of the first frame, if the source does not declare it itself.
    var startTimecode: String?
    /// The tracks of the file that are not in the output.
    var leftOut: [LeftOutTrack] = []
    /// The report on the timeline.
    var timeline: ExportReport.Timeline?
    /// The warnings for the user.
    var warnings: [String] = []

    /// A source of video.
    enum Video {
        /// No video.
        case none
        /// A track as it is.
        case track(AssetTrack)
        /// Frames composited from tracks.
        case frames(VideoComposition, [AssetTrack])
    }

    private init(_ asset: Asset) { self.asset = asset }

    /// The file's tracks to write, in the output's order; empty for a timeline.
    var sources: [AssetTrack] {
        guard timeline == nil else { return [] }
        return switch video {
        case .none: audio
        case .track(let track): [track] + audio
        case .frames(_, let tracks): Array(tracks.prefix(1)) + audio
        }
    }
}

// MARK: - A part of a file

extension ExportPlan {
    /// Plans the export of a part of one file.
    ///
    /// - Throws: The errors of opening the file, `noSuchTrack`, and the errors of resolving the range.
    init(_ request: ExportRequest, file: Asset, fileType: MediaFileType) throws(MediaError) {
        self.init(file)
        do throws(MediaError) {
            try take(request, fileType)
        } catch {
            throw error.at(path: file.displayName)
        }
    }

    private mutating func take(_ request: ExportRequest, _ fileType: MediaFileType) throws(MediaError) {
        let tracks = try asset.loadNow(.tracks)
        let pictures = tracks.filter { $0.mediaType == .video && !$0.isAttachedPicture }
        let preset = request.preset(for: fileType)
        audio = request.audio == .none ? [] : try TrackSelector.audioTracks(request.audioTracks, in: tracks)
        var shown: AssetTrack?
        if let wanted = request.videoTrack {
            shown = try wanted.track(of: .video, in: tracks)
        } else if fileType.holdsPictures {
            shown = pictures.first(where: \.isEnabled) ?? pictures.first
        }
        if !request.copies, let track = shown, case .leaveOut = preset.video(for: track) { shown = nil }
        if request.videoTrack != nil, shown == nil {
            throw MediaError(.unsupported, "a track of pictures was asked for, which \(fileType) files cannot hold")
        }
        guard let timed = shown ?? audio.first else {
            throw MediaError(.noSuchTrack, "has no track for a file of the type \(fileType)")
        }
        let trim = try TrimRange(
            start: request.start, end: request.end, of: timed, in: asset,
            grid: shown.flatMap { request.composes ? request.frameDuration(of: $0) : nil }.map {
                TrimGrid(timescale: $0.timescale)
            }, threads: request.threads)
        (range, requested) = (trim.range, trim.requested)
        namesEnd = request.end?.isMoment ?? false
        if let shown {
            if request.composes {
                video = try frames(of: shown, request)
                if fileType.keepsEdits { try setTimecode(of: shown, at: request.frameRate) }
            } else {
                video = .track(shown)
            }
        }
        if request.copies { subtitles = tracks.filter { fileType.reasonAgainstCopying($0, of: asset) == nil } }
        leftOut = LeftOutTrack.others(
            of: tracks, besides: [shown].compactMap(\.self) + audio + subtitles,
            videoReason: fileType.holdsPictures ? nil : "\(fileType) files hold no video")
        if request.copies { tellLeftOut(tracks, fileType) }
        if request.copyFrom == .keyframe, let shown { try beginWithSyncSample(of: shown) }
    }

    /// Sets the reasons why other tracks than video and audio are not copied, and adds a warning.
    private mutating func tellLeftOut(_ tracks: [AssetTrack], _ fileType: MediaFileType) {
        var told: [LeftOutTrack] = []
        for (place, left) in leftOut.enumerated() {
            guard let track = tracks.first(where: { $0.index == left.trackIndex }),
                ![.video, .audio].contains(track.mediaType),
                let reason = fileType.reasonAgainstCopying(track, of: asset)
            else { continue }
            leftOut[place].reason = reason
            told.append(leftOut[place])
        }
        let names = told.map { "\($0.trackIndex) (\($0.codec ?? $0.type))" }
        if let only = told.first, told.count == 1 {
            warnings.append("track \(names[0]) is left out: \(only.reason)")
        } else if !told.isEmpty {
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
    private func frames(of track: AssetTrack, _ request: ExportRequest) throws(MediaError) -> Video {
        let size: Dimensions
        if let wanted = request.size { size = wanted } else { size = try VideoComposition.renderSize(for: [track]) }
        guard let frame = request.frameDuration(of: track) else {
            throw MediaError(.invalidArgument, "there is no such frame rate")
        }
        var layer = VideoComposition.Layer(track: track)
        try layer.setTransform(.upright(track, in: size), at: .zero)
        let whole = MediaTimeRange(start: .zero, duration: .positiveInfinity)
        var composition = VideoComposition(
            renderSize: size, frameDuration: frame,
            instructions: [.init(timeRange: whole, layers: [layer])])
        composition.overlays = request.overlays(in: size)
        return .frames(composition, [track])
    }

    /// Sets the timecode of the first frame, unless the frame rate differs from the track's.
    private mutating func setTimecode(
        of track: AssetTrack, at rate: Rational?
    ) throws(MediaError) {
        guard let zero = try TimeExpression.Context(track, in: asset).startTimecode else { return }
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

extension ExportRequest {
    /// True if frames are composited, because the size, the frame rate or a watermark was requested.
    fileprivate var composes: Bool { size != nil || frameRate != nil || watermark != nil }

    /// Returns the frame duration of a track's composited frames, or `nil` if the rate is not valid.
    fileprivate func frameDuration(of track: AssetTrack) -> MediaTime? {
        (frameRate ?? track.pictureRate ?? Rational(25)).inverse.map { MediaTime($0) }
    }

    /// Returns the overlays for frames of a given size.
    fileprivate func overlays(in size: Dimensions) -> [VideoComposition.Overlay] {
        guard let watermark else { return [] }
        let image = watermark.image
        // Leave a small margin to the corner.
        let margin = min(size.width, size.height) / 40
        let place = watermark.place ?? (size.width - image.width - margin, size.height - image.height - margin)
        return [VideoComposition.Overlay(image: image, x: Double(place.x), y: Double(place.y))]
    }
}

// MARK: - A timeline

extension ExportPlan {
    /// Throws if a request can only be fulfilled for a media file.
    static func checkTimeline(_ request: ExportRequest) throws(MediaError) {
        guard request.videoTrack == nil, request.audioTracks == nil else {
            throw MediaError(.invalidArgument, "tracks are chosen of a media file, not of a timeline")
        }
        guard request.copyFrom == .exact else {
            throw MediaError(.invalidArgument, "a copy from a keyframe is made of a media file, not of a timeline")
        }
    }

    /// Plans the export of a timeline.
    ///
    /// - Throws: An error that names the element which cannot be rendered.
    init(_ request: ExportRequest, timeline: OpenTimeline, fileType: MediaFileType) throws(MediaError) {
        self.init(Asset(composition: timeline.composition))
        warnings = timeline.warnings
        let tracks = try asset.loadNow(.tracks)
        if request.copies {
            try timeline.checkStorable(.video)
            if fileType.holdsPictures, let track = tracks.first(where: { $0.mediaType == .video }) {
                video = .track(track)
            }
        } else if var composition = timeline.videoComposition, fileType.holdsPictures,
            case .encode = request.preset(for: fileType).video(for: AssetTrack(framesOf: composition))
        {
            composition.overlays = request.overlays(in: composition.renderSize)
            video = .frames(composition, tracks.filter { $0.mediaType == .video })
        }
        if let mix = timeline.audioMix, request.audio != .none {
            if request.copies || request.audio == .copy { try timeline.checkStorable(.audio) } else { self.mix = mix }
            audio = tracks.filter { $0.mediaType == .audio }
        }
        if case .none = video, audio.isEmpty {
            throw MediaError(.noSuchTrack, "the timeline has nothing for a file of the type \(fileType)")
        }
        try setRange(request, timeline)
        self.timeline = ExportReport.Timeline(timeline, isRendered: !request.copies)
    }

    /// Resolves the requested range on the timeline's own clock, and sets the timecode of the first frame.
    private mutating func setRange(
        _ request: ExportRequest, _ timeline: OpenTimeline
    ) throws(MediaError) {
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
        let grid =
            switch video {
            case .frames(let composition, _): TrimGrid(timescale: composition.frameDuration.timescale)
            case .track(let track): track.trimGrid
            case .none: audio.first?.trimGrid ?? TrimGrid(timescale: 1)
            }
        try RequestedRange.check(start: first, end: last)
        let start = first.map(grid.rounded)
        try RequestedRange.check(start: start, end: last.map(grid.rounded))
        if let start, start >= end {
            throw MediaError(
                .outOfRange, "the start, \(start.seconds) s, is not before the timeline's end at \(end.seconds) s")
        }
        range = MediaTimeRange(start: start ?? .zero, end: min(last.map(grid.rounded) ?? end, end))
        namesEnd = request.end?.isMoment ?? false
        if first != nil || last != nil { requested = RequestedRange(start: first, end: last) }
        if let zero, let passed = try? Timecode(elapsed: range.start, rate: zero.rate) {
            startTimecode = zero.advanced(byFrames: passed.frameNumber)?.wrappedAt24Hours.description
        }
    }
}
