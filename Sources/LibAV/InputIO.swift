import CFFmpeg
import Glibc
import MediaBase
import SystemPackage
import Threading

/// A wish to stop that may come before, during or after the work, from any thread, any number of times.
package final class Cancellation: Sendable {
    private struct State {
        var isCancelled = false
        var bound: [Bound] = []
    }

    private struct Bound {
        weak var io: InputIO?
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether ``cancel()`` was called.
    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Asks all work that is bound to this object to stop.
    package func cancel() {
        state.withLock { state in
            state.isCancelled = true
            for bound in state.bound { bound.io?.cancel() }
            state.bound = []
        }
    }

    /// Leaves alone from now on what is bound; gives whether it was asked to stop before.
    package func release() -> Bool {
        state.withLock { state in
            state.bound = []
            return state.isCancelled
        }
    }

    /// Has the reading of a file that is open already end on ``cancel()``, or at once where that was called before.
    package func bind(_ file: InputFile) { bind(file.io) }

    /// Has the reading of `io` end on ``cancel()``, or at once where that was called already.
    func bind(_ io: InputIO) {
        state.withLock { state in
            guard !state.isCancelled else { return io.cancel() }
            // Files that were closed since need no word any more.
            state.bound.removeAll { $0.io == nil }
            state.bound.append(Bound(io: io))
        }
    }
}

/// What is read: a file descriptor with our own reading functions under libavformat, so that only the file that was
/// named is ever opened.
///
/// A regular file is read with `pread`, which leaves the descriptor's own position alone; anything else (a pipe, a
/// terminal) is read in order and cannot be rewound, unless all of it is spooled first. ``cancel()`` may be called from any thread; all else belongs to
/// the thread that reads.
final class InputIO: @unchecked Sendable {
    private let descriptor: FileDescriptor
    private let closesDescriptor: Bool
    private var size: Int64?
    /// What came through a pipe until its format was recognised, or its beginning where that is kept; `nil` for files.
    private var recorded: [UInt8]?
    /// How much of it is kept; all until the format is recognised.
    private var maximumRecorded = Int.max
    /// Where a pipe's content lies that was read to its end.
    private(set) var spool: SpoolFile?
    private var offset: Int64 = 0
    /// How many bytes of the file come before the media, and are not there for anybody.
    private(set) var passedOver: Int64 = 0
    /// What libavformat reads in place of what is in the file; our own readers see that.
    private var covered: [CoveredBytes] = []
    private let cancelled = Atomic<Bool>(false)
    private let deadline: ContinuousClock.Instant?
    /// The first error that the system gave for libavformat's reading, which some demuxers take for the file's end.
    private(set) var failure: CInt?

    /// Whether the file ended earlier than it did when it was opened.
    private let shrunk = Atomic<Bool>(false)
    /// How many bytes have come through a pipe.
    private let streamed = Atomic<Int64>(0)
    /// Whether something was refused that the input names and that is not a local file.
    var hasRefusedAddress = false

    /// The context that libavformat reads through.
    private(set) var context: UnsafeMutablePointer<AVIOContext>?

    private static let bufferSize: Int32 = 1 << 16
    /// How much is kept of a pipe whose header is read, in bytes.
    private static let longestHead = 1 << 20

    /// Takes over a descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: Open for reading.
    ///   - closes: Whether the descriptor is closed in the end.
    ///   - size: The length in bytes of a file that can be read from anywhere; `nil` for a stream.
    ///   - deadline: When reading ends; `nil` for never.
    init(
        _ descriptor: FileDescriptor, closes: Bool, size: Int64?, deadline: ContinuousClock.Instant?
    ) throws(MediaError) {
        self.deadline = deadline
        self.descriptor = descriptor
        self.closesDescriptor = closes
        self.size = size
        recorded = size == nil ? [] : nil
        guard let buffer = av_malloc(Int(Self.bufferSize)) else { throw MediaError(.outOfResources, "out of memory") }
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
            // libavformat may have replaced the buffer; the one in the context is the one to free.
            av_freep(&context.pointee.buffer)
            avio_context_free(&self.context)
        }
        if closesDescriptor { try? descriptor.close() }
    }

    /// Whether reading may go back.
    var isSeekable: Bool { size != nil }

    /// Says that the format was recognised, and whether it can be read right only as a whole.
    ///
    /// A pipe is then read to its end into a temporary file, from which reading goes on; otherwise it stays a stream.
    ///
    /// - Parameter keepsHead: Whether ``bytes(at:count:)`` gives a stream's beginning, up to ``endHead()``.
    func settle(needsWhole: Bool, keepsHead: Bool) throws(MediaError) {
        guard let head = recorded else { return }
        guard needsWhole else {
            if keepsHead { maximumRecorded = max(head.count, Self.longestHead) } else { recorded = nil }
            return
        }
        recorded = nil
        let spool = try SpoolFile()
        try spool.append(head.withUnsafeBytes { $0 })
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
            try spool.append(chunk.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[..<Int(count)]) })
            total += Int64(count)
        }
        self.spool = spool
        size = total
        context?.pointee.seek = Self.seekCallback
        context?.pointee.seekable = AVIO_SEEKABLE_NORMAL
    }

    /// Leaves out what a file begins with; positions count from there on, and reading begins there.
    ///
    /// Called after ``settle(needsWhole:keepsHead:)``; a pipe was read to its end then.
    func passOver(_ count: Int64) {
        guard let length = size, let context, count > 0, count < length else { return }
        passedOver = count
        size = length - count
        restart(context)
    }

    /// Has libavformat read other bytes in the place of these, from the beginning.
    ///
    /// Positions count from the media's first byte. ``bytes(at:count:)`` gives what is in the file.
    func cover(_ places: [CoveredBytes]) {
        guard let context, !places.isEmpty else { return }
        covered += places
        restart(context)
    }

    /// Forgets what libavformat has read, which begins again with the first byte.
    private func restart(_ context: UnsafeMutablePointer<AVIOContext>) {
        offset = 0
        context.pointee.buf_ptr = context.pointee.buffer
        context.pointee.buf_end = context.pointee.buffer
        context.pointee.pos = 0
        context.pointee.eof_reached = 0
        context.pointee.error = 0
    }

    /// Says that the header was read: of what comes through a pipe from here on nothing is kept.
    func endHead() { maximumRecorded = 0 }

    /// Whether nothing came through a pipe whose format is being looked for.
    var isEmptyStream: Bool { recorded?.isEmpty ?? false }

    /// Length of the file in bytes; `nil` for a stream.
    var length: Int64? { size }

    /// How many bytes have come through a pipe so far; on any thread.
    var streamedBytes: Int64 { streamed.load(ordering: .relaxed) }

    /// Notes that there was nothing to be read at a place; before the end that the file had when it was opened it was made
    /// shorter.
    private func noteEnd(at place: Int64) {
        guard spool == nil, let size, place < size else { return }
        shrunk.store(true, ordering: .relaxed)
    }

    /// Makes the call that is under way, and all later ones, end with `AVERROR_EXIT`.
    func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Whether ``cancel()`` was called.
    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// Why nothing more is to be read; `nil` where nothing stands against it.
    var stop: MediaError? {
        if isCancelled { return MediaError(.cancelled, "cancelled") }
        if shrunk.load(ordering: .relaxed) {
            return MediaError(.changed, "became shorter while it was read; try again when nobody writes to it")
        }
        return MediaLimits.error(after: deadline)
    }

    /// Bytes of the file, apart from libavformat's reading; fewer than `count` at the end, and behind what is kept of a
    /// stream.
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

    /// Fills a buffer with bytes of the file, on any thread; gives how many there were before the end.
    func read(at start: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(MediaError) -> Int {
        guard size != nil, start >= 0, let address = buffer.baseAddress else { return 0 }
        var filled = 0
        while filled < buffer.count {
            let (sum, overflow) = start.addingReportingOverflow(Int64(filled))
            guard !overflow, case let (place, isTooFar) = sum.addingReportingOverflow(passedOver), !isTooFar else {
                break
            }
            let read = pread(source.rawValue, address + filled, buffer.count - filled, Int(place))
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else {
                throw MediaError(
                    .inputOutput, "reading failed in the system", cause: "pread: \(Errno(rawValue: errno))")
            }
            guard read > 0 else {
                noteEnd(at: sum)
                if let stop, stop.code == .changed { throw stop }
                break
            }
            filled += read
        }
        return filled
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
        while true {
            if stop != nil { return shim_error_exit }
            let result = pread(source.rawValue, buffer, count, Int(offset + passedOver))
            if result < 0, errno == EINTR { continue }
            if result < 0 {
                failure = failure ?? errno
                return -errno
            }
            if result == 0 {
                noteEnd(at: offset)
                return stop == nil ? shim_error_eof : shim_error_exit
            }
            if !covered.isEmpty { cover(buffer, count: result, at: offset) }
            offset += Int64(result)
            return Int32(result)
        }
    }

    /// Puts other bytes over those that are covered, as far as they lie in what was read.
    private func cover(_ buffer: UnsafeMutablePointer<UInt8>, count: Int, at start: Int64) {
        for place in covered {
            for (index, byte) in place.shown.enumerated() {
                let position = place.position + Int64(index) - start
                if position >= 0, position < Int64(count) { buffer[Int(position)] = byte }
            }
        }
    }

    /// The next bytes of a stream; waits for them.
    private func readStream(into buffer: UnsafeMutablePointer<UInt8>, count: Int) -> Int32 {
        while true {
            if stop != nil { return shim_error_exit }
            guard waitForInput() else { continue }
            let result = Glibc.read(descriptor.rawValue, buffer, count)
            if result < 0, errno == EINTR { continue }
            if result > 0 { streamed.add(Int64(result), ordering: .relaxed) }
            return result < 0 ? -errno : result == 0 ? shim_error_eof : Int32(result)
        }
    }

    /// Where a file's bytes lie.
    private var source: FileDescriptor { spool?.descriptor ?? descriptor }

    /// Waits a little for a stream to have bytes, so that a cancelled reader does not hang on a silent pipe.
    private func waitForInput() -> Bool {
        var request = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        let ready = poll(&request, 1, 100)
        return ready > 0 || (ready < 0 && errno != EINTR)
    }

    private func seek(to target: Int64, whence: Int32) -> Int64 {
        guard let size else { return Int64(shim_error_no_system_call) }
        let base: Int64
        switch whence & ~AVSEEK_FORCE {
        case AVSEEK_SIZE: return size
        case SEEK_SET: base = 0
        case SEEK_CUR: base = offset
        case SEEK_END: base = size
        default: return Int64(shim_error_invalid_argument)
        }
        let (sum, overflow) = base.addingReportingOverflow(target)
        guard !overflow, sum >= 0, sum <= Int64.max - passedOver else { return Int64(shim_error_invalid_argument) }
        offset = sum
        return sum
    }
}
