import CFFmpeg
package import MediaBase

/// Owner of an `AVCodecParameters` and its stream's side data: everything a decoder or muxer must know about a track.
///
/// The object is immutable after its creation, so it may be shared between threads.
package final class CodecParameters: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<AVCodecParameters>
    /// The side data that belongs to the whole stream, such as HDR metadata, with its type.
    let sideData: [(type: AVPacketSideDataType, bytes: [UInt8])]

    private init(
        adopting pointer: UnsafeMutablePointer<AVCodecParameters>,
        sideData: [(type: AVPacketSideDataType, bytes: [UInt8])] = []
    ) {
        self.pointer = pointer
        self.sideData = sideData
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVCodecParameters>? = pointer
        avcodec_parameters_free(&pointer)
    }

    /// The types of side data that are copied with a track to another file.
    ///
    /// The display matrix is excluded because it belongs to the track, not to the samples.
    private static let carried: [AVPacketSideDataType] = [
        AV_PKT_DATA_MASTERING_DISPLAY_METADATA, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, AV_PKT_DATA_DOVI_CONF,
        AV_PKT_DATA_STEREO3D, AV_PKT_DATA_SPHERICAL, AV_PKT_DATA_CPB_PROPERTIES, AV_PKT_DATA_ICC_PROFILE,
        AV_PKT_DATA_REPLAYGAIN, AV_PKT_DATA_AUDIO_SERVICE_TYPE,
    ]

    /// Copies a stream's parameters and side data; `nil` if out of memory.
    convenience init?(_ stream: UnsafeMutablePointer<AVStream>) {
        guard let pointer = avcodec_parameters_alloc() else { return nil }
        guard avcodec_parameters_copy(pointer, stream.pointee.codecpar) >= 0 else {
            var pointer: UnsafeMutablePointer<AVCodecParameters>? = pointer
            avcodec_parameters_free(&pointer)
            return nil
        }
        var sideData: [(type: AVPacketSideDataType, bytes: [UInt8])] = []
        for type in Self.carried {
            var size = 0
            guard let data = shim_stream_side_data(stream, type, &size), size > 0 else { continue }
            sideData.append((type, Array(UnsafeBufferPointer(start: data, count: size))))
        }
        self.init(adopting: pointer, sideData: sideData)
    }

    /// Creates the parameters of an open encoder's output (`avcodec_parameters_from_context`).
    init(_ context: UnsafeMutablePointer<AVCodecContext>) throws(MediaError) {
        pointer = try allocated(avcodec_parameters_alloc())
        sideData = []
        try AVStatus.check(
            avcodec_parameters_from_context(pointer, context), "avcodec_parameters_from_context",
            doing: "describe what is encoded")
    }

    /// libavcodec's name of the codec, such as `h264`.
    package var codec: String { String(cString: avcodec_get_name(pointer.pointee.codec_id)) }
    /// The sample rate in Hz; 0 if the stream is not audio.
    package var sampleRate: Int { Int(pointer.pointee.sample_rate) }
    /// The number of samples in each packet if it is constant; otherwise 0.
    package var frameSize: Int { Int(pointer.pointee.frame_size) }
    /// The number of priming samples before the first real sample.
    package var initialPadding: Int { Int(pointer.pointee.initial_padding) }
    /// True if the parameters describe audio.
    package var isAudio: Bool { pointer.pointee.codec_type == AVMEDIA_TYPE_AUDIO }
    /// True if the parameters describe video.
    package var isVideo: Bool { pointer.pointee.codec_type == AVMEDIA_TYPE_VIDEO }
}

extension CodecParameters {
    /// Creates the parameters for a format description.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` if libavcodec has no codec of this name.
    package convenience init(_ format: FormatDescription) throws(MediaError) {
        guard let descriptor = avcodec_descriptor_get_by_name(format.codec) else {
            throw MediaError(.unsupported, "libavcodec knows no codec \(format.codec)")
        }
        let pointer = try allocated(avcodec_parameters_alloc())
        self.init(adopting: pointer)
        pointer.pointee.codec_type = descriptor.pointee.type
        pointer.pointee.codec_id = descriptor.pointee.id
        pointer.pointee.codec_tag = Self.tag(format.codecTag)
        pointer.pointee.bit_rate = format.bitRate ?? 0
        if let level = format.level { pointer.pointee.level = Int32(clamping: level) }
        try setExtradata(format.extradata)
        if let audio = format.audio { try set(audio) }
        if let video = format.video { Self.set(video, in: pointer) }
    }

    /// Creates the parameters of data that the muxer of MP4 and QuickTime stores as it is.
    ///
    /// The muxer describes all such data as GoPro's telemetry, the only kind that it has a sample description for.
    package static func data() throws(MediaError) -> CodecParameters {
        let parameters = CodecParameters(adopting: try allocated(avcodec_parameters_alloc()))
        parameters.pointer.pointee.codec_type = AVMEDIA_TYPE_DATA
        parameters.pointer.pointee.codec_id = AV_CODEC_ID_BIN_DATA
        parameters.pointer.pointee.codec_tag = tag("gpmd")
        return parameters
    }

