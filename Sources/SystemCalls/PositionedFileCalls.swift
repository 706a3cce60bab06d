// Reading and writing at a place of a file that is open, without moving its position.
// Each throws the `Errno` of the call and nothing else.

import CSystemCalls
import Glibc
package import SystemPackage

/// Reads at most `count` bytes at an offset; fewer only at the end of the file: pread(2).
package func read(from file: FileDescriptor, at offset: Int64, atMost count: Int) throws(Errno) -> [UInt8] {
    var failure: Errno?
    let bytes = [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, initialized in
        while initialized < count, let start = buffer.baseAddress {
            let got = pread(file.rawValue, start + initialized, count - initialized, Int(offset) + initialized)
            if got < 0, errno == EINTR { continue }
            if got < 0 { failure = Errno(rawValue: errno) }
            guard got > 0 else { return }
            initialized += got
        }
    }
    if let failure { throw failure }
    return bytes
}

/// Writes all of the bytes at an offset: pwrite(2).
package func writeAll(_ bytes: Span<UInt8>, to file: FileDescriptor, at offset: Int64) throws(Errno) {
    let failure: Errno? = bytes.withUnsafeBytes { buffer in
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
