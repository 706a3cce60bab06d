import LibAV
import MediaBase

/// A decoded picture and when it is shown.
struct TimedFrame {
    let picture: PixelBuffer
    /// Its presentation time.
    let time: MediaTime
    /// How long it is shown by the packet's word, which is often wrong; `nil` where it has none.
    let statedDuration: MediaTime?
    /// Whether it came from a sync sample.
    let isKey: Bool
}

/// Decoded pictures of one track in presentation order, with times on the presentation's time line.
final class TimedFrameSource {
    private let frames: FrameSource
    private let track: AssetTrack
    private let origin: MediaTime
    private var last: MediaTime?
    /// When the last of the packets that were read so far is over by its own word.
    private var packetsEnd = MediaTime.negativeInfinity

    init(
        _ file: InputFile, track: AssetTrack, origin: MediaTime, threads: Int, refusesDamage: Bool = false,
        bySlices: Bool = false
    ) throws(MediaError) {
        frames = try FrameSource(
            file, track: track.index, threads: threads, refusesDamage: refusesDamage, bySlices: bySlices)
        self.track = track
        self.origin = origin
    }

    /// The next picture; `nil` at the end.
    func next(from packets: PacketQueue) throws(MediaError) -> TimedFrame? {
        while let frame = try frames.next(from: noting(packets)) {
            let stated = frame.duration > 0 ? MediaTime(ticks: frame.duration, timeBase: track.timeBase) : nil
            let time = frame.pts.map { MediaTime(ticks: $0, timeBase: track.timeBase) - origin }
            let isKey = frame.isKey
            let shown = time ?? last.map { $0 + (stated ?? nominalDuration) } ?? .zero
            // A picture that is not later than the one before would be on screen for no time at all.
            if let last, shown <= last { continue }
            last = shown
            return TimedFrame(picture: PixelBuffer(frame), time: shown, statedDuration: stated, isKey: isKey)
        }
        return nil
    }

    /// Until when the track's last picture is on screen.
    ///
    /// The track's end where the container's word on it holds; else by the packets' durations, or one frame. All packets
    /// count, because a picture of two fields may have come in two, and the last ones may be undecodable.
    func end(ofLast frame: TimedFrame) -> MediaTime {
        let stated = max(frame.time + (frame.statedDuration ?? nominalDuration), packetsEnd)
        guard let edited = track.editedEnd, edited > frame.time else { return stated }
        return edited
    }

    private func noting(_ packets: PacketQueue) -> PacketQueue {
        PacketQueue(
            next: { () throws(MediaError) in
                guard let sample = try packets.next() else { return nil }
                if let pts = sample.packet.pts, !sample.packet.isDiscarded {
                    let end =
                        MediaTime(ticks: pts, timeBase: self.track.timeBase) - self.origin
                        + MediaTime(ticks: sample.packet.duration, timeBase: self.track.timeBase)
                    if end.isNumeric { self.packetsEnd = max(self.packetsEnd, end) }
                }
                return sample
            }, reportDamage: packets.reportDamage, isDispensable: packets.isDispensable)
    }

    /// Forgets all packets, as is due after a seek.
    func flush() {
        frames.flush()
        last = nil
    }

    private var nominalDuration: MediaTime {
        guard let rate = track.averageFrameRate ?? track.nominalFrameRate, let duration = rate.inverse else {
            return MediaTime(value: 1, timescale: 25)
        }
        return MediaTime(duration)
    }
}
