import MediaBase

/// The pictures of a composition's track: those of its segments one after the other, each cut to its segment.
///
/// One source is open at a time. In gaps there is no picture.
final class CompositionPictures: SamplePipeline {
    private let start: CompositionStart
    private let index: Int
    private let range: OutputRange
    private let settings: VideoSettings
    private var clips: ArraySlice<Composition.Segment>
    private var reader: ClipReader?
    /// The picture that is delivered next: what comes after it says until when it is shown.
    private var waiting: Placed?

    private struct Placed {
        let buffer: SampleBuffer
        let time: MediaTime
        let end: MediaTime
    }

    init(
        _ start: CompositionStart, _ track: Composition.Track, index: Int, range: OutputRange, settings: VideoSettings
    ) {
        self.start = start
        self.index = index
        self.range = range
        self.settings = settings
        clips = range.isEmpty ? [] : track.clips(in: range)[...]
    }

    /// The next picture that is on screen at some moment of the range.
    func next(from packets: PacketQueue) throws(MediaError) -> SampleBuffer? {
        while let clip = clips.first {
            let next = try nextPlaced(in: clip)
            if next == nil {
                reader = nil
                clips.removeFirst()
            }
            guard let shown = waiting else {
                waiting = next
                continue
            }
            waiting = next
            // A segment's last picture stays until the segment's end, as far as that was read.
            let end = next == nil ? max(shown.end, min(range.end ?? clip.end, clip.end)) : shown.end
            return SampleBuffer(
                shown.buffer, ofTrack: index, presentationTime: shown.time, duration: end - shown.time)
        }
        return nil
    }

    private func nextPlaced(in clip: Composition.Segment) throws(MediaError) -> Placed? {
        guard let source = clip.source else { return nil }
        if reader == nil {
            let from = clip.sourceTime(at: max(range.start, clip.start))
            let to = clip.sourceTime(at: min(range.end ?? clip.end, clip.end))
            reader = try ClipReader(
                source, of: clip, range: MediaTimeRange(start: from, end: to), settings: .video(settings), for: start,
                trackIndex: index)
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
}
