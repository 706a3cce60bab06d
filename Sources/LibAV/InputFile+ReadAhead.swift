import CFFmpeg

// Reading packets ahead until the parameters of every stream are known.

extension InputFile {
    /// A codec without a decoder, for which libavformat opens none.
    private static let standIn = AV_CODEC_ID_CELT

    /// Reads packets ahead until each stream's parameters are known: `avformat_find_stream_info`.
    ///
    /// libavformat opens a decoder for every stream and decodes a packet of AAC even where the header has said all
    /// there is to know. Setting up that decoder's tables takes longer than all else together, so such a stream of an
    /// MP4 or QuickTime file passes for one of another codec while packets are read ahead.
    static func readAhead(_ context: UnsafeMutablePointer<AVFormatContext>, formatName: String) -> AVStatus {
        var settled: [UnsafeMutablePointer<AVStream>] = []
        if formatName.hasPrefix("mov,"), avcodec_find_decoder(standIn) == nil {
            let streams = (0..<Int(context.pointee.nb_streams)).compactMap { context.pointee.streams?[$0] }
            settled = streams.filter { settleAAC($0.pointee.codecpar) }
        }
        for stream in settled { stream.pointee.codecpar.pointee.codec_id = standIn }
        let status = avformat_find_stream_info(context, nil)
        for stream in settled {
            stream.pointee.codecpar.pointee.codec_id = AV_CODEC_ID_AAC
            stream.pointee.codecpar.pointee.profile = FF_PROFILE_AAC_LOW
        }
        return AVStatus(rawValue: status)
    }

    /// Fills in what the decoder would find out of a stream of plain AAC; gives whether it could.
    private static func settleAAC(_ stream: UnsafeMutablePointer<AVCodecParameters>?) -> Bool {
        guard let stream, stream.pointee.codec_id == AV_CODEC_ID_AAC, let extradata = stream.pointee.extradata,
            stream.pointee.format == AV_SAMPLE_FMT_NONE.rawValue
        else { return false }
        let bytes = UnsafeBufferPointer(start: extradata, count: max(0, Int(stream.pointee.extradata_size)))
        guard let header = PlainAACHeader(bytes.prefix(16)), stream.pointee.sample_rate == header.sampleRate,
            stream.pointee.ch_layout.nb_channels == header.channels
        else { return false }
        stream.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        stream.pointee.frame_size = 1024
        av_channel_layout_default(&stream.pointee.ch_layout, Int32(header.channels))
        return true
    }
}

/// The header of AAC in MP4 and Matroska (AudioSpecificConfig, ISO/IEC 14496-3, 1.6.2.1), where it leaves nothing open.
///
/// That is low complexity, one or two channels, frames of 1024 samples, and no spectral band replication: the header
/// excludes it, or says nothing and the rate is one at which nobody uses it.
struct PlainAACHeader {
    let sampleRate: Int
    let channels: Int

    private static let rates = [
        96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
    ]

    init?(_ bytes: some Sequence<UInt8>) {
        var bits = bytes.lazy.flatMap { byte in (0..<8).lazy.map { byte >> (7 - $0) & 1 } }.makeIterator()
        func take(_ count: Int) -> Int? {
            var value = 0
            for _ in 0..<count {
                guard let bit = bits.next() else { return nil }
                value = value << 1 | Int(bit)
            }
            return value
        }
        guard take(5) == 2, let rate = take(4), Self.rates.indices.contains(rate), let channels = take(4),
            channels == 1 || channels == 2, take(3) == 0
        else { return nil }
        sampleRate = Self.rates[rate]
        self.channels = channels
        if let sync = take(11), sync == 0x2b7 {
            guard take(5) == 5, take(1) == 0 else { return nil }
        } else {
            guard sampleRate >= 32000 else { return nil }
        }
    }
}