    static func tag(_ text: String?) -> UInt32 {
        guard let bytes = text.map({ Array($0.utf8) }), bytes.count == 4 else { return 0 }
        return bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private func setExtradata(_ bytes: [UInt8]) throws(MediaError) { try Self.setExtradata(bytes, of: pointer) }

    /// Copies bytes to the parameters as the codec's header or as the contents of an attachment.
    static func setExtradata(
        _ bytes: [UInt8], of pointer: UnsafeMutablePointer<AVCodecParameters>
    ) throws(MediaError) {
        guard !bytes.isEmpty else { return }
        guard bytes.count < 1 << 28, let memory = av_mallocz(bytes.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
            throw MediaError(.outOfResources, "out of memory")
        }
        memory.copyMemory(from: bytes, byteCount: bytes.count)
        pointer.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
        pointer.pointee.extradata_size = Int32(clamping: bytes.count)
    }

    private func set(_ audio: AudioFormat) throws(MediaError) {
        pointer.pointee.sample_rate = Int32(clamping: audio.sampleRate)
        try audio.channelLayout.copy(into: &pointer.pointee.ch_layout)
        if let format = audio.sampleFormat { pointer.pointee.format = format.native(isPlanar: audio.isPlanar).rawValue }
        pointer.pointee.bits_per_raw_sample = Int32(clamping: audio.bitsPerSample ?? 0)
        pointer.pointee.initial_padding = Int32(clamping: audio.priming ?? 0)
        let bits = av_get_bits_per_sample(pointer.pointee.codec_id)
        if bits > 0 {
            pointer.pointee.bits_per_coded_sample = bits
            pointer.pointee.block_align = Int32(clamping: Int(bits) / 8 * audio.channels)
        } else {
            // Muxers distinguish compressed audio from PCM by its frame size.
            pointer.pointee.frame_size = Self.frameSize(of: pointer.pointee.codec_id)
        }
    }

    private static func frameSize(of codec: AVCodecID) -> Int32 {
        switch codec {
        case AV_CODEC_ID_MP2, AV_CODEC_ID_MP3: 1152
        case AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3: 1536
        case AV_CODEC_ID_OPUS: 960
        case AV_CODEC_ID_ALAC, AV_CODEC_ID_FLAC: 4096
        default: 1024
        }
    }

    static func set(_ video: VideoFormat, in pointer: UnsafeMutablePointer<AVCodecParameters>) {
        pointer.pointee.width = Int32(clamping: video.encodedSize.width)
        pointer.pointee.height = Int32(clamping: video.encodedSize.height)
        if let ratio = video.sampleAspectRatio?.native { pointer.pointee.sample_aspect_ratio = ratio }
        if let format = video.pixelFormat?.native { pointer.pointee.format = format.rawValue }
        pointer.pointee.video_delay = video.reorders ? 1 : 0
        pointer.pointee.bits_per_raw_sample = Int32(clamping: video.bitDepth ?? 0)
        let color = video.color.native
        pointer.pointee.color_primaries = color.primaries
        pointer.pointee.color_trc = color.transfer
        pointer.pointee.color_space = color.matrix
        pointer.pointee.color_range = color.range
        pointer.pointee.chroma_location = color.chromaLocation
        pointer.pointee.field_order = AVFieldOrder(video.fieldOrder)
    }
}

extension CodecParameters {
    /// Returns the parameters for a part of the track.
    ///
    /// FLAC's header contains the total number of samples and a checksum of all samples. Both are set to 0 for unknown
    /// (RFC 9639, 8.2).
    package func ofPart() throws(MediaError) -> CodecParameters {
        let (total, sum) = (13..<18, 18..<34)
        guard codec == "flac", case var bytes = extradata, bytes.count >= sum.upperBound else { return self }
        // The upper four bits of the first byte belong to the bit depth.
        bytes[total.lowerBound] &= 0xF0
        for place in total.dropFirst() { bytes[place] = 0 }
        for place in sum { bytes[place] = 0 }
        return try copied(extradata: bytes)
    }

    /// Returns Opus parameters with the given number of 48 kHz samples before the audible ones (RFC 7845, 5.1).
    ///
    /// Parameters of other codecs are returned unchanged.
    package func skipping(_ samples: Int) throws(MediaError) -> CodecParameters {
        let field = 10..<12
        guard codec == "opus", let value = UInt16(exactly: samples), case var bytes = extradata,
            bytes.count >= field.upperBound
        else { return self }
        bytes.replaceSubrange(field, with: [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)])
        let copy = try copied(extradata: bytes)
        copy.pointer.pointee.initial_padding = Int32(value)
        return copy
    }

