import CFFmpeg
import Glibc
import MediaBase
import SystemCalls
import SystemPackage
import Threading

/// Input from a file descriptor or a byte source, with the package's own read functions for libavformat.
///
/// The read functions guarantee that only the named file is ever opened. A regular file is read with `pread`, which
/// leaves the descriptor's own position unchanged. Any other input (a pipe, a terminal) is read sequentially and cannot
/// be rewound unless it is spooled completely first. ``cancel()`` may be called from any thread; everything else
/// belongs to the reading thread.
final class InputIO: @unchecked Sendable {
    /// The place that the bytes come from.
    enum Bytes {
        /// A descriptor that is open for reading, and whether to close it at the end.
        case descriptor(FileDescriptor, closes: Bool)
        /// A byte source that is read directly: one in memory, or a stream.
        case source(any ByteSource)
        /// A byte source whose blocks are kept in memory.
        case cache(BlockCache)
    }

    private let origin: Bytes
    /// True once packets are read, so that bytes after those that were asked for are likely to be wanted.
    var readsAhead = false
    /// The first error of the source.
    private let sourceError = Mutex<MediaError?>(nil)
    private var size: Int64?
    /// The bytes received through a pipe until its format is recognised, or its beginning if that is kept; `nil` for
    /// files.
    private var recorded: [UInt8]?
    /// The maximum number of recorded bytes; unlimited until the format is recognised.
    private var maximumRecorded = Int.max
    /// The temporary file with the content of a pipe that was read to its end.
    private(set) var spool: SpoolFile?
    private var offset: Int64 = 0
    /// The number of bytes before the media, which are hidden from all readers.
    private(set) var passedOver: Int64 = 0
    /// The bytes that libavformat reads in place of the file's own; the package's own readers see the file's bytes.
    private var covered: [CoveredBytes] = []
    private let cancelled = Atomic<Bool>(false)
    private let deadline: ContinuousClock.Instant?
    /// The record of what is read; `nil` for none.
    let record: ReadingRecord?
    /// The first system error during libavformat's reading, which some demuxers mistake for the end of the file.
    private(set) var failure: CInt?

    /// True if the file has become shorter since it was opened.
    private let shrunk = Atomic<Bool>(false)
    /// The number of bytes received through a pipe.
    private let streamed = Atomic<Int64>(0)
    /// True if the input named something other than a local file, which was refused.
    var hasRefusedAddress = false

    /// The context that libavformat reads through.
    private(set) var context: UnsafeMutablePointer<AVIOContext>?

    private static let bufferSize: Int32 = 1 << 16
    /// The maximum number of bytes to keep of a pipe while its header is read.
    private static let longestHead = 1 << 20

    /// Creates an input.
    ///
    /// - Parameters:
    ///   - bytes: The place that the bytes come from.
    ///   - size: The length in bytes of a file that can be read at any position; `nil` for a stream.
    ///   - deadline: The time at which reading ends; `nil` for never.
    ///   - record: The record of what is read, except through a cache, which reads by itself.
    init(
        _ bytes: Bytes, size: Int64?, deadline: ContinuousClock.Instant?, record: ReadingRecord? = nil
    ) throws(MediaError) {
        self.deadline = deadline
        self.record = record
        origin = bytes
        self.size = size
        recorded = size == nil ? [] : nil
        let buffer = try allocated(av_malloc(Int(Self.bufferSize)))
        let unowned = Unmanaged.passUnretained(self).toOpaque()
        context = avio_alloc_context(
            buffer.assumingMemoryBound(to: UInt8.self), Self.bufferSize, 0, unowned,
            { opaque, buffer, count in
                guard let opaque, let buffer else { return shim_error_input_output }
                return Unmanaged<InputIO>.fromOpaque(opaque).takeUnretainedValue().read(into: buffer, count: Int(count))
            }, nil, size == nil ? nil : Self.seekCallback)
        guard context != nil else {
            av_free(buffer)
            throw MediaError(.outOfResources, "out of memory")
        }
        context?.pointee.seekable = size == nil ? 0 : AVIO_SEEKABLE_NORMAL
    }

