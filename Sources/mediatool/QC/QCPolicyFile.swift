import MediaBase
import MediaJobs
import SystemCalls
import SystemPackage

/// Reads the text of a policy.
enum QCPolicyFile {
    /// The whole file.
    ///
    /// - Throws: what opening and reading throw, `limitExceeded` where it is larger than any policy, and `invalidArgument`
    ///   where it is not UTF-8.
    static func read(_ path: FilePath) throws(MediaError) -> String {
        var bytes: [UInt8] = []
        do {
            let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
            try file.closeAfter {
                while bytes.count <= QCPolicy.mostBytes {
                    let more = try readSome(from: file, atMost: 1 << 16)
                    if more.isEmpty { break }
                    bytes += more
                }
            }
        } catch let error as Errno {
            throw MediaError(error, "read", path: path)
        } catch {
            throw MediaError(.inputOutput, "cannot be read: \(error)")
        }
        guard bytes.count <= QCPolicy.mostBytes else {
            throw MediaError(.limitExceeded, "is larger than any policy, which has at most 4 MB")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw MediaError(.invalidArgument, "is not UTF-8 text")
        }
        return text
    }
}
