import LibAV
import MediaBase

/// Brings a reader to the start of its time range: by a seek where the container's random access is exact, and by
/// reading from the file's start where it is not.
///
/// A seek is checked by the packets that follow it: an index of decode times can lead to a sync sample that is shown
/// after the time asked for, and then an earlier one is tried. Where the index may call pictures sync samples that are none
/// (``SeekBehaviour``), the decoder is asked.
struct ReaderLanding {
    let asset: Asset
    let outputs: [TrackOutput]
    let timeRange: MediaTimeRange
    let cancellation: Cancellation

    /// How much earlier each further try begins.
    private static let stepsBack: [MediaTime] = [0, 1, 4, 16].map { MediaTime(value: $0, timescale: 1) }

    /// An open file at the right place, with the queues of its outputs, and whether that is the file's start.
    func land() throws(MediaError) -> (InputFile, ReaderCore, isFromStart: Bool) {
        let streams = outputs.map(\.track.index)
        let leadPlace = outputs.firstIndex { $0.track.mediaType == .video } ?? 0
        let lead = outputs[leadPlace]
        let contents = try asset.contents()
        var file = try asset.takeFile(cancellation)
        guard timeRange.start.isNumeric, timeRange.start > .zero, file.isSeekable, canSeek(contents.seeking) else {
            return (file, ReaderCore(file, streams: streams), true)
        }
        for step in Self.stepsBack {
            let target = outputs.map { timeRange.start - preRoll(of: $0.track) }.min() ?? timeRange.start
            let time = target - step + contents.origin(ofStream: lead.track.index)
            guard time > .zero, let ticks = time.ticks(in: lead.track.timeBase, rounding: .down),
                file.seek(stream: lead.track.index, to: ticks)
            else { break }
            let core = ReaderCore(file, streams: streams)
            guard try hasLanded(core, file) else { continue }
            guard lead.track.mediaType == .video, lead.track.formatDescriptions.first?.video?.reorders == true else {
                return (file, core, false)
            }
            // After a seek libavcodec may drop pictures until it has learnt their order: begin one sync sample earlier.
            guard let first = try core.peekPacket(for: leadPlace)?.packet.dts,
                file.seek(stream: lead.track.index, to: first &- 1)
            else { break }
            let earlier = ReaderCore(file, streams: streams)
            if try hasLanded(earlier, file) { return (file, earlier, false) }
        }
        file = try asset.takeFile(cancellation)
        return (file, ReaderCore(file, streams: streams), true)
    }

    private func canSeek(_ behaviour: SeekBehaviour) -> Bool {
        outputs.allSatisfy { output in
            guard output.track.mediaType == .audio, case .audio = output.settings else { return behaviour.hasIndex }
            // Time stamps must be able to name every sample, or places after a seek are off by the rounding.
            guard behaviour.isSampleExact, let rate = output.track.formatDescriptions.first?.audio?.sampleRate, rate > 0
            else { return false }
            let perSample = output.track.timeBase.multiplied(by: Rational(Int64(rate)))
            return perSample.map { $0.num == 1 } ?? false
        }
    }

    /// How much earlier decoding must begin for its first wanted sample to be what a decode from the start gives.
    private func preRoll(of track: AssetTrack) -> MediaTime {
        guard track.mediaType == .audio else { return .zero }
        // Half a second covers AAC's overlap, MP3's bit reservoir and Opus's 80 ms with a wide margin.
        return track.formatDescriptions.first?.codec.hasPrefix("pcm_") == true
            ? .zero : MediaTime(value: 1, timescale: 2)
    }

    /// Whether every output's first packet lies early enough.
    private func hasLanded(_ core: ReaderCore, _ file: InputFile) throws(MediaError) -> Bool {
        let contents = try asset.contents()
        let hasTrueSyncSamples = contents.seeking.hasTrueSyncSamples
        for (id, output) in outputs.enumerated() {
            let type = output.track.mediaType
            // Sparse tracks (text, data) may have nothing near the place.
            guard type == .video || type == .audio else { continue }
            guard let first = try core.peekPacket(for: id) else { return false }
            let times = StoredTimes(first, track: output.track, origin: contents.origin(ofStream: output.track.index))
            guard times.presentation.isNumeric else { return false }
            if times.presentation > timeRange.start - preRoll(of: output.track) { return false }
            guard type == .video else { continue }
            guard first.packet.isKey else { return false }
            if hasTrueSyncSamples { continue }
            guard try isSyncPicture(first, of: output.track, in: file) else { return false }
        }
        return true
    }

    /// Whether a decoder that knows of nothing else makes a sync sample's picture of a packet.
    private func isSyncPicture(
        _ sample: StoredSample, of track: AssetTrack, in file: InputFile
    ) throws(MediaError) -> Bool {
        var decoder = PacketDecoder(try Decoder.open(file, stream: track.index, threads: 1))
        guard try decoder.send(sample) == nil, try decoder.send(nil) == nil else { return false }
        if case .frame(let frame) = try decoder.receive() { return frame.isKey && !frame.isCorrupt }
        return false
    }
}
