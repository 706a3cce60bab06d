import CFFmpeg
import Glibc
package import MediaBase
import SystemCalls
import SystemPackage

/// Owner of an `AVFormatContext` that reads one open container.
///
/// This is a class because streams point into the context. Only one thread may use it at a time, except that
/// ``cancel()`` may be called from any thread at any time.
package final class InputFile: @unchecked Sendable {
    let io: InputIO
    let context: UnsafeMutablePointer<AVFormatContext>
    /// The end of the packets read so far, by stream index, in each stream's time base.
    private var readEnds: [Int64] = []
    let allowsNested: Bool
    /// The edit lists that determine the packets' times, by stream index.
    package internal(set) var edits: [Int: StreamEdits] = [:]
    /// The times of first and last samples that the container's own tables state, by stream index.
    package var times: [Int: ListedTimes] = [:]
    /// The jumps of the container's clock, by which the packets' times are corrected.
    package internal(set) var clockJumps = ClockJumps()
    /// The search for jumps of the clock; `nil` if they are known.
    var clockFollower: ClockFollower?
    /// The position of each stream's last packet that has one, and of the byte to which the file was moved.
    var (clockPositions, clockStart): ([Int: Int64], Int64) = ([:], 0)
    /// The streams that are read through their own openings of the file, by stream index.
    var edited: [Int: EditedStream] = [:]
    /// The streams whose packets are read; `nil` for all.
    private(set) var selection: Set<Int>?
    /// The streams whose last edit-list part is over.
    var finished: Set<Int> = []
    /// The next packet of the file and of each separately read stream; empty after a seek.
    var heads: [ReadHead] = []

    /// The limits on the resources that the file may use.
    package let limits: MediaLimits

    /// The source that was opened.
    package let source: InputSource

    /// The container format.
    package let format: ContainerFormat

    /// True if the container's and the codecs' headers stated everything before any packet was read.
    package internal(set) var isDescribedByHeaders = false
    /// The frame rates that the container's header states, by stream index.
    var statedFrameRates: [Int: Rational] = [:]
    /// The streams that are described by codecs' headers.
    var described: Set<Int> = []
    /// True if libavformat has everything that it needs to read packets.
    var isReadyForPackets = false

    /// Opens a container and reads its header.
    ///
    /// An MP4 or MP3 from a pipe is first read to its end into an unnamed temporary file. With `spoolsPipe`, this
    /// applies to any format.
    ///
    /// - Parameters:
    ///   - source: The source to open.
    ///   - rawSound: The format of the samples if the file consists of raw samples; `nil` to recognise the format.
    ///   - allowsNested: Whether the file may make libavformat open other files.
    ///   - readsAhead: Whether to determine each stream's parameters; some demuxers do not report times otherwise.
    ///   - locate: Names the ranges of the header, which are fetched early from a slow source.
    ///   - describe: Returns the facts that codecs' headers state, so that no decoder is needed.
    ///   - spoolsPipe: Whether to read a pipe to its end first, so that it can be read more than once.
    ///   - limits: The limits for the file and the deadline for reading.
    ///   - cancellation: Cancels the opening and all later reading.
    ///   - record: The record of what is read of the source; `nil` for none.
    /// - Throws: ``MediaError`` if the source cannot be opened, is not a media file or exceeds a limit.
    package init(
        opening source: InputSource, rawSound: RawSound? = nil, allowsNested: Bool = false,
        readsAhead: Bool = true, spoolsPipe: Bool = false, limits: MediaLimits = MediaLimits(),
        cancellation: Cancellation = Cancellation(), recordedBy record: ReadingRecord? = nil,
        locatedBy locate: HeaderLocator? = nil, describedBy describe: Describer? = nil
    ) throws(MediaError) {
        LibraryLog.install()
        _ = LibraryLog.takeLastLine()
        self.source = source
        self.allowsNested = allowsNested
        self.limits = limits
        let io = try source.open(deadline: limits.deadline, record: record)
        self.io = io
        cancellation.bind(io)

        let (demuxer, junk) =
            if let rawSound { (try Self.format(of: rawSound), Int64(0)) } else {
                try Self.recognise(io, allowsNested: allowsNested)
            }
        let format = ContainerFormat(String(cString: demuxer.pointee.name))
        self.format = format
        try io.settle(
            needsWhole: spoolsPipe || junk > 0 || format.needsWholeFile, keepsHead: format == .matroska)
        io.passOver(junk)
        if io.isSlow { try locate?(format, HeaderSource(io: io)) { io.willRead($0) } }
        if format == .isoMedia { io.cover(try CoveredBytes.stillPictures(io)) }
        if format == .caf { io.cover(try CoveredBytes.packetTable(ofCAF: io)) }
        var allocated = try Self.makeContext(io, format, allowsNested: allowsNested, limits: limits)
        // libavformat needs the name only to resolve references to other files, so it is set only if they are allowed.
        var name: String? = nil
        if allowsNested, let path = source.path { name = path.string }
        var opening: UnsafeMutablePointer<AVFormatContext>? = allocated
        var entries: OpaquePointer?
        defer { av_dict_free(&entries) }
        if let rawSound {
            av_dict_set_int(&entries, "sample_rate", Int64(rawSound.sampleRate), 0)
            av_dict_set(&entries, "ch_layout", "\(rawSound.channels) channels", 0)
        }
        if format == .isoMedia { av_dict_set_int(&entries, "ignore_editlist", 1, 0) }
        // By default, libavformat's raw demuxers allocate and read only 1024 bytes at a time.
        if format == .flac { av_dict_set_int(&entries, "raw_packet_size", 1 << 14, 0) }
        // Demuxers that open files through their own contexts bypass io_open.
        if allowsNested { av_dict_set(&entries, "protocol_whitelist", "file,crypto,data", 0) }
        // By default, the demuxer accepts only relative names of a limited set of characters.
        if allowsNested, format.name == "concat" { av_dict_set(&entries, "safe", "0", 0) }
        // Files named in HLS playlists need not have the extensions that FFmpeg 7.1 expects.
        if allowsNested, format.name == "hls" { av_dict_set(&entries, "extension_picky", "0", 0) }
        // The default is at most 4096 bytes until 7.0, then a number of packets per second.
        if format == .wav || format == .wave64 { av_dict_set_int(&entries, "max_size", 4096, 0) }
        var sameEntries: OpaquePointer?
        defer { av_dict_free(&sameEntries) }
        av_dict_copy(&sameEntries, entries, 0)
        var status = avformat_open_input(&opening, name ?? "", demuxer, &entries)
        if status == shim_error_invalid_data, format == .isoMedia, io.stop == nil,
            case let apertures = try CoveredBytes.cleanApertures(io), !apertures.isEmpty
        {
            io.cover(apertures)
            opening = try Self.makeContext(io, format, allowsNested: allowsNested, limits: limits)
            status = avformat_open_input(&opening, name ?? "", demuxer, &sameEntries)
        }
        guard status >= 0, let opened = opening else {
            if let stop = io.stop { throw stop }
            if let failure = Self.failure(of: io) { throw failure }
            if io.hasRefusedAddress {
                throw MediaError(
                    .nestedFileRefused, "names what is not a local file; nothing else is opened, and never the network")
            }
            // libavformat mistakes some of these files for subtitles.
            if let known = EditingFile.description(of: (try? io.bytes(at: 0, count: EditingFile.prefixBytes)) ?? []) {
                throw MediaError(.unknownFormat, known)
            }
            throw MediaError(
                AVStatus(rawValue: status), call: "avformat_open_input", doing: "read the header as \(format.list)")
        }
        allocated = opened
        context = allocated
        io.endHead()
        // A demuxer that discards a stream (QuickTime's chapter text) would lose the packets that are read ahead.
        for index in 0..<streamCount { pointer(toStream: index)?.pointee.discard = AVDISCARD_DEFAULT }
        noteStatedFrameRates()
        isReadyForPackets = !readsAhead
        if readsAhead {
            // The headers of other containers do not describe their streams well enough.
            if format == .isoMedia || format == .matroska || streamCount == 0 {
                readAhead(describing: describe)
            } else {
                prepareForPackets()
            }
            if let stop = io.stop { throw stop }
        }
        if let failure = Self.failure(of: io) { throw failure }
        if readsAhead { returnHoles() }
    }

    /// Records the frame rates that are known before any packet is read.
    ///
    /// Rates in MP4 and QuickTime are averages, which the sample tables state more precisely. GIF has no rate, and
    /// those of still pictures in files of their own are invented.
    func noteStatedFrameRates() {
        guard format != .isoMedia, format != .gif, !format.name.hasSuffix("_pipe") else { return }
        for index in 0..<streamCount {
            guard let stream = pointer(toStream: index) else { continue }
            // MXF counts time in frames (SMPTE ST 377-1, Edit Rate).
            let rate =
                format == .mxf
                ? Rational(stream.pointee.time_base)?.inverse : Rational(stream.pointee.avg_frame_rate)
            if let rate, rate.isPositive { statedFrameRates[index] = rate }
        }
    }

    /// Creates a context that reads through the package's own functions and opens no other files unless allowed.
    private static func makeContext(
        _ io: InputIO, _ format: ContainerFormat, allowsNested: Bool, limits: MediaLimits
    ) throws(MediaError) -> UnsafeMutablePointer<AVFormatContext> {
        let made = try allocated(avformat_alloc_context())
        made.pointee.pb = io.context
        made.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        made.pointee.max_streams = Int32(clamping: limits.streams)
        made.pointee.probesize = Int64(max(32, limits.probeBytes))
        // Unretained, because the I/O object outlives the context: both belong to this object.
        made.pointee.interrupt_callback.opaque = Unmanaged.passUnretained(io).toOpaque()
        made.pointee.interrupt_callback.callback = { opaque in
            guard let opaque else { return 0 }
            return Unmanaged<InputIO>.fromOpaque(opaque).takeUnretainedValue().stop == nil ? 0 : 1
        }
        if format == .wav { made.pointee.max_probe_packets = Self.probedPackets(ofWAV: io) }
        if allowsNested {
            made.pointee.opaque = Unmanaged.passUnretained(io).toOpaque()
            made.pointee.io_open = Self.openLocalFile
        } else {
            made.pointee.io_open = { _, _, _, _, _ in shim_error_not_permitted }
        }
        return made
    }

    /// Returns memory to the system that libavformat no longer uses: the tables from which a long index was built.
    private func returnHoles() {
        let entries = (0..<streamCount).reduce(0) { sum, index in
            sum + (pointer(toStream: index).map { Int(avformat_index_get_entries_count($0)) } ?? 0)
        }
        if entries > 50_000 { returnFreeMemory() }
    }

    deinit {
        var closing: UnsafeMutablePointer<AVFormatContext>? = context
        avformat_close_input(&closing)
    }

    /// Returns the error for a failed system read, which demuxers mistake for the end of the file or for damage.
    private static func failure(of io: InputIO) -> MediaError? {
        io.failure.map {
            MediaError(
                .inputOutput, "cannot read the header: reading failed in the system",
                cause: "pread: \(Errno(rawValue: $0))")
        }
    }

    /// Ends the current call and all later ones with ``MediaError/Code-swift.struct/cancelled``.
    package func cancel() { io.cancel() }

    /// True if ``cancel()`` was called.
    package var isCancelled: Bool { io.isCancelled }

    /// The reason why reading must stop, such as ``cancel()`` or the deadline; `nil` if reading may continue.
    package var stop: MediaError? { io.stop }

    /// True if reading may go back; false for a pipe unless it was first read to its end.
    package var isSeekable: Bool { io.isSeekable }

    /// The temporary file with the content of a pipe; `nil` if there is none.
    package var spool: SpoolFile? { io.spool }

    /// The length of the file in bytes, without the skipped leading bytes; `nil` for a stream.
    package var length: Int64? { io.length }

    /// A function that returns the length of the file in bytes, or the number received through a pipe so far.
    ///
    /// The function may be called on any thread.
    package var inputBytes: @Sendable () -> Int {
        if let length { return { Int(clamping: length) } }
        return { [io] in Int(clamping: io.streamedBytes) }
    }

    /// The number of bytes before the media that are skipped; positions in the file count from there on.
    package var passedOver: Int64 { io.passedOver }

    /// Returns bytes of the file itself, apart from its packets; fewer than `count` at its end.
    ///
    /// For a stream, only the Matroska header is available, up to its first packets and one megabyte.
    package func bytes(at position: UInt64, count: Int) throws(MediaError) -> [UInt8] {
        try io.bytes(at: position, count: count)
    }

    /// Has a slow source fetch a range of bytes that will be read soon; otherwise does nothing.
    package func willRead(_ range: Range<UInt64>) { io.willRead(range) }
}

