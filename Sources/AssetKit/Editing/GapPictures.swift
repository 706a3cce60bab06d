import LibAV
import MediaBase

/// The black frames that fill a gap of a composition's video track, one per frame duration from the gap's start on.
///
/// They have the format and frame rate of the media before the gap, or of the media after it if the track starts with
/// the gap.
struct GapPictures {
    private let gap: MediaTimeRange
    private let frameDuration: MediaTime
    /// The format of the frames.
    let format: FormatDescription

    /// Returns `nil` if the track has no media whose format is known.
    init?(_ gap: Composition.Segment, in track: Composition.Track) {
        let before = track.segments.last { $0.source != nil && $0.end <= gap.start }
        let source = (before ?? track.segments.first { $0.source != nil })?.source?.track
        guard let source, let format = source.formatDescriptions.first, format.video != nil else { return nil }
        self.gap = gap.timeRange
        self.format = format
        let rate = source.pictureRate.flatMap { $0.isPositive ? $0 : nil }
        frameDuration = rate?.inverse.map { MediaTime($0) } ?? MediaTime(value: 1, timescale: 25)
    }

    /// Returns the time range of the frame on screen at a time within the gap; at the gap's end, that of the last one.
    func timeRange(at time: MediaTime) -> MediaTimeRange {
        func number(_ time: MediaTime, _ rounding: RoundingRule) -> Int64 {
            Rational(time - gap.start)?.divided(by: Rational(frameDuration) ?? .one)?.rounded(rounding) ?? 0
        }
        let last = number(gap.end, .up) - 1
        let start = gap.start + frameDuration.multiplied(by: max(0, min(number(time, .down), last)))
        return MediaTimeRange(start: start, end: min(start + frameDuration, gap.end))
    }

    /// Returns a black frame like those that the decoder of the neighbouring media delivers.
    func picture() throws(MediaError) -> PixelBuffer {
        guard let video = format.video else { throw MediaError(.noSuchTrack, "there are no pictures") }
        return PixelBuffer(
            try Frame.black(
                video.pixelFormat ?? .yuv420p, dimensions: video.encodedSize,
                sampleAspectRatio: video.sampleAspectRatio, color: video.color))
    }
}

/// Delivers the decoded frames of a composition's segments in sequence, each cut to its segment.
///
/// Sources are read one after the other; a few decoders are kept (``ClipDecoders``). Gaps are black, unless the settings leave them out.
final class CompositionPictures: SamplePipeline {
    private let start: CompositionStart
    private let track: Composition.Track
    private let index: Int
    private let range: OutputRange
    private let settings: VideoSettings
    private var clips: ArraySlice<Composition.Segment>
    private var reader: (any ClipFrames)?
    private let decoders: ClipDecoders
    private let conversion: PictureConversion
    /// The black frame of the current gap, and the time from which it is still to be shown.
    private var gap: (pictures: GapPictures, buffer: SampleBuffer, time: MediaTime)?
    /// The next frame to deliver; the frame after it determines its end.
    private var waiting: Placed?

    private struct Placed {
        let buffer: SampleBuffer
        let time: MediaTime
        let end: MediaTime
    }

    init(
        _ start: CompositionStart, _ track: Composition.Track, index: Int, range: OutputRange, settings: VideoSettings
    ) throws(MediaError) {
        conversion = try PictureConversion(settings)
        decoders = ClipDecoders(tracks: start.composition.tracks.count { $0.mediaType == .video })
        self.start = start
        self.track = track
        self.index = index
        self.range = range
        self.settings = settings
        clips = range.isEmpty ? [] : track.clips(in: range)[...]
    }

    /// Returns the next frame that is on screen within the range.
    func next(from packets: PacketQueue) throws(MediaError) -> SampleBuffer? {
        while let clip = clips.first {
            let next = try nextPlaced(in: clip)
            if next == nil {
                (reader, gap) = (nil, nil)
                clips.removeFirst()
            }
            guard let shown = waiting else {
                waiting = next
                continue
            }
            waiting = next
            // A segment's last frame lasts until the end of the segment, or of the range that was read.
            let end = next == nil ? max(shown.end, min(range.end ?? clip.end, clip.end)) : shown.end
            return SampleBuffer(
                shown.buffer, ofTrack: index, presentationTime: shown.time, duration: end - shown.time)
        }
        return nil
    }

    private func nextPlaced(in clip: Composition.Segment) throws(MediaError) -> Placed? {
        guard let source = clip.source else { return settings.leavesGaps ? nil : try nextBlack(in: clip) }
        if reader == nil {
            let from = clip.sourceTime(at: max(range.start, clip.start))
            let to = clip.sourceTime(at: min(range.end ?? clip.end, clip.end))
            reader = try frames(of: source, in: clip, MediaTimeRange(start: from, end: to))
        }
        while let buffer = try reader?.next() {
            let begins = max(buffer.presentationTime, clip.sourceStart)
            let ends = min(buffer.timeRange.end, clip.sourceEnd)
            guard begins < ends else { continue }
            return Placed(
                buffer: buffer, time: begins == clip.sourceStart ? clip.start : clip.time(ofSource: begins),
                end: ends == clip.sourceEnd ? clip.end : clip.time(ofSource: ends))
        }
        return nil
    }

    private func frames(
        of source: Composition.Source, in clip: Composition.Segment, _ part: MediaTimeRange
    ) throws(MediaError) -> any ClipFrames {
        guard ClipDecoders.canRead(source) else {
            return try ClipReader(
                source, of: clip, range: part, settings: .video(settings), for: start, trackIndex: index)
        }
        return try SoughtClip(
            source, of: clip, range: part, settings: settings, conversion: conversion, with: decoders, for: start,
            trackIndex: index)
    }

    private func nextBlack(in clip: Composition.Segment) throws(MediaError) -> Placed? {
        if gap == nil {
            guard let pictures = GapPictures(clip, in: track) else { return nil }
            let picture = try conversion.convert(pictures.picture())
            let buffer = SampleBuffer(
                ofTrack: index, presentationTime: clip.start, duration: .zero,
                formatDescription: pictures.format.describing(picture), content: .picture(picture))
            gap = (pictures, buffer, max(range.start, clip.start))
        }
        guard let (pictures, buffer, time) = gap, time < min(range.end ?? clip.end, clip.end) else { return nil }
        let shown = pictures.timeRange(at: time)
        gap?.time = shown.end
        return Placed(buffer: buffer, time: shown.start, end: shown.end)
    }
}
