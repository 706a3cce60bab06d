import CFFmpeg
package import MediaBase

/// Owner of a copy of a stream's parameters, of which any number of decoders can be opened, on any thread.
///
/// A demuxer may change a stream's own parameters while it reads; a copy stays as it was.
package final class DecoderSetup: @unchecked Sendable {
    let parameters: UnsafeMutablePointer<AVCodecParameters>
    let timeBase: AVRational
    /// Whether packets bring a second picture that says how transparent the first one is, as VP8 and VP9 have it in
    /// Matroska (`AlphaMode`).
    package let hasAlphaBeside: Bool
    /// The header's word on the channels, where libavformat knows none; `nil` else.
    private let statedChannels: Int?
    /// What the stream's pictures and sound may ask for.
    let limits: MediaLimits

    /// Copies what is known of a stream now (`avcodec_parameters_copy`).
    ///
    /// - Throws: ``MediaError/Code-swift.struct/noSuchTrack`` where the file has no such stream.
    package init(_ file: InputFile, stream index: Int) throws(MediaError) {
        guard let stream = file.pointer(toStream: index), let source = stream.pointee.codecpar else {
            throw MediaError(.noSuchTrack, "has no track \(index)")
        }
        guard let copy = avcodec_parameters_alloc() else { throw MediaError(.outOfResources, "out of memory") }
        parameters = copy
        limits = file.limits
        timeBase = stream.pointee.time_base
        let alpha = av_dict_get(stream.pointee.metadata, "alpha_mode", nil, 0).map { String(cString: $0.pointee.value) }
        hasAlphaBeside = alpha == "1"
        statedChannels = source.pointee.ch_layout.nb_channels == 0 ? file.statedChannels : nil
        try AVStatus.check(
            avcodec_parameters_copy(copy, source), "avcodec_parameters_copy", doing: "copy a stream's parameters")
        // Packets say what is left out; a decoder would leave this out once more, or instead.
        copy.pointee.initial_padding = 0
    }

    deinit {
        var parameters: UnsafeMutablePointer<AVCodecParameters>? = parameters
        avcodec_parameters_free(&parameters)
    }
}

extension DecoderSetup {
    /// Throws where the header already claims more than the limits allow; what only packets say, libavcodec checks.
    func checkLimits() throws(MediaError) {
        // From 7.0 on libavformat knows no layouts of more than 512.
        let known = Int(parameters.pointee.ch_layout.nb_channels)
        let channels = known > 0 ? known : statedChannels ?? 0
        guard channels <= limits.channels else {
            throw limits.error(.channels, "the track has \(channels) channels")
        }
        let size = Dimensions(width: Int(parameters.pointee.width), height: Int(parameters.pointee.height))
        let (pixels, overflow) = size.width.multipliedReportingOverflow(by: size.height)
        guard !overflow, pixels <= limits.pixels else {
            throw limits.error(.pixels, "the track has pictures of \(size)")
        }
    }
}

extension InputFile {
    /// The channels by a WAV file's own header; `nil` for other formats.
    fileprivate var statedChannels: Int? {
        guard formatName == "wav", let head = try? io.bytes(at: 0, count: 4096) else { return nil }
        var place = 12
        while place + 12 <= head.count {
            // The fourth field of the chunk is the number of channels (RFC 2361, WAVEFORMAT).
            if head[place..<place + 4].elementsEqual("fmt ".utf8) {
                return Int(head[place + 10]) | Int(head[place + 11]) << 8
            }
            let size = head[place + 4..<place + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
            place += 8 + size + size % 2
        }
        return nil
    }
}
