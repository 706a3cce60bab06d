// Reading and writing at a place of a file that is open, without moving its position.
// Each throws the `Errno` of the call and nothing else.

import CSystemCalls
import Glibc
package import SystemPackage

/// Reads at most `count` bytes at an offset; fewer only at the end of the file: pread(2).
package func read(from file: FileDescriptor, at offset: Int64, atMost count: Int) throws(Errno) -> [UInt8] {
    try readNumbers(from: file, at: offset, atMost: count)
}

/// Reads at most `count` numbers as ``writeAll(_:to:at:)`` wrote them; fewer only at the end of the file: pread(2).
package func readNumbers<Number: BitwiseCopyable & FixedWidthInteger>(
    from file: FileDescriptor, at offset: Int64, atMost count: Int
) throws(Errno) -> [Number] {
    let wanted = max(0, count) * MemoryLayout<Number>.stride
    var failure: Errno?
    let numbers = [Number](unsafeUninitializedCapacity: max(0, count)) { buffer, initialized in
        let bytes = UnsafeMutableRawBufferPointer(buffer)
        var done = 0
        while done < wanted, let start = bytes.baseAddress {
            let got = pread(file.rawValue, start + done, wanted - done, Int(offset) + done)
            if got < 0, errno == EINTR { continue }
            if got < 0 { failure = Errno(rawValue: errno) }
            guard got > 0 else { break }
            done += got
        }
        initialized = done / MemoryLayout<Number>.stride
    }
    if let failure { throw failure }
    return numbers
}

/// Writes all of the bytes, or of the numbers as the machine has them, at an offset: pwrite(2).
package func writeAll<Number: BitwiseCopyable>(
    _ numbers: Span<Number>, to file: FileDescriptor, at offset: Int64
) throws(Errno) {
    let failure: Errno? = numbers.withUnsafeBytes { buffer in
        var done = 0
        while done < buffer.count, let start = buffer.baseAddress {
            let written = pwrite(file.rawValue, start + done, buffer.count - done, Int(offset) + done)
            if written < 0, errno == EINTR { continue }
            guard written >= 0 else { return Errno(rawValue: errno) }
            done += written
        }
        return nil
    }
    if let failure { throw failure }
}

/// Cuts a file off, or fills it up with zeros, to a length: ftruncate(2).
package func setLength(of file: FileDescriptor, to length: Int64) throws(Errno) {
    if ftruncate(file.rawValue, Int(length)) != 0 { throw Errno(rawValue: errno) }
}

/// Puts zeros between two parts of a file without copying either: fallocate(2) with `FALLOC_FL_INSERT_RANGE`.
///
/// Both numbers have to be multiples of the file system's block size. Throws `notSupported` where the file system cannot
/// do it (tmpfs, btrfs), and `invalidArgument` where its blocks are larger.
package func insertZeros(into file: FileDescriptor, at offset: Int64, count: Int64) throws(Errno) {
    if csc_insert_range(file.rawValue, offset, count) != 0 { throw Errno(rawValue: errno) }
}
