import Foundation
import SystemPackage

/// The standard error of this process, which tests run by many threads share.
public enum StandardError {
    private static let lock = NSLock()

    /// Runs something and gives what was written on standard error meanwhile, by any thread and any C library.
    ///
    /// One caller at a time; the others wait.
    public static func captured(_ body: () throws -> Void) throws -> String {
        lock.lock()
        defer { lock.unlock() }
        let folder = try TemporaryFolder()
        let file = try FileDescriptor.open(
            FilePath(folder.path("err")), .writeOnly, options: [.create], permissions: .ownerReadWrite)
        let saved = dup(2)
        dup2(file.rawValue, 2)
        defer {
            dup2(saved, 2)
            close(saved)
            try? file.close()
        }
        try body()
        fflush(nil)
        return String(decoding: try folder.bytes("err"), as: UTF8.self)
    }
}
