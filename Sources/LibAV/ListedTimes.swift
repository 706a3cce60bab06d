import CFFmpeg
import MediaBase

/// The sample times that a container's own tables state, without edits, in ticks of the stream's time base.
package struct ListedTimes: Sendable {
    /// The presentation time of the first sample; `nil` if the tables do not state it.
    package var start: Int64?
    /// The end times, by presentation time, of samples for which libavformat's versions report different ends.
    ///
    /// These are the last sample and the last sample of each fragment.
    package var ends: [Int64: Int64] = [:]
    /// The end time of the last sample; `nil` if the tables do not state it.
    package var end: Int64?

    /// Creates a value without any known times.
    package init() {}
}

extension InputFile {
    /// Corrects the properties of a packet that libavformat's versions derive differently from the container.
    func settle(_ packet: borrowing Packet) {
        let index = packet.streamIndex
        if packet.duration == 0, let stream = pointer(toStream: index) { packet.countALAC(in: stream) }
        if let listed = times[index], let time = packet.pts ?? packet.dts {
            if let end = listed.ends[time], end > time {
                packet.pointer.pointee.duration = end.subtractingClamped(time)
            } else if let end = listed.end, end > time {
                packet.pointer.pointee.duration = min(packet.duration, end.subtractingClamped(time))
            }
        }
        if format.hasEdits { packet.leaveOut(first: 0, last: 0) }
        if format == .matroska, let stream = pointer(toStream: index) { settleSound(packet, in: stream) }
    }

    /// Makes the decoder skip the encoder delay of Matroska audio (CodecDelay) at the stream's first packet.
    ///
    /// libavformat itself does so from 8.1 on, but only until the first seek. The Vorbis decoder itself produces no
    /// output for the first packet, whose time is the delay's.
    private func settleSound(_ packet: borrowing Packet, in stream: UnsafeMutablePointer<AVStream>) {
        if packet.paddingSamples > 0 { packet.countPadding(in: stream) }
        guard let parameters = stream.pointee.codecpar, parameters.pointee.codec_type == AVMEDIA_TYPE_AUDIO,
            case let delay = Int(parameters.pointee.initial_padding), delay > 0
        else { return }
        let isDelayed = packet.pts == stream.pointee.start_time && parameters.pointee.codec_id != AV_CODEC_ID_VORBIS
        packet.leaveOut(first: isDelayed ? delay : 0, last: packet.paddingSamples)
    }

