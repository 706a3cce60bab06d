import CFFmpeg
import MediaBase

// Reading packets ahead until the parameters of every stream are known.

extension InputFile {
    /// A codec without a decoder, for which libavformat opens none.
    private static let standIn = AV_CODEC_ID_CELT

    /// Reads packets ahead until each stream's parameters are known: `avformat_find_stream_info`.
    ///
    /// libavformat opens a decoder for every stream and decodes a packet of AAC even where the header has said all
    /// there is to know. Setting up that decoder's tables takes longer than all else together, so such a stream of an
    /// MP4, QuickTime or Matroska file passes for one of another codec while packets are read ahead.
    static func readAhead(
        _ context: UnsafeMutablePointer<AVFormatContext>, formatName: String, limits: MediaLimits
    ) -> AVStatus {
        var settled: [UnsafeMutablePointer<AVStream>] = []
        if formatName.hasPrefix("mov,") || formatName.hasPrefix("matroska,"), avcodec_find_decoder(standIn) == nil {
            let streams = (0..<Int(context.pointee.nb_streams)).compactMap { context.pointee.streams?[$0] }
            settled = streams.filter { settleAAC($0.pointee.codecpar) }
        }
        for stream in settled { stream.pointee.codecpar.pointee.codec_id = standIn }
        // The decoders that libavformat opens for this know no limit of their own.
        var options = [OpaquePointer?](repeating: nil, count: Int(context.pointee.nb_streams))
        for index in options.indices { av_dict_set_int(&options[index], "max_pixels", Int64(limits.pixels), 0) }
        let status = avformat_find_stream_info(context, &options)
        for index in options.indices { av_dict_free(&options[index]) }
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
        guard let header = PlainAACHeader(bytes), stream.pointee.sample_rate == header.sampleRate,
            stream.pointee.ch_layout.nb_channels == header.channels
        else { return false }
        stream.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        stream.pointee.frame_size = 1024
        av_channel_layout_default(&stream.pointee.ch_layout, Int32(header.channels))
        return true
    }

    /// How many packets of a WAV file libavformat looks through for DTS that passes for 16-bit samples.
    ///
    /// One, unless a frame of DTS seems to begin in the first 64 kilobytes: each packet is held against every format
    /// that there is.
    static func probedPackets(ofWAV io: InputIO) -> Int32 {
        guard io.isSeekable else { return 16 }
        // Big and little end, 16 and 14 bits of a word (ETSI TS 102 114, 5.4).
        let marks: (UInt32, UInt32, UInt32, UInt32) = (0x7FFE_8001, 0xFE7F_0180, 0x1FFF_E800, 0xFF1F_00E8)
        var word: UInt32 = 0
        for byte in (try? io.bytes(at: 0, count: 1 << 16)) ?? [] {
            word = word << 8 | UInt32(byte)
            if word == marks.0 || word == marks.1 || word == marks.2 || word == marks.3 { return 16 }
        }
        return 1
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

    init?(_ bytes: some Collection<UInt8>) {
        // All of it stands in the first 33 bits; what is not there is zeros, which say nothing.
        guard bytes.count >= 2 else { return nil }
        var bits: UInt64 = 0
        var shift: UInt64 = 64
        for byte in bytes.prefix(8) {
            shift -= 8
            bits |= UInt64(byte) << shift
        }
        func take(_ count: UInt64) -> Int {
            defer { bits <<= count }
            return Int(bits >> (64 - count))
        }
        let (type, rate) = (take(5), take(4))
        channels = take(4)
        guard type == 2, Self.rates.indices.contains(rate), channels == 1 || channels == 2, take(3) == 0 else {
            return nil
        }
        sampleRate = Self.rates[rate]
        if take(11) == 0x2b7 {
            guard take(5) == 5, take(1) == 0 else { return nil }
        } else {
            guard sampleRate >= 32000 else { return nil }
        }
    }
}
