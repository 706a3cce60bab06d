import CFFmpeg
import Glibc
package import MediaBase
import SystemCalls
package import SystemPackage
import Threading

/// Output to a file descriptor or to memory, with the package's own write functions for libavformat.
///
/// The write functions guarantee that only the named file is ever created, and they keep the system's own reason for a
/// failure. The descriptor's owner closes it. A regular file is written with `pwrite`. ``cancel()`` may be called from
/// any thread; everything else belongs to the writing thread.
final class OutputIO: @unchecked Sendable {
    /// The file that is written; `nil` if the bytes are collected in memory.
    private let descriptor: FileDescriptor?
    private let isSeekable: Bool
    /// The bytes that were written to memory since ``takeCollected()`` was last called.
    private var collected: [UInt8] = []
    private var offset: Int64 = 0
    private var length: Int64 = 0
    private let cancelled = Atomic<Bool>(false)

    /// Called before the output grows by the given number of bytes; returns `false` if it must not.
    private let mayGrow: @Sendable (Int64) -> Bool

    /// The error of the first call that failed; `nil` if none has failed.
    private(set) var failure: Errno?
    /// True if the output would have exceeded its permitted length.
    private(set) var isOverLimit = false

    /// The context that libavformat writes through.
    private(set) var context: UnsafeMutablePointer<AVIOContext>?

    private static let bufferSize: Int32 = 1 << 18

    /// Creates an output that writes to a descriptor, from its beginning.
    ///
    /// - Parameters:
    ///   - descriptor: A descriptor that is open for writing for the lifetime of this object; `nil` to collect the bytes in
    ///     memory.
    ///   - isSeekable: Whether the descriptor is a regular file, in which libavformat may seek back.
    ///   - mayGrow: Called before the output grows by the given number of bytes; returns `false` if it must not.
    init(
        _ descriptor: FileDescriptor?, isSeekable: Bool, mayGrow: @escaping @Sendable (Int64) -> Bool
    ) throws(MediaError) {
        self.descriptor = descriptor
        self.mayGrow = mayGrow
        self.isSeekable = isSeekable
        let buffer = try allocated(av_malloc(Int(Self.bufferSize)))
        let unowned = Unmanaged.passUnretained(self).toOpaque()
        context = avio_alloc_context(
            buffer.assumingMemoryBound(to: UInt8.self), Self.bufferSize, 1, unowned, nil,
            { opaque, bytes, count in
                guard let opaque, let bytes else { return shim_error_input_output }
                let start = UnsafeRawPointer(bytes)
                return Unmanaged<OutputIO>.fromOpaque(opaque).takeUnretainedValue().write(start, count: Int(count))
            }, isSeekable ? Self.seekCallback : nil)
        guard context != nil else {
            av_free(buffer)
            throw MediaError(.outOfResources, "out of memory")
        }
        context?.pointee.seekable = isSeekable ? AVIO_SEEKABLE_NORMAL : 0
    }

    private static let seekCallback: @convention(c) (UnsafeMutableRawPointer?, Int64, Int32) -> Int64 = {
        opaque, offset, whence in
        guard let opaque else { return Int64(shim_error_input_output) }
        return Unmanaged<OutputIO>.fromOpaque(opaque).takeUnretainedValue().seek(to: offset, whence: whence)
    }

    deinit {
        if let context {
            av_freep(&context.pointee.buffer)
            avio_context_free(&self.context)
        }
    }

    /// Makes the current call and all later ones end with `AVERROR_EXIT`.
    func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// True if ``cancel()`` was called.
    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    private func write(_ bytes: UnsafeRawPointer, count: Int) -> Int32 {
        var done = 0
        let (end, overflow) = offset.addingReportingOverflow(Int64(count))
        if overflow || isOverLimit || end > length && !mayGrow(end - length) {
            isOverLimit = true
            return shim_error_no_space
        }
        guard let descriptor else {
            if isCancelled { return shim_error_exit }
            collected += UnsafeRawBufferPointer(start: bytes, count: count)
            (offset, length) = (end, max(length, end))
            return Int32(clamping: count)
        }
        while done < count {
            if isCancelled { return shim_error_exit }
            if let failure { return -failure.rawValue }
            let written =
                isSeekable
                ? pwrite(descriptor.rawValue, bytes + done, count - done, Int(offset))
                : Glibc.write(descriptor.rawValue, bytes + done, count - done)
            if written < 0, errno == EINTR { continue }
            guard written >= 0 else {
                failure = Errno(rawValue: errno)
                return -errno
            }
            done += written
            offset += Int64(written)
            length = max(length, offset)
        }
        return Int32(clamping: count)
    }

