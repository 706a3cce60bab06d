import MediaBase
import MediaJobs
import SystemCalls
import SystemPackage

/// A file that an option names and that is read whole.
enum SmallFile {
    /// All its bytes.
    ///
    /// - Parameters:
    ///   - path: Where it is; a FIFO is read to its end.
    ///   - mostBytes: How many it may have.
    ///   - purpose: What it is, for the error where it has more, such as "a policy".
    /// - Throws: what opening and reading throw, and `limitExceeded` where it is larger.
    static func bytes(of path: FilePath, atMost mostBytes: Int, as purpose: String) throws(MediaError) -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
            try file.closeAfter {
                while bytes.count <= mostBytes, case let more = try readSome(from: file, atMost: 1 << 18), !more.isEmpty
                {
                    bytes += more
                }
            }
        } catch let error as Errno {
            throw MediaError(error, "read", path: path)
        } catch {
            throw MediaError(.inputOutput, "cannot be read: \(error)", path: path.string)
        }
        guard bytes.count <= mostBytes else {
            throw MediaError(
                .limitExceeded, "is too large for \(purpose), which has at most \(mostBytes >> 20) MB",
                path: path.string)
        }
        return bytes
    }
}
