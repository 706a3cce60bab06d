import CFFmpeg
import Glibc
package import MediaBase
import SystemCalls
import SystemPackage

/// Owner of an `AVFormatContext` that reads: one open container.
///
/// A class, because streams point into the context. One thread uses it at a time; ``cancel()`` alone may be called
/// from any thread at any moment.
package final class InputFile: @unchecked Sendable {
    let io: InputIO
    let context: UnsafeMutablePointer<AVFormatContext>
    /// Where the packets end that were read of each stream, in its time base.
    private var readEnds: [Int64] = []
    let allowsNested: Bool
    /// The edit lists by which packets get their times, by stream.
    package internal(set) var edits: [Int: StreamEdits] = [:]
    /// What the container's own tables say of streams' first and last samples, by stream.
    package var times: [Int: ListedTimes] = [:]
    /// The streams that are read by openings of their own.
    var edited: [Int: EditedStream] = [:]
    /// The streams of which packets are wanted; `nil` for all.
    private(set) var selection: Set<Int>?
    /// The streams whose last part is over.
    var finished: Set<Int> = []
    /// The next packet of the file, and of each stream that is read apart; empty after a seek.
    var heads: [ReadHead] = []

    /// What the file may ask for.
    package let limits: MediaLimits

    /// What was opened.
    package let source: InputSource

    /// The kind of container.
    package let format: ContainerFormat

    /// Whether the container and the codecs' headers told all there is to know before any packet was read.
    package internal(set) var isDescribedByHeaders = false
    /// The rates that the container's header states, by the stream's index.
    var statedFrameRates: [Int: Rational] = [:]
    /// The streams that codecs' headers describe.
    var described: Set<Int> = []
    /// Whether packets are read with all that libavformat needs for that.
    var isReadyForPackets = false

    /// Opens a container and reads its header.
    ///
    /// An MP4 or MP3 that comes through a pipe is first read to its end, into a temporary file without a name; with
    /// `spoolsPipe` any format is.
    ///
    /// - Parameters:
    ///   - source: What to open.
    ///   - rawSound: How the file's sound is stored, where it is nothing but samples; `nil` to recognise the format.
    ///   - allowsNested: Whether the file may make libavformat open others.
    ///   - readsAhead: Whether each stream's parameters are learnt, without which some demuxers do not tell times.
    ///   - describe: Tells what codecs' headers say, so that no decoder need be asked.
    ///   - spoolsPipe: Whether a pipe is read to its end first, so that it can be read more than once.
    ///   - limits: What the file may ask for, and until when it is read.
    ///   - cancellation: Ends opening, and all reading later.
    /// - Throws: ``MediaError`` for what cannot be opened, is no media, or exceeds a limit.
    package init(
        opening source: InputSource, rawSound: RawSound? = nil, allowsNested: Bool = false,
        readsAhead: Bool = true, spoolsPipe: Bool = false, limits: MediaLimits = MediaLimits(),
        cancellation: Cancellation = Cancellation(), describedBy describe: Describer? = nil
    ) throws(MediaError) {
        LibraryLog.install()
        _ = LibraryLog.takeLastLine()
        self.source = source
        self.allowsNested = allowsNested
        self.limits = limits
        let io = try source.open(deadline: limits.deadline)
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
        if format == .isoMedia { io.cover(try CoveredBytes.stillPictures(io)) }
        if format == .caf { io.cover(try CoveredBytes.packetTable(ofCAF: io)) }
        var allocated = try Self.makeContext(io, format, allowsNested: allowsNested, limits: limits)
        // Without a name libavformat cannot resolve what a file refers to; it is needed only where that is allowed.
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
        // Bytes that libavformat's raw demuxers read at once: 1024, each time allocated, unless told otherwise.
        if format == .flac { av_dict_set_int(&entries, "raw_packet_size", 1 << 14, 0) }
        // What demuxers open by contexts of their own does not come through io_open.
        if allowsNested { av_dict_set(&entries, "protocol_whitelist", "file,crypto,data", 0) }
        // By itself it takes only relative names of a few letters.
        if allowsNested, format.name == "concat" { av_dict_set(&entries, "safe", "0", 0) }
        // What HLS lists name need not end as FFmpeg 7.1 expects it.
        if allowsNested, format.name == "hls" { av_dict_set(&entries, "extension_picky", "0", 0) }
        // 4096 bytes at most by default until 7.0, after that a number of packets a second.
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
            // Some of these look like subtitles.
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
            readAhead(describing: describe)
            if let stop = io.stop { throw stop }
        }
        if let failure = Self.failure(of: io) { throw failure }
        if readsAhead { returnHoles() }
    }

    /// A context that reads through our own functions and opens nothing else, unless that is allowed.
    private static func makeContext(
        _ io: InputIO, _ format: ContainerFormat, allowsNested: Bool, limits: MediaLimits
    ) throws(MediaError) -> UnsafeMutablePointer<AVFormatContext> {
        guard let allocated = avformat_alloc_context() else { throw MediaError(.outOfResources, "out of memory") }
        allocated.pointee.pb = io.context
        allocated.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        allocated.pointee.max_streams = Int32(clamping: limits.streams)
        allocated.pointee.probesize = Int64(max(32, limits.probeBytes))
        // The file's own I/O outlives the context: both belong to this object.
        allocated.pointee.interrupt_callback.opaque = Unmanaged.passUnretained(io).toOpaque()
        allocated.pointee.interrupt_callback.callback = { opaque in
            guard let opaque else { return 0 }
            return Unmanaged<InputIO>.fromOpaque(opaque).takeUnretainedValue().stop == nil ? 0 : 1
        }
        if format == .wav { allocated.pointee.max_probe_packets = Self.probedPackets(ofWAV: io) }
        if allowsNested {
            allocated.pointee.opaque = Unmanaged.passUnretained(io).toOpaque()
            allocated.pointee.io_open = Self.openLocalFile
        } else {
            allocated.pointee.io_open = { _, _, _, _, _ in shim_error_not_permitted }
        }
        return allocated
    }

    /// Gives memory back to the system that libavformat no longer uses: the tables that a long index was made of.
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

    /// The error for a file that the system failed to read, which demuxers take for the file's end or for damage.
    private static func failure(of io: InputIO) -> MediaError? {
        io.failure.map {
            MediaError(
                .inputOutput, "cannot read the header: reading failed in the system",
                cause: "pread: \(Errno(rawValue: $0))")
        }
    }

    /// libavformat's own `io_open`, which a new context has.
    private static let standardOpening = {
        let context = avformat_alloc_context()
        defer { avformat_free_context(context) }
        return context?.pointee.io_open
    }()

    /// Opens what an input names, where that is a regular file, or is inside the input itself (`data:`).
    private static let openLocalFile:
        @convention(c) (
            UnsafeMutablePointer<AVFormatContext>?, UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
            UnsafePointer<CChar>?, Int32, UnsafeMutablePointer<OpaquePointer?>?
        ) -> Int32 = { context, opened, url, flags, options in
            guard let url else { return shim_error_invalid_argument }
            let isLocal: Bool
            switch avio_find_protocol_name(url).map({ String(cString: $0) }) {
            case "file":
                let name = strncmp(url, "file:", 5) == 0 ? url + 5 : url
                var status = stat()
                // What is missing is said by whoever opens it.
                isLocal = stat(name, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
            case "crypto", "data": isLocal = true
            default: isLocal = false
            }
            guard isLocal else {
                if let io = context?.pointee.opaque {
                    Unmanaged<InputIO>.fromOpaque(io).takeUnretainedValue().hasRefusedAddress = true
                }
                return shim_error_not_permitted
            }
            return standardOpening?(context, opened, url, flags, options) ?? shim_error_not_permitted
        }

    /// Ends the call that is under way, and all later ones, with ``MediaError/Code-swift.struct/cancelled``.
    package func cancel() { io.cancel() }

    /// Whether ``cancel()`` was called.
    package var isCancelled: Bool { io.isCancelled }

    /// Why nothing more is to be read: ``cancel()``, or the deadline; `nil` where nothing stands against it.
    package var stop: MediaError? { io.stop }

    /// Whether reading may go back; not so for a pipe, unless it was read to its end first.
    package var isSeekable: Bool { io.isSeekable }

    /// The temporary file that holds what came through a pipe; `nil` where there is none.
    package var spool: SpoolFile? { io.spool }

    /// Length of the file in bytes, without those that were passed over; `nil` for a stream.
    package var length: Int64? { io.length }

    /// Tells the length of the file in bytes, or how many have come through a pipe so far; on any thread.
    package var inputBytes: @Sendable () -> Int {
        if let length { return { Int(clamping: length) } }
        return { [io] in Int(clamping: io.streamedBytes) }
    }

    /// How many bytes come before the media and were left out; positions in the file count from there on.
    package var passedOver: Int64 { io.passedOver }

    /// Bytes of the file itself, apart from its packets; fewer than `count` at its end.
    ///
    /// Of a stream there is only the header of Matroska, up to its first packets and one megabyte.
    package func bytes(at position: UInt64, count: Int) throws(MediaError) -> [UInt8] {
        try io.bytes(at: position, count: count)
    }
}