    private func copied(extradata: [UInt8]) throws(MediaError) -> CodecParameters {
        let copy = CodecParameters(adopting: try allocated(avcodec_parameters_alloc()), sideData: sideData)
        try AVStatus.check(
            avcodec_parameters_copy(copy.pointer, pointer), "avcodec_parameters_copy",
            doing: "describe a part of a track")
        av_freep(&copy.pointer.pointee.extradata)
        try copy.setExtradata(extradata)
        return copy
    }
}

extension CodecParameters: Hashable {
    /// Returns true if both mean the same to a decoder.
    package static func == (left: CodecParameters, right: CodecParameters) -> Bool {
        let (one, other) = (left.pointer.pointee, right.pointer.pointee)
        return one.codec_id == other.codec_id && one.codec_tag == other.codec_tag && one.format == other.format
            && one.width == other.width && one.height == other.height && one.sample_rate == other.sample_rate
            && one.frame_size == other.frame_size && left.extradata == right.extradata
    }

    /// Hashes the codec and its header.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(pointer.pointee.codec_id.rawValue)
        hasher.combine(extradata)
    }

    private var extradata: [UInt8] {
        guard let start = pointer.pointee.extradata, pointer.pointee.extradata_size > 0 else { return [] }
        return Array(UnsafeBufferPointer(start: start, count: Int(pointer.pointee.extradata_size)))
    }
}

// Converts a stream's AVCodecParameters and side data to a format description.

extension FormatDescription {
    init(_ stream: UnsafeMutablePointer<AVStream>) {
        let parameters = stream.pointee.codecpar.pointee
        let tag = FormatDescription.tagText(parameters.codec_tag)
        let codec = avcodec_descriptor_get(parameters.codec_id).map { String(cString: $0.pointee.name) } ?? "unknown"
        self.init(
            mediaType: Self.mediaType(parameters, tag: tag), codec: codec, codecTag: tag,
            profile: avcodec_profile_name(parameters.codec_id, parameters.profile).map { String(cString: $0) },
            level: parameters.level >= 0 ? Int(parameters.level) : nil,
            bitRate: parameters.bit_rate > 0 ? parameters.bit_rate : nil,
            extradata: parameters.extradata.map {
                Array(UnsafeBufferPointer(start: $0, count: max(0, Int(parameters.extradata_size))))
            } ?? [])
        switch parameters.codec_type {
        case AVMEDIA_TYPE_AUDIO: audio = AudioFormat(parameters)
        // Without a size, nothing is known about the video.
        case AVMEDIA_TYPE_VIDEO where parameters.width > 0 && parameters.height > 0: video = VideoFormat(stream)
        default: break
        }
    }

    private static func mediaType(_ parameters: AVCodecParameters, tag: String?) -> MediaType {
        switch parameters.codec_type {
        case AVMEDIA_TYPE_VIDEO: .video
        case AVMEDIA_TYPE_AUDIO: .audio
        case AVMEDIA_TYPE_SUBTITLE: .subtitle
        case AVMEDIA_TYPE_ATTACHMENT: .attachment
        default: tag == "tmcd" ? .timecode : .data
        }
    }

    /// Returns a tag's four characters, or its number such as `0x001b` if they are not all printable ASCII.
    ///
    /// Such numbers occur in WAV and transport streams. Returns `nil` if there is no tag.
    private static func tagText(_ tag: UInt32) -> String? {
        guard tag != 0 else { return nil }
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: tag >> (8 * UInt32($0))) }
        if bytes.allSatisfy({ (0x20...0x7E).contains($0) }) { return String(decoding: bytes, as: UTF8.self) }
        return "0x" + padded(tag, to: 4, radix: 16)
    }
}

extension AudioFormat {
    fileprivate init(_ parameters: AVCodecParameters) {
        let decoded = SampleFormat.make(AVSampleFormat(rawValue: parameters.format))
        let stored = max(parameters.bits_per_raw_sample, av_get_bits_per_sample(parameters.codec_id))
        self.init(
            sampleRate: max(0, Int(parameters.sample_rate)), channelLayout: ChannelLayout(parameters.ch_layout),
            sampleFormat: decoded?.format, isPlanar: decoded?.isPlanar ?? false,
            bitsPerSample: stored > 0 ? Int(stored) : nil,
            priming: parameters.initial_padding > 0 ? Int(parameters.initial_padding) : nil,
            remainder: parameters.trailing_padding > 0 ? Int(parameters.trailing_padding) : nil)
    }
}

