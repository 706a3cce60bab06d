import CFFmpeg
package import MediaBase

// Reading packets ahead until the parameters of every stream are known.

/// How packets are read ahead when a file is opened (`avformat_find_stream_info`).
package enum ReadAhead {
    /// Not at all; some demuxers then do not tell times.
    case none
    /// Until all is known that it takes to read and decode each stream.
    case forReading
    /// Until all is known that there is to tell of each stream, and nothing is decoded that a header tells.
    ///
    /// The function gets a stream's format, as the container's header has it, and gives what it can say for sure unless
    /// the first sample says otherwise: ``InputFile/streamsByHeader``.
    case forDescription((FormatDescription) -> PictureFacts?)

    /// Whether packets are read ahead at all.
    var isWanted: Bool { if case .none = self { false } else { true } }
}

/// What a header says of a stream of pictures, where it says all.
package struct PictureFacts: Sendable {
    /// The profile as libavcodec numbers it.
    package var profile: Int
    /// The level as the codec numbers it.
    package var level: Int
    /// The pictures.
    package var video: VideoFormat

    /// Makes a description.
    package init(profile: Int, level: Int, video: VideoFormat) {
        self.profile = profile
        self.level = level
        self.video = video
    }
}

extension InputFile {
    /// Codecs without a decoder, for which libavformat opens none; the second may reorder its pictures, as H.264 does.
    private static let standIns = (sound: AV_CODEC_ID_CELT, pictures: AV_CODEC_ID_VVC)
    /// Reads packets ahead until each stream's parameters are known: `avformat_find_stream_info`.
    ///
    /// libavformat opens a decoder for every stream, and decodes a packet of AAC and several of H.264 even where the
    /// header has said all there is to know. Setting up those decoders' tables takes longer than all else together, so
    /// such a stream of an MP4, QuickTime or Matroska file passes for one of another codec while packets are read
    /// ahead. Of pictures, decoders need to know more than that; so theirs do only where nothing will be decoded.
    func readAhead(for purpose: ReadAhead) {
        var purpose = purpose
        // Matroska says nothing of when each track begins; of subtitles only what was read tells.
        if formatName.hasPrefix("matroska,"), hasSubtitles { purpose = .forReading }
        var settled: [(stream: UnsafeMutablePointer<AVCodecParameters>, codec: AVCodecID)] = []
        for index in 0..<streamCount where formatName.hasPrefix("mov,") || formatName.hasPrefix("matroska,") {
            guard let stream = pointer(toStream: index), let parameters = stream.pointee.codecpar,
                case let codec = parameters.pointee.codec_id
            else { continue }
            if avcodec_find_decoder(Self.standIns.sound) == nil, Self.settleAAC(parameters) {
                parameters.pointee.codec_id = Self.standIns.sound
                settled.append((parameters, codec))
            } else if case .forDescription(let read) = purpose, avcodec_find_decoder(Self.standIns.pictures) == nil,
                Self.settlePictures(stream, by: read)
            {
                streamsByHeader.insert(index)
                parameters.pointee.codec_id = Self.standIns.pictures
                settled.append((parameters, codec))
            }
        }
        // The decoders that libavformat opens for this know no limit of their own.
        var options = [OpaquePointer?](repeating: nil, count: streamCount)
        for index in options.indices { av_dict_set_int(&options[index], "max_pixels", Int64(limits.pixels), 0) }
        _ = avformat_find_stream_info(context, &options)
        for index in options.indices { av_dict_free(&options[index]) }
        for (stream, codec) in settled {
            stream.pointee.codec_id = codec
            if codec == AV_CODEC_ID_AAC { stream.pointee.profile = FF_PROFILE_AAC_LOW }
        }
    }

    private var hasSubtitles: Bool {
        (0..<streamCount).contains {
            pointer(toStream: $0)?.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_SUBTITLE
        }
    }

    /// Fills in what a header says of a stream of pictures; gives whether it says all.
    ///
    /// Frame rates must be known too: without the container's word, libavformat works them out from decoding times.
    private static func settlePictures(
        _ stream: UnsafeMutablePointer<AVStream>, by read: (FormatDescription) -> PictureFacts?
    ) -> Bool {
        guard let parameters = stream.pointee.codecpar, parameters.pointee.codec_type == AVMEDIA_TYPE_VIDEO,
            stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0, stream.pointee.r_frame_rate.num > 0,
            stream.pointee.avg_frame_rate.num > 0, parameters.pointee.format == AV_PIX_FMT_NONE.rawValue
        else { return false }
        guard let facts = read(FormatDescription(stream)) else { return false }
        let delay = parameters.pointee.video_delay
        CodecParameters.set(facts.video, in: parameters)
        parameters.pointee.video_delay = delay
        parameters.pointee.profile = Int32(clamping: facts.profile)
        parameters.pointee.level = Int32(clamping: facts.level)
        return true
    }

    /// Fills in what the decoder would find out of a stream of plain AAC; gives whether it could.
    private static func settleAAC(_ stream: UnsafeMutablePointer<AVCodecParameters>) -> Bool {
        guard stream.pointee.codec_id == AV_CODEC_ID_AAC, let extradata = stream.pointee.extradata,
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