    private static let seekCallback: @convention(c) (UnsafeMutableRawPointer?, Int64, Int32) -> Int64 = {
        opaque, offset, whence in
        guard let opaque else { return Int64(shim_error_input_output) }
        return Unmanaged<InputIO>.fromOpaque(opaque).takeUnretainedValue().seek(to: offset, whence: whence)
    }

    deinit {
        if let context {
            // libavformat may have replaced the buffer, so the one in the context must be freed.
            av_freep(&context.pointee.buffer)
            avio_context_free(&self.context)
        }
        if case .descriptor(let descriptor, closes: true) = origin { try? descriptor.close() }
    }

    /// True if reading may go back.
    var isSeekable: Bool { size != nil }

    /// Prepares further reading after the format was recognised.
    ///
    /// - Parameters:
    ///   - needsWhole: Whether the format can be read correctly only as a whole. A pipe is then read to its end into a
    ///     temporary file, from which reading continues. Otherwise it remains a stream.
    ///   - keepsHead: Whether ``bytes(at:count:)`` returns a stream's beginning, up to ``endHead()``.
    func settle(needsWhole: Bool, keepsHead: Bool) throws(MediaError) {
        guard let head = recorded else { return }
        guard needsWhole else {
            if keepsHead { maximumRecorded = max(head.count, Self.longestHead) } else { recorded = nil }
            return
        }
        recorded = nil
        let spool = try SpoolFile()
        try spool.append(head.span)
        var total = Int64(head.count)
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = chunk.withUnsafeMutableBufferPointer { buffer -> Int32 in
                guard let start = buffer.baseAddress else { return shim_error_input_output }
                return readStream(into: start, count: buffer.count)
            }
            if count == shim_error_eof { break }
            if let stop { throw stop }
            try AVStatus.check(count, "read", doing: "read the pipe to its end")
            try spool.append(chunk.span.extracting(first: Int(count)))
            total += Int64(count)
        }
        self.spool = spool
        size = total
        context?.pointee.seek = Self.seekCallback
        context?.pointee.seekable = AVIO_SEEKABLE_NORMAL
    }

    /// Skips the first bytes of the file; reading starts and positions count from there on.
    ///
    /// This method is called after ``settle(needsWhole:keepsHead:)``, when a pipe has been read to its end.
    func passOver(_ count: Int64) {
        guard let length = size, let context, count > 0, count < length else { return }
        passedOver = count
        size = length - count
        restart(context)
    }

    /// Makes libavformat start again from the beginning and read other bytes at the given places.
    ///
    /// Positions count from the media's first byte. ``bytes(at:count:)`` still returns the file's own bytes.
    func cover(_ places: [CoveredBytes]) {
        guard let context, !places.isEmpty else { return }
        covered += places
        restart(context)
    }

    /// Discards what libavformat has read, so that it starts again at the first byte.
    private func restart(_ context: UnsafeMutablePointer<AVIOContext>) {
        offset = 0
        context.pointee.buf_ptr = context.pointee.buffer
        context.pointee.buf_end = context.pointee.buffer
        context.pointee.pos = 0
        context.pointee.eof_reached = 0
        context.pointee.error = 0
    }

    /// Signals that the header was read, so that no further bytes from a pipe are kept.
    func endHead() { maximumRecorded = 0 }

    /// True if a pipe whose format is being recognised has delivered no bytes.
    var isEmptyStream: Bool { recorded?.isEmpty ?? false }

    /// The length of the file in bytes; `nil` for a stream.
    var length: Int64? { size }

    /// The number of bytes received through a pipe so far, readable from any thread.
    var streamedBytes: Int64 { streamed.load(ordering: .relaxed) }

    /// Records that no bytes could be read at a position.
    ///
    /// If the position lies before the end that the file had when it was opened, the file has become shorter.
    private func noteEnd(at place: Int64) {
        guard spool == nil, let size, place < size else { return }
        shrunk.store(true, ordering: .relaxed)
    }

    /// Makes the current call and all later ones end with `AVERROR_EXIT`.
    func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// True if ``cancel()`` was called.
    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// The reason why reading must stop; `nil` if reading may continue.
    var stop: MediaError? {
        if isCancelled { return MediaError(.cancelled, "cancelled") }
        if let error = sourceError.withLock(\.self) { return error }
        if shrunk.load(ordering: .relaxed) {
            return MediaError(.changed, "became shorter while it was read; try again when nobody writes to it")
        }
        return MediaLimits.error(after: deadline)
    }

    /// Returns bytes of the file, independently of libavformat's reading.
    ///
    /// Fewer than `count` bytes are returned at the end of the file and beyond the bytes that are kept of a stream.
    func bytes(at position: UInt64, count: Int) throws(MediaError) -> [UInt8] {
        guard let start = Int64(exactly: position), count > 0 else { return [] }
        guard size != nil else {
            return Array((recorded ?? []).dropFirst(Int(clamping: start)).prefix(count))
        }
        var result = [UInt8](repeating: 0, count: count)
        let filled: Result<Int, MediaError> = result.withUnsafeMutableBytes { buffer in
            Result { () throws(MediaError) in try read(at: start, into: buffer) }
        }
        result.removeLast(count - (try filled.get()))
        return result
    }

    /// Fills a buffer with bytes of the file, on any thread, and returns the number of bytes before its end.
    func read(at start: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(MediaError) -> Int {
        guard size != nil, start >= 0, case let (place, isTooFar) = start.addingReportingOverflow(passedOver), !isTooFar
        else { return 0 }
        let filled = try fill(buffer, at: place)
        if filled < buffer.count {
            noteEnd(at: start + Int64(filled))
            if let stop, stop.code == .changed { throw stop }
        }
        return filled
    }

    /// Fills a buffer with bytes that begin at a place of the file, and returns the number of bytes before its end.
    private func fill(_ buffer: UnsafeMutableRawBufferPointer, at place: Int64) throws(MediaError) -> Int {
        switch source {
        case .descriptor(let descriptor, _):
            do throws(Errno) {
                let count = try SystemCalls.read(from: descriptor, at: place, into: buffer)
                note(UnsafeRawBufferPointer(buffer), count, at: place)
                return count
            } catch {
                throw MediaError(.inputOutput, "reading failed in the system", cause: "pread: \(error)")
            }
        case .source(let source):
            return try notingError { () throws(MediaError) in
                let found = try source.read(at: UInt64(clamping: place), count: buffer.count)
                buffer.copyBytes(from: found.prefix(buffer.count))
                let count = min(found.count, buffer.count)
                note(UnsafeRawBufferPointer(buffer), count, at: place)
                return count
            }
        case .cache(let cache):
            return try notingError { () throws(MediaError) in
                try cache.read(at: UInt64(clamping: place), into: buffer, readsAhead: readsAhead) { self.stop }
            }
        }
    }

    /// Notes bytes that were read of the source, and not of the temporary file that has a pipe's.
    private func note(_ bytes: UnsafeRawBufferPointer, _ count: Int, at place: Int64) {
        guard let record, spool == nil, count > 0 else { return }
        record.note(bytes.bytes.extracting(first: count), at: UInt64(clamping: place))
    }

    /// Keeps the error with which a source ends, for libavformat knows only that there is one.
    private func notingError(_ body: () throws(MediaError) -> Int) throws(MediaError) -> Int {
        do throws(MediaError) {
            return try body()
        } catch {
            sourceError.withLock { $0 = $0 ?? error }
            throw error
        }
    }

    /// Has bytes of the file fetched that will be read soon, if fetching them takes long.
    func willRead(_ range: Range<UInt64>) {
        guard case .cache(let cache) = source, case let skipped = UInt64(clamping: passedOver),
            range.upperBound <= .max - skipped
        else { return }
        cache.willRead(range.lowerBound + skipped..<range.upperBound + skipped)
    }

    /// True if reading a range early saves time.
    var isSlow: Bool { if case .cache = source { true } else { false } }

    /// Reads some bytes at a place of the file: the number of them, 0 at its end, or a negative error number.
    private func readSome(into buffer: UnsafeMutablePointer<UInt8>, count: Int, at place: Int64) -> Int {
        if case .descriptor(let descriptor, _) = source {
            while true {
                let result = pread(descriptor.rawValue, buffer, count, Int(place))
                if result >= 0 {
                    note(UnsafeRawBufferPointer(start: buffer, count: count), result, at: place)
                    return result
                }
                if errno != EINTR { return Int(-errno) }
            }
        }
        return (try? fill(UnsafeMutableRawBufferPointer(start: buffer, count: count), at: place)) ?? Int(-EIO)
    }

    private func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) -> Int32 {
        guard size != nil else {
            let result = readStream(into: buffer, count: count)
            if result > 0 {
                offset += Int64(result)
                let room = maximumRecorded - (recorded?.count ?? 0)
                if room > 0 {
                    recorded?.append(contentsOf: UnsafeBufferPointer(start: buffer, count: min(room, Int(result))))
                }
            }
            return result
        }
        if stop != nil { return shim_error_exit }
        let result = readSome(into: buffer, count: count, at: offset + passedOver)
        if result < 0 {
            failure = failure ?? CInt(-result)
            return Int32(result)
        }
        if result == 0 {
            noteEnd(at: offset)
            return stop == nil ? shim_error_eof : shim_error_exit
        }
        if !covered.isEmpty { cover(buffer, count: result, at: offset) }
        offset += Int64(result)
        return Int32(result)
    }

    /// Replaces the covered bytes in the data that was read.
    private func cover(_ buffer: UnsafeMutablePointer<UInt8>, count: Int, at start: Int64) {
        for place in covered {
            for (index, byte) in place.shown.enumerated() {
                let position = place.position + Int64(index) - start
                if position >= 0, position < Int64(count) { buffer[Int(position)] = byte }
            }
        }
    }

    /// Reads the next bytes of a stream and waits for them.
    private func readStream(into buffer: UnsafeMutablePointer<UInt8>, count: Int) -> Int32 {
        while true {
            if stop != nil { return shim_error_exit }
            var result: Int
            switch origin {
            case .descriptor(let descriptor, _):
                guard Self.waitForInput(descriptor) else { continue }
                result = Glibc.read(descriptor.rawValue, buffer, count)
                if result < 0, errno == EINTR { continue }
                if result < 0 { result = Int(-errno) }
                note(UnsafeRawBufferPointer(start: buffer, count: count), result, at: streamedBytes)
            case .source, .cache: result = readSome(into: buffer, count: count, at: streamedBytes)
            }
            if result > 0 { streamed.add(Int64(result), ordering: .relaxed) }
            return result == 0 ? shim_error_eof : Int32(result)
        }
    }

    /// The place from which the file's bytes are read: the spooled pipe, if it was one.
    private var source: Bytes { spool.map { .descriptor($0.descriptor, closes: false) } ?? origin }

    /// Waits briefly for a stream to have bytes, so that a cancelled reader does not hang on a silent pipe.
    private static func waitForInput(_ descriptor: FileDescriptor) -> Bool {
        var request = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        let ready = poll(&request, 1, 100)
        return ready > 0 || (ready < 0 && errno != EINTR)
    }

    private func seek(to target: Int64, whence: Int32) -> Int64 {
        guard let size else { return Int64(shim_error_no_system_call) }
        if whence & ~AVSEEK_FORCE == AVSEEK_SIZE { return size }
        guard let position = seekPosition(target, whence: whence, at: offset, length: size),
            position <= Int64.max - passedOver
        else { return Int64(shim_error_invalid_argument) }
        offset = position
        return position
    }
}

/// Returns the position that a call of libavformat's `seek` means; `nil` if there is no such position.
func seekPosition(_ target: Int64, whence: Int32, at offset: Int64, length: Int64) -> Int64? {
    let bases = [SEEK_SET: 0, SEEK_CUR: offset, SEEK_END: length]
    guard let base = bases[whence & ~AVSEEK_FORCE], case let (sum, overflow) = base.addingReportingOverflow(target)
    else { return nil }
    return overflow || sum < 0 ? nil : sum
}
