internal import SystemCalls
internal import SystemPackage

/// The names of files that are not complete yet.
enum TemporaryName {
    /// What Linux allows a name: NAME_MAX of limits.h, in bytes.
    static let longestName = 255

    /// Makes a new file beside `path`, named `.<name>.<random>.partial`, and lists it as pending.
    ///
    /// Throws `Errno`; `fileNameTooLong` only where `path` itself is too long for the file system.
    static func create(beside path: FilePath, in pending: PendingOutputs) throws -> (FilePath, FileDescriptor) {
        let name = path.lastComponent?.bytes ?? []
        let folder = path.removingLastComponent()
        var attempts = 100
        while true {
            do {
                return try create(self.name(for: name), in: folder, pending)
            } catch Errno.fileNameTooLong {
                // Some file systems hold shorter names (eCryptfs: 143); then the final name must fit by itself.
                if isTooLong(path) { throw Errno.fileNameTooLong }
                return try create(self.name(for: []), in: folder, pending)
            } catch Errno.fileExists where attempts > 0 {
                attempts -= 1
            }
        }
    }

    /// The name for a file that is to be called `name`, cut so that it is no longer than a name may be.
    static func name(for name: [UInt8]) -> [UInt8] {
        let random = String(UInt64.random(in: .min ... .max), radix: 36)
        let ending = Array(".\(random).partial".utf8)
        var kept = name.prefix(longestName - 1 - ending.count)
        // Not in the middle of a character of UTF-8, which some file systems refuse.
        if kept.count < name.count {
            while let last = kept.last, last & 0xC0 == 0x80 { kept.removeLast() }
            if let last = kept.last, last & 0xC0 == 0xC0 { kept.removeLast() }
        }
        return [UInt8(ascii: ".")] + kept + ending
    }

    private static func create(
        _ name: [UInt8], in folder: FilePath, _ pending: PendingOutputs
    ) throws -> (FilePath, FileDescriptor) {
        let path = folder.pushing(FilePath(bytes: name))
        return (path, try pending.create(path))
    }

    private static func isTooLong(_ path: FilePath) -> Bool {
        do throws(Errno) {
            _ = try Stat(path)
            return false
        } catch {
            return error == .fileNameTooLong
        }
    }
}
