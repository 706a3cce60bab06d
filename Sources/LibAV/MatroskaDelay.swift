import CFFmpeg

/// What libavformat's Matroska muxer does to the times of sound that has a `CodecDelay`.
///
/// 5.1 writes the delay alone, so that times must have it added before; later versions add it themselves. Which of the two
/// this build does is asked of itself, by a packet that is written into memory.
enum MatroskaDelay {
    /// By how much the muxer makes times later, in units of `timeBase`.
    static func added(to parameters: UnsafePointer<AVCodecParameters>, in timeBase: AVRational) -> Int64 {
        guard isAdded else { return 0 }
        let padding = Int64(max(0, parameters.pointee.initial_padding))
        return av_rescale_q(padding, AVRational(num: 1, den: max(1, parameters.pointee.sample_rate)), timeBase)
    }

    /// Whether times are made later at all.
    private static let isAdded: Bool = timeOfTestPacket.map { $0 > 0 } ?? false

    /// The time in milliseconds at which a packet of Opus lies in a file that was given with the time 0 and a delay of 10 ms;
    /// `nil` where none can be written.
    private static let timeOfTestPacket: Int? = {
        var allocated: UnsafeMutablePointer<AVFormatContext>?
        guard avformat_alloc_output_context2(&allocated, nil, "matroska", nil) >= 0, let context = allocated else {
            return nil
        }
        defer { avformat_free_context(context) }
        guard avio_open_dyn_buf(&context.pointee.pb) >= 0 else { return nil }
        context.pointee.flags |= AVFMT_FLAG_BITEXACT
        context.pointee.avoid_negative_ts = 0
        write(to: context)
        var memory: UnsafeMutablePointer<UInt8>?
        let count = avio_close_dyn_buf(context.pointee.pb, &memory)
        context.pointee.pb = nil
        defer { av_free(memory) }
        return time(in: Array(UnsafeBufferPointer(start: memory, count: max(0, Int(count)))))
    }()

    /// What is looked for in the file.
    private static let content: [UInt8] = Array("a packet for a test".utf8)

    private static func write(to context: UnsafeMutablePointer<AVFormatContext>) {
        guard let stream = avformat_new_stream(context, nil), let parameters = stream.pointee.codecpar,
            let packet = av_packet_alloc()
        else { return }
        var owned: UnsafeMutablePointer<AVPacket>? = packet
        defer { av_packet_free(&owned) }
        parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
        parameters.pointee.codec_id = AV_CODEC_ID_OPUS
        parameters.pointee.sample_rate = 48000
        parameters.pointee.initial_padding = 480
        av_channel_layout_default(&parameters.pointee.ch_layout, 1)
        // RFC 7845, 5.1.
        let header = Array("OpusHead".utf8) + [1, 1, 0xE0, 1, 0x80, 0xBB, 0, 0, 0, 0, 0]
        guard (try? CodecParameters.setExtradata(header, of: parameters)) != nil,
            avformat_write_header(context, nil) >= 0, av_new_packet(packet, Int32(content.count)) >= 0
        else { return }
        packet.pointee.data.update(from: content, count: content.count)
        packet.pointee.pts = 0
        packet.pointee.dts = 0
        packet.pointee.flags |= AV_PKT_FLAG_KEY
        if av_write_frame(context, packet) >= 0 { av_write_trailer(context) }
    }

    /// The time of the one block: that of its cluster, and its own from there (RFC 9559, 5.1.3.1 and 10.2).
    private static func time(in bytes: [UInt8]) -> Int? {
        func place(of wanted: [UInt8]) -> Int? {
            bytes.indices.first { bytes[$0...].starts(with: wanted) }
        }
        guard let block = place(of: content), block >= 4, let cluster = place(of: [0x1F, 0x43, 0xB6, 0x75]),
            let stamp = bytes[cluster..<block].firstIndex(of: 0xE7), stamp + 1 < block
        else { return nil }
        let size = Int(bytes[stamp + 1] & 0x7F)
        guard size <= 8, stamp + 2 + size <= block else { return nil }
        let start = bytes[stamp + 2..<stamp + 2 + size].reduce(0) { $0 << 8 | Int($1) }
        return start + Int(Int16(bitPattern: UInt16(bytes[block - 3]) << 8 | UInt16(bytes[block - 2])))
    }
}