// MARK: - Reading

extension InputFile {
    /// Returns the next packet of a selected stream, at its presentation time; `nil` at the end.
    ///
    /// Packets come in file order. Those of separately read streams are inserted according to their times.
    ///
    /// - Throws: The system's error, or ``MediaError/Code-swift.struct/damaged`` if the demuxer fails.
    package func readPacket() throws(MediaError) -> Packet? {
        edits.isEmpty ? try readStored() : try readEdited()
    }

    /// Makes libavformat read ahead unless it has already done so: `avformat_find_stream_info`.
    ///
    /// libavformat opens decoders only for streams that are not described and for H.264 in Matroska. For the latter, it
    /// infers the decode times from decoded frames.
    func prepareForPackets() {
        guard !isReadyForPackets else { return }
        isReadyForPackets = true
        var options = [OpaquePointer?](repeating: nil, count: streamCount)
        defer { for index in options.indices { av_dict_free(&options[index]) } }
        for index in options.indices {
            let codec = pointer(toStream: index)?.pointee.codecpar.pointee.codec_id
            let isTimed = codec != AV_CODEC_ID_H264 || format == .isoMedia
            if described.contains(index), isTimed {
                // No decoder has this name, so libavformat opens none.
                av_dict_set(&options[index], "codec_whitelist", "none", 0)
            } else {
                // The decoders that libavformat opens here have no limit of their own.
                av_dict_set_int(&options[index], "max_pixels", Int64(limits.pixels), 0)
            }
        }
        // A failure is no reason to give up: the streams exist, and only some of their parameters are unknown. One
        // codec thread is enough: the first frame shows a stream's parameters, and starting threads would cost more.
        let known = Set((0..<streamCount).filter { pointer(toStream: $0)?.pointee.start_time != shim_no_pts })
        _ = avformat_find_stream_info(context, &options)
        if format == .matroska { settleStarts(besides: known) }
        _ = LibraryLog.takeLastLine()
    }

