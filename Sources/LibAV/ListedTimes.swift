import CFFmpeg
import MediaBase

/// What a container's own tables say of a stream's samples, apart from edits, in ticks of the stream's time base.
package struct ListedTimes: Sendable {
    /// When the first sample is shown; `nil` where the tables do not say.
    package var start: Int64?
    /// When samples end of which libavformat says different things by its version, by when they are shown: the last one, and
    /// the last one of each fragment.
    package var ends: [Int64: Int64] = [:]
    /// When the last sample ends; `nil` where the tables do not say.
    package var end: Int64?

    /// Says nothing.
    package init() {}
}

extension InputFile {
    /// Gives a packet what its container says of it, where libavformat's versions make different things of that.
    func settle(_ packet: borrowing Packet) {
        let index = packet.streamIndex
        if let listed = times[index], let time = packet.pts ?? packet.dts {
            if let end = listed.ends[time], end > time {
                packet.pointer.pointee.duration = end.subtractingClamped(time)
            } else if let end = listed.end, end > time {
                packet.pointer.pointee.duration = min(packet.duration, end.subtractingClamped(time))
            }
        }
        if isCutByEdits { packet.leaveOut(first: 0, last: 0) }
        if isMatroska, let stream = pointer(toStream: index) { settleSound(packet, in: stream) }
    }

    /// Has the decoder leave out what an encoder put before the sound of Matroska (CodecDelay), at the stream's first packet,
    /// as libavformat does from 8.1 on until something is looked up.
    ///
    /// The decoder of Vorbis by itself makes nothing of the first packet, whose time is the delay's.
    private func settleSound(_ packet: borrowing Packet, in stream: UnsafeMutablePointer<AVStream>) {
        if packet.paddingSamples > 0 { packet.countPadding(in: stream) }
        guard let parameters = stream.pointee.codecpar, parameters.pointee.codec_type == AVMEDIA_TYPE_AUDIO,
            case let delay = Int(parameters.pointee.initial_padding), delay > 0
        else { return }
        let isDelayed = packet.pts == stream.pointee.start_time && parameters.pointee.codec_id != AV_CODEC_ID_VORBIS
        packet.leaveOut(first: isDelayed ? delay : 0, last: packet.paddingSamples)
    }

    /// Takes the delay of sound from when Matroska's streams begin by libavformat, which adds it from 8.1 on.
    ///
    /// - Parameter known: The streams whose start was known before libavformat read ahead.
    func settleStarts(besides known: Set<Int>) {
        guard isMatroska, shim_starts_count_delay() != 0 else { return }
        for index in 0..<streamCount where !known.contains(index) {
            guard let stream = pointer(toStream: index), let parameters = stream.pointee.codecpar,
                parameters.pointee.codec_type == AVMEDIA_TYPE_AUDIO, parameters.pointee.initial_padding > 0,
                parameters.pointee.sample_rate > 0, stream.pointee.start_time != shim_no_pts
            else { continue }
            stream.pointee.start_time -= av_rescale_q(
                Int64(parameters.pointee.initial_padding), AVRational(num: 1, den: parameters.pointee.sample_rate),
                stream.pointee.time_base)
        }
    }
}