extension VideoFormat {
    fileprivate init(_ stream: UnsafeMutablePointer<AVStream>) {
        let parameters = stream.pointee.codecpar.pointee
        let pixelFormat = AVPixelFormat(rawValue: parameters.format)
        let container = Rational(stream.pointee.sample_aspect_ratio)
        self.init(
            encodedSize: Dimensions(width: Int(parameters.width), height: Int(parameters.height)),
            sampleAspectRatio: container ?? Rational(parameters.sample_aspect_ratio),
            pixelFormat: pixelFormat == AV_PIX_FMT_NONE ? nil : PixelFormat(pixelFormat),
            bitDepth: Self.bitDepth(parameters, pixelFormat),
            color: ColorInfo(
                primaries: parameters.color_primaries, transfer: parameters.color_trc, matrix: parameters.color_space,
                range: parameters.color_range, chromaLocation: parameters.chroma_location),
            fieldOrder: parameters.field_order.order, hdr: HDRInfo(stream),
            reorders: parameters.video_delay > 0)
        chromaSubsampling = Self.chromaSubsampling(pixelFormat)
    }

    private static func chromaSubsampling(_ format: AVPixelFormat) -> String? {
        guard let descriptor = format.descriptor,
            descriptor.flags & UInt64(AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BAYER) == 0
        else { return nil }
        guard descriptor.nb_components >= 3 else { return "4:0:0" }
        switch (descriptor.log2_chroma_w, descriptor.log2_chroma_h) {
        case (0, 0): return "4:4:4"
        case (0, 1): return "4:4:0"
        case (1, 0): return "4:2:2"
        case (1, 1): return "4:2:0"
        case (2, 0): return "4:1:1"
        case (2, 2): return "4:1:0"
        default: return nil
        }
    }

    private static func bitDepth(_ parameters: AVCodecParameters, _ format: AVPixelFormat) -> Int? {
        if parameters.bits_per_raw_sample > 0 { return Int(parameters.bits_per_raw_sample) }
        return format.descriptor.map { Int($0.comp.0.depth) }
    }
}

extension HDRInfo {
    /// Creates HDR information from the stream's side data and transfer characteristic; `nil` if they contain none.
    fileprivate init?(_ stream: UnsafeMutablePointer<AVStream>) {
        self.init()
        switch stream.pointee.codecpar.pointee.color_trc {
        case AVCOL_TRC_SMPTE2084: transferFamily = "PQ"
        case AVCOL_TRC_ARIB_STD_B67: transferFamily = "HLG"
        default: break
        }
        func sideData<Value>(_ type: AVPacketSideDataType, as _: Value.Type) -> Value? {
            var size = 0
            guard let bytes = shim_stream_side_data(stream, type, &size), size >= MemoryLayout<Value>.size else {
                return nil
            }
            return UnsafeRawPointer(bytes).loadUnaligned(as: Value.self)
        }
        set(
            sideData(AV_PKT_DATA_MASTERING_DISPLAY_METADATA, as: AVMasteringDisplayMetadata.self),
            sideData(AV_PKT_DATA_CONTENT_LIGHT_LEVEL, as: AVContentLightMetadata.self))
        if let record = sideData(AV_PKT_DATA_DOVI_CONF, as: AVDOVIDecoderConfigurationRecord.self) {
            let layers = [
                (record.bl_present_flag, "base"), (record.el_present_flag, "enhancement"),
                (record.rpu_present_flag, "metadata"),
            ]
            dolbyVision = DolbyVisionConfiguration(
                profile: Int(record.dv_profile), level: Int(record.dv_level),
                layers: layers.filter { $0.0 != 0 }.map(\.1), compatibility: Int(record.dv_bl_signal_compatibility_id))
        }
        guard self != HDRInfo() else { return nil }
    }

    /// Sets the static metadata of a stream or a frame.
    mutating func set(_ display: AVMasteringDisplayMetadata?, _ light: AVContentLightMetadata?) {
        masteringDisplay = display.map { MasteringDisplay($0) }
        contentLightLevel = light.map {
            ContentLightLevel(maximum: Int($0.MaxCLL), maximumFrameAverage: Int($0.MaxFALL))
        }
    }
}

extension HDRInfo.MasteringDisplay {
    init(_ display: AVMasteringDisplayMetadata) {
        self.init()
        if display.has_primaries != 0 {
            func pair(_ values: (AVRational, AVRational)) -> [Rational]? {
                guard let x = Rational(values.0), let y = Rational(values.1) else { return nil }
                return [x, y]
            }
            red = pair(display.display_primaries.0)
            green = pair(display.display_primaries.1)
            blue = pair(display.display_primaries.2)
            whitePoint = pair(display.white_point)
        }
        if display.has_luminance != 0 {
            // `Rational` treats values that are not positive as unknown, but 0 cd/m² is a valid level.
            let darkest = display.min_luminance
            minimumLuminance = darkest.num == 0 && darkest.den > 0 ? .zero : Rational(darkest)
            maximumLuminance = Rational(display.max_luminance)
        }
    }
}