    /// Returns the next packet as libavformat reads it, ignoring edit lists; `nil` at the end.
    func readStored() throws(MediaError) -> Packet? {
        prepareForPackets()
        io.readsAhead = true
        let packet = try Packet()
        Activity.note(.reading)
        let status = AVStatus(rawValue: av_read_frame(context, packet.pointer))
        if let stop = io.stop { throw stop }
        if status == .endOfFile { return nil }
        // A plain -1, which some demuxers return at their end, has the same value. Nested files are refused earlier,
        // when the list that refers to them is opened.
        if status == .notPermitted {
            throw MediaError(.damaged, "cannot read on", cause: "av_read_frame: \(status)")
        }
        guard !status.isFailure else {
            // Some demuxers report a read error for a file that ends too early. After a real read error, `io.failure`
            // is set.
            let isShort = status == .inputOutput && isSeekable && io.failure == nil
            throw MediaError(isShort ? .invalidData : status, call: "av_read_frame", doing: "read on")
        }
        // The flag only means that the last block is shorter than others. Truncated files are detected separately.
        if packet.isCorrupt, format.holdsPlainPCM { packet.clearCorrupt() }
        if clockFollower != nil || !clockJumps.all.isEmpty { correctClock(of: packet) }
        if format.hasEdits || format == .matroska || !times.isEmpty { settle(packet) }
        noteEnd(of: packet)
        return packet
    }