    /// Returns the bytes that were written to memory since the last call.
    func takeCollected() -> [UInt8] {
        defer { collected = [] }
        return collected
    }

    private func seek(to target: Int64, whence: Int32) -> Int64 {
        if whence & ~AVSEEK_FORCE == AVSEEK_SIZE { return length }
        guard let position = seekPosition(target, whence: whence, at: offset, length: length) else {
            return Int64(shim_error_invalid_argument)
        }
        offset = position
        return position
    }
}

/// Owner of an unlinked temporary file with the content of a pipe, so that it can be read like any file.
///
/// The file is in the folder that `TMPDIR` names, or else in `/tmp`. It has no name there and disappears with its last
/// owner.
package final class SpoolFile: Sendable {
    /// A descriptor that is open for reading and writing; read it at explicit offsets.
    package let descriptor: FileDescriptor

    init() throws(MediaError) {
        do throws(Errno) { descriptor = try makeTemporaryFile() } catch { throw Self.failure(error) }
    }

    deinit { try? descriptor.close() }

    func append(_ bytes: Span<UInt8>) throws(MediaError) {
        do throws(Errno) { try writeAll(bytes, to: descriptor) } catch { throw Self.failure(error) }
    }

    private static func failure(_ errno: Errno) -> MediaError {
        MediaError(
            .inputOutput, "what comes through the pipe cannot be kept in the temporary folder; name another in TMPDIR",
            cause: "\(errno)")
    }
}

/// An unlinked temporary file that holds the bytes of packets that wait for a long time, to save memory.
///
/// The file is in the folder that ``SpoolFile`` uses, and is emptied once it contains no packets. Only one thread may
/// use it at a time.
package final class PacketSwapFile: @unchecked Sendable {
    private var file: SpoolFile?
    private var end: Int64 = 0
    private var count = 0

    /// Creates a swap file, which opens nothing before the first packet is stored.
    package init() {}

    /// A packet whose bytes are in the file; its other properties stay in memory.
    package final class Entry: Sendable {
        fileprivate let shell: Packet
        fileprivate let offset: Int64
        /// The number of bytes in the packet.
        package let size: Int

        fileprivate init(_ shell: consuming Packet, offset: Int64, size: Int) {
            self.shell = shell
            self.offset = offset
            self.size = size
        }
    }

    /// Stores the bytes of a packet in the file.
    package func store(_ packet: borrowing Packet) throws(MediaError) -> Entry {
        let spool: SpoolFile
        if let file { spool = file } else { spool = try SpoolFile() }
        file = spool
        let shell = try Packet()
        try AVStatus.check(
            av_packet_copy_props(shell.pointer, packet.pointer), "av_packet_copy_props", doing: "keep a packet")
        let entry = Entry(shell, offset: end, size: packet.size)
        let bytes = UnsafeBufferPointer(start: packet.pointer.pointee.data, count: packet.size)
        do throws(Errno) {
            try writeAll(bytes.span, to: spool.descriptor, at: end)
        } catch {
            throw Self.failure(error)
        }
        end += Int64(packet.size)
        count += 1
        return entry
    }

    /// Reads a packet back from the file, which no longer counts it afterwards.
    package func load(_ entry: Entry) throws(MediaError) -> Packet {
        guard let file else { throw MediaError(.inputOutput, "the temporary file is gone") }
        let packet = try Packet()
        try AVStatus.check(
            av_new_packet(packet.pointer, Int32(clamping: entry.size)), "av_new_packet", doing: "hold a packet")
        try AVStatus.check(
            av_packet_copy_props(packet.pointer, entry.shell.pointer), "av_packet_copy_props", doing: "keep a packet")
        let bytes = UnsafeMutableRawBufferPointer(start: packet.pointer.pointee.data, count: entry.size)
        do throws(Errno) {
            let size = try read(from: file.descriptor, at: entry.offset, into: bytes)
            if size < entry.size { throw .ioError }
        } catch {
            throw Self.failure(error)
        }
        count -= 1
        if count == 0 {
            end = 0
            try? setLength(of: file.descriptor, to: 0)
        }
        return packet
    }

    private static func failure(_ errno: Errno) -> MediaError {
        MediaError(
            .inputOutput,
            "packets that wait for another track cannot be kept in the temporary folder; name another in TMPDIR",
            cause: "\(errno)")
    }
}
