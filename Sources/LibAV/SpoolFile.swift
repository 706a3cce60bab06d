import Glibc
import MediaBase
import SystemCalls
package import SystemPackage

/// Owner of an unlinked temporary file that holds what came through a pipe, so that it can be read like any file.
///
/// It lies in the folder that `TMPDIR` names, else in `/tmp`, has no name there, and is gone with its last owner.
package final class SpoolFile: Sendable {
    /// Open for reading and writing; read it with offsets of your own.
    package let descriptor: FileDescriptor

    init() throws(MediaError) {
        do throws(Errno) {
            descriptor = try makeTemporaryFile()
        } catch {
            throw Self.failure(error.rawValue)
        }
    }

    deinit { try? descriptor.close() }

    /// Appends bytes.
    func append(_ bytes: UnsafeRawBufferPointer) throws(MediaError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = write(descriptor.rawValue, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw Self.failure(errno) }
            rest = rest.dropFirst(written)
        }
    }

    private static func failure(_ code: CInt) -> MediaError {
        MediaError(
            .inputOutput, "what comes through the pipe cannot be kept in the temporary folder; name another in TMPDIR",
            cause: "\(Errno(rawValue: code))")
    }
}