// MARK: - Reading

extension InputFile {
    /// The next packet as libavformat has it, apart from edit lists; `nil` at the end.
    func readStored() throws(MediaError) -> Packet? {
        prepareForPackets()
        let packet = try Packet()
        let status = AVStatus(rawValue: av_read_frame(context, packet.pointer))
        if let stop = io.stop { throw stop }
        if status == .endOfFile { return nil }
        // Some demuxers say so at their end, with a plain -1; files that a list refers to are refused when it is opened.
        if status == .notPermitted {
            throw MediaError(.damaged, "cannot read on", cause: "av_read_frame: \(status)")
        }
        guard !status.isFailure else {
            // Of a file that ends too early some demuxers say that reading failed; had it failed, the system had said so.
            let isShort = status == .inputOutput && isSeekable && io.failure == nil
            throw MediaError(isShort ? .invalidData : status, call: "av_read_frame", doing: "read on")
        }
        // The last block, for being shorter than others; that a file is shorter than it says is told apart from that.
        if packet.isCorrupt, format.holdsPlainPCM { packet.clearCorrupt() }
        settle(packet)
        noteEnd(of: packet)
        return packet
    }

    private func noteEnd(of packet: borrowing Packet) {
        let index = packet.streamIndex
        guard let time = packet.pts ?? packet.dts, index >= 0 else { return }
        while readEnds.count <= index { readEnds.append(.min) }
        readEnds[index] = max(readEnds[index], time &+ packet.duration)
    }