    private func noteEnd(of packet: borrowing Packet) {
        let index = packet.streamIndex
        guard let time = packet.pts ?? packet.dts, index >= 0 else { return }
        while readEnds.count <= index { readEnds.append(.min) }
        readEnds[index] = max(readEnds[index], time &+ packet.duration)
    }

    /// Returns the end of the latest packet that was read of a stream; `nil` if no packet with a time was read.
    package func readEnd(ofStream index: Int) -> MediaTime? {
        guard readEnds.indices.contains(index), readEnds[index] > .min, let stream = pointer(toStream: index) else {
            return nil
        }
        return MediaTime(ticks: readEnds[index], timeBase: stream.pointee.time_base)
    }

    /// True if the container states the streams' durations; false if they are estimated by bit rate or time stamps.
    package var statesDurations: Bool {
        isDescribedByHeaders || context.pointee.duration_estimation_method == AVFMT_DURATION_FROM_STREAM
    }

    /// Selects the streams whose packets ``readPacket()`` returns; the demuxer skips the others if it can.
    package func select(streams wanted: Set<Int>) {
        (selection, heads, finished) = (wanted, [], [])
        for index in 0..<streamCount {
            let isRead = wanted.contains(index) && edited[index] == nil
            pointer(toStream: index)?.pointee.discard = isRead ? AVDISCARD_DEFAULT : AVDISCARD_ALL
        }
    }
}