    /// Subtracts the audio delay from the start times of Matroska streams, to which libavformat adds it from 8.1 on.
    ///
    /// - Parameter known: The streams whose start was known before libavformat read ahead.
    func settleStarts(besides known: Set<Int>) {
        guard shim_starts_count_delay() != 0 else { return }
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

/// The way in which libavformat's Matroska muxer handles the times of audio that has a `CodecDelay`.
///
/// Version 5.1 only writes the delay, so callers must add it to the times first. Later versions add it themselves. To
/// find out which of the two applies to this build, a test packet is written to memory.
enum MatroskaDelay {
    /// Returns the delay that the muxer adds to times, in units of `timeBase`.
    static func added(to parameters: UnsafePointer<AVCodecParameters>, in timeBase: AVRational) -> Int64 {
        guard isAdded else { return 0 }
        let padding = Int64(max(0, parameters.pointee.initial_padding))
        return av_rescale_q(padding, AVRational(num: 1, den: max(1, parameters.pointee.sample_rate)), timeBase)
    }

    /// True if the muxer adds the delay to times.
    private static let isAdded: Bool = timeOfTestPacket.map { $0 > 0 } ?? false

    /// The time in milliseconds that the muxer stores for an Opus packet with the time 0 and a delay of 10 ms.
    ///
    /// `nil` if no file can be written.
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

    /// The content of the packet, by which it is found in the file.
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
        // The header of Opus (RFC 7845, 5.1).
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

    /// Returns the time of the only block: its cluster's time plus its own offset (RFC 9559, 5.1.3.1 and 10.2).
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

/// Bytes of a file that are hidden from libavformat, because its versions interpret them differently.
///
/// libavformat reads other bytes in their place; the package's own readers see the file's bytes.
struct CoveredBytes {
    /// The byte offset of the first hidden byte in the file.
    var position: Int64
    /// The bytes to read instead.
    var shown: [UInt8]
}

// MARK: - MP4 and QuickTime boxes

extension CoveredBytes {
    /// Creates a replacement of a box's four-byte code by `free`, which every reader skips.
    private init(code position: Int64) {
        self.init(position: position, shown: Array("free".utf8))
    }

    /// The maximum number of top-level boxes to examine.
    private static let maximumBoxes = 64
    /// The maximum number of bytes of a movie box to examine.
    private static let maximumBytes = 64 << 20
    /// The maximum number of apertures to hide; every read checks all of them.
    private static let maximumApertures = 1000

    /// Returns the bytes to hide for still pictures beside a movie, which libavformat numbers as tracks from 7.0 on.
    ///
    /// A file with a sequence of images has a `meta` box and a `moov` box (ISO/IEC 23008-12, 7).
    static func stillPictures(_ io: InputIO) throws(MediaError) -> [CoveredBytes] {
        let brands: Set<String> = ["avis", "avif", "msf1", "mif1", "heic", "heix", "hevc", "hevx"]
        let head = try io.bytes(at: 0, count: 12)
        guard head.count == 12, head[4..<8].elementsEqual("ftyp".utf8),
            brands.contains(String(decoding: head[8...], as: UTF8.self))
        else { return [] }
        let boxes = try topLevel(io)
        guard boxes.contains(where: { $0.code == "moov" }) else { return [] }
        return boxes.filter { $0.code == "meta" }.map { CoveredBytes(code: $0.range.lowerBound + 4) }
    }

    /// Returns the bytes to hide for clean apertures (`clap`) in the movie box; libavformat 7.1 rejects unusual ones.
    static func cleanApertures(_ io: InputIO) throws(MediaError) -> [CoveredBytes] {
        guard let movie = try topLevel(io).first(where: { $0.code == "moov" }) else { return [] }
        let count = Int(clamping: min(movie.range.upperBound - movie.range.lowerBound, Int64(maximumBytes)))
        let bytes = try io.bytes(at: UInt64(clamping: movie.range.lowerBound), count: count)
        // The box contains eight numbers (ISO/IEC 14496-12, 12.1.4).
        let header: [UInt8] = [0, 0, 0, 40] + Array("clap".utf8)
        var places: [CoveredBytes] = []
        var place = 0
        while place + 40 <= bytes.count, places.count < maximumApertures {
            if bytes[place + 4] == header[4], bytes[place..<place + 8].elementsEqual(header) {
                places.append(CoveredBytes(code: movie.range.lowerBound + Int64(place) + 4))
                place += 40
            } else {
                place += 1
            }
        }
        return places
    }

    private static func topLevel(_ io: InputIO) throws(MediaError) -> [(code: String, range: Range<Int64>)] {
        var boxes: [(code: String, range: Range<Int64>)] = []
        var place: Int64 = 0
        while boxes.count < maximumBoxes, let length = io.length, place < length {
            let head = try io.bytes(at: UInt64(clamping: place), count: 16)
            guard head.count >= 8 else { break }
            var size = head[..<4].bigEndian
            if size == 1, head.count == 16 { size = head[8...].bigEndian }
            let (sum, overflow) = place.addingReportingOverflow(Int64(clamping: size))
            let end = size == 0 || overflow ? length : min(sum, length)
            guard end >= place + 8 else { break }
            boxes.append((String(decoding: head[4..<8], as: UTF8.self), place..<end))
            place = end
        }
        return boxes
    }
}

// MARK: - CAF packet table

extension CoveredBytes {
    /// The maximum number of chunks to skip.
    private static let maximumChunks = 1000

    /// Returns a replacement for the sample counts in a CAF packet table, by which all samples are real.
    ///
    /// From 8.1 on, libavformat counts packet times from the first real sample and cannot seek to earlier ones.
    static func packetTable(ofCAF io: InputIO) throws(MediaError) -> [CoveredBytes] {
        var place: UInt64 = 8
        for _ in 0..<maximumChunks where io.isSeekable {
            let head = try io.bytes(at: place, count: 12)
            guard head.count == 12 else { break }
            let (next, overflow) = (place + 12).addingReportingOverflow(head[4...].bigEndian)
            guard head[..<4].elementsEqual("pakt".utf8) else {
                guard !overflow, next < UInt64(Int64.max) else { break }
                place = next
                continue
            }
            // The number of packets, then 64 bits for the real samples, and 32 bits each for those before and after
            // them.
            let table = try io.bytes(at: place + 12, count: 24)
            guard table.count == 24 else { break }
            let (before, after) = (table[16..<20].bigEndian, table[20...].bigEndian)
            let all = table[8..<16].bigEndian.addingReportingOverflow(before + after)
            guard before + after > 0, before < 1 << 31, after < 1 << 31, !all.overflow else { break }
            let shown = (0..<8).map { UInt8(truncatingIfNeeded: all.partialValue >> (56 - 8 * $0)) }
            return [CoveredBytes(position: Int64(place) + 20, shown: shown + [UInt8](repeating: 0, count: 8))]
        }
        return []
    }
}