    /// Where the latest packet ends that was read of a stream; `nil` where none was that says so.
    package func readEnd(ofStream index: Int) -> MediaTime? {
        guard readEnds.indices.contains(index), readEnds[index] > .min, let stream = pointer(toStream: index) else {
            return nil
        }
        return MediaTime(ticks: readEnds[index], timeBase: stream.pointee.time_base)
    }

    /// Whether the streams' durations are the container's own word and not an estimate by bit rate or time stamps.
    package var statesDurations: Bool {
        isDescribedByHeaders || context.pointee.duration_estimation_method == AVFMT_DURATION_FROM_STREAM
    }

    /// Chooses the streams whose packets ``readPacket()`` yields; the demuxer skips the others where it can.
    package func select(streams wanted: Set<Int>) {
        (selection, heads, finished) = (wanted, [], [])
        for index in 0..<streamCount {
            let isRead = wanted.contains(index) && edited[index] == nil
            pointer(toStream: index)?.pointee.discard = isRead ? AVDISCARD_DEFAULT : AVDISCARD_ALL
        }
    }

    /// Goes to the last sync sample whose decode time is `ticks` or earlier, apart from edit lists.
    func seekStored(stream index: Int, to ticks: Int64) -> Bool {
        prepareForPackets()
        return isSeekable && av_seek_frame(context, Int32(index), ticks, AVSEEK_FLAG_BACKWARD) >= 0
    }

    /// The index that the container carries for a stream, or that reading has built up so far, apart from edit lists.
    ///
    /// `avformat_index_get_entry`; the time stamps are decode times in the stream's time base.
    func storedIndexEntry(stream index: Int, at position: Int) -> (ticks: Int64, isKey: Bool)? {
        guard let stream = pointer(toStream: index), let position = Int32(exactly: position),
            let entry = avformat_index_get_entry(stream, position)
        else { return nil }
        return (entry.pointee.timestamp, entry.pointee.flags & AVINDEX_KEYFRAME != 0)
    }

    /// Whether the index ends with a sample of a chosen stream that lies behind the file's end.
    package var isCutShort: Bool {
        guard let length else { return false }
        return (0..<streamCount).contains { index in
            guard let stream = pointer(toStream: index), stream.pointee.discard != AVDISCARD_ALL,
                case let count = avformat_index_get_entries_count(stream), count > 0,
                let last = avformat_index_get_entry(stream, count - 1)
            else { return false }
            let (end, overflow) = last.pointee.pos.addingReportingOverflow(Int64(last.pointee.size))
            return overflow || end > length
        }
    }

    /// The position in the index of the last sample at `ticks` or earlier, a sync sample unless any will do, apart from edit
    /// lists; `nil` where there is none.
    func storedIndexPosition(stream index: Int, notAfter ticks: Int64, ofAnySample isAny: Bool = false) -> Int? {
        guard let stream = pointer(toStream: index) else { return nil }
        let flags = AVSEEK_FLAG_BACKWARD | (isAny ? AVSEEK_FLAG_ANY : 0)
        let position = av_index_search_timestamp(stream, ticks, flags)
        return position < 0 ? nil : Int(position)
    }
}
