package import MediaBase
internal import SystemCalls
package import SystemPackage
internal import Threading

/// The actual destination of an output: the file its name leads to, and the way in which it is written.
enum OutputPlace {
    /// The process's open standard output.
    case standardOutput
    /// A file that is not a regular file, such as a FIFO or `/dev/null`, and is written directly.
    case direct(FilePath)
    /// A regular file, created in the folder of `path` and put in place later; `present` is the file that it would replace.
    case beside(FilePath, present: Stat?)

    /// Determines the destination of an output.
    ///
    /// A symbolic link remains a link: its target is replaced, or created if missing, as writing through the link
    /// would do. The names of open descriptors (`/dev/stdout`, `/dev/fd/3`) are written directly, because the files
    /// they refer to belong to whoever opened them. Throws `notFound`, `notAFile` and similar errors if the
    /// destination cannot be written.
    init(of path: FilePath) throws(MediaError) {
        guard !path.isEmpty else { throw MediaError(.invalidArgument, "the output has no name", path: path.string) }
        guard path.bytes != Array("-".utf8) else {
            self = .standardOutput
            return
        }
        guard !Self.isNameOfDescriptor(path) else {
            self = .direct(path)
            return
        }
        do throws(Errno) {
            let target = try Self.followingLinks(path)
            do throws(Errno) {
                let status = try Stat(target, followTargetSymlink: false)
                switch status.type {
                case .regular: self = .beside(target, present: status)
                case .directory: throw .isDirectory
                default: self = .direct(target)
                }
            } catch .noSuchFileOrDirectory {
                self = .beside(target, present: nil)
            }
        } catch {
            throw MediaError(error, "write", path: path)
        }
    }

    /// Returns the path with symbolic links followed as long as the last component is a link.
    ///
    /// The system resolves links in the folders of the path, so that `..` after a link keeps its usual meaning.
    private static func followingLinks(_ path: FilePath) throws(Errno) -> FilePath {
        var path = path
        // Linux follows as many: path_resolution(7).
        for _ in 0..<40 {
            guard let status = try? Stat(path, followTargetSymlink: false), status.type == .symbolicLink else {
                return path
            }
            // An absolute target replaces the whole path.
            path = path.removingLastComponent().pushing(try targetOfSymbolicLink(path))
        }
        throw .tooManySymbolicLinkLevels
    }

    private static func isNameOfDescriptor(_ path: FilePath) -> Bool {
        let names: [FilePath] = ["/dev/stdin", "/dev/stdout", "/dev/stderr"]
        let folders: [FilePath] = ["/dev/fd", "/proc"]
        return names.contains(path) || folders.contains { path.starts(with: $0) }
    }
}

/// Names for files that are not complete yet.
enum TemporaryName {
    /// The maximum length of a file name in bytes on Linux: NAME_MAX of limits.h.
    static let longestName = 255

    /// Creates a new file in the folder of `path`, and lists it as pending by the name `.<name>.<random>.partial`.
    ///
    /// An unnamed file has that name in the list only. Throws `Errno`; `fileNameTooLong` only if `path` itself is too long
    /// for the file system.
    ///
    /// - Parameter isFree: True if no file exists at `path`, so that the new one can be unnamed.
    static func create(
        beside path: FilePath, isFree: Bool, in pending: PendingOutputs
    ) throws -> (FilePath, FileDescriptor) {
        let name = path.lastComponent?.bytes ?? []
        let folder = path.removingLastComponent()
        var attempts = 100
        while true {
            do {
                return try create(self.name(for: name), in: folder, isFree, pending)
            } catch Errno.fileNameTooLong {
                // Some file systems allow only shorter names (eCryptfs: 143); the final name must still fit.
                if isTooLong(path) { throw Errno.fileNameTooLong }
                return try create(self.name(for: []), in: folder, isFree, pending)
            } catch Errno.fileExists where attempts > 0 {
                attempts -= 1
            }
        }
    }

    /// Returns a temporary name for a file to be called `name`, truncated to the maximum length.
    static func name(for name: [UInt8]) -> [UInt8] {
        let random = String(UInt64.random(in: .min ... .max), radix: 36)
        let ending = Array(".\(random).partial".utf8)
        var kept = name.prefix(longestName - 1 - ending.count)
        // Do not cut inside a UTF-8 character, which some file systems refuse.
        if kept.count < name.count {
            while let last = kept.last, last & 0xC0 == 0x80 { kept.removeLast() }
            if let last = kept.last, last & 0xC0 == 0xC0 { kept.removeLast() }
        }
        return [UInt8(ascii: ".")] + kept + ending
    }

    private static func create(
        _ name: [UInt8], in folder: FilePath, _ isFree: Bool, _ pending: PendingOutputs
    ) throws -> (FilePath, FileDescriptor) {
        let path = folder.pushing(FilePath(bytes: name))
        return (path, try pending.create(path, isFree: isFree))
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

/// Creates a folder and any missing parent folders, as `mkdir -p` does: mkdir(2).
///
/// This is for commands whose output is a folder. Throws `alreadyExists` if a file has that name, otherwise the
/// ``MediaError`` for the system's error.
package func createFolder(at path: FilePath) throws(MediaError) {
    if let status = try? Stat(path), status.type == .directory { return }
    let parent = path.removingLastComponent()
    if !parent.isEmpty, parent != path { try createFolder(at: parent) }
    do throws(Errno) {
        try makeFolder(path)
    } catch {
        // Another process may have created the folder meanwhile.
        if error == .fileExists, let status = try? Stat(path), status.type == .directory { return }
        if error == .fileExists {
            throw MediaError(
                .alreadyExists, "cannot make the folder: a file has that name", path: path.string,
                cause: error.description)
        }
        throw MediaError(error, "make the folder", path: path)
    }
}

/// The identity of a file, whatever its name: the device and inode of stat(2).
///
/// Two hard links, or a file and a symbolic link to it, have the same identity.
package struct FileIdentity: Hashable, Sendable {
    /// The device's number.
    package let device: DeviceID
    /// The file's number on the device.
    package let inode: Inode

    /// Creates an identity from its parts.
    package init(device: DeviceID, inode: Inode) {
        self.device = device
        self.inode = inode
    }

    /// Creates the identity from the result of stat(2).
    package init(_ status: Stat) {
        device = status.deviceID
        inode = status.inode
    }

    /// Creates the identity of the file at a path, following symbolic links; `nil` if there is no such file.
    package init?(of path: FilePath) {
        guard let status = try? Stat(path) else { return nil }
        self.init(status)
    }

    /// Creates the identity of an open file; `nil` if the descriptor is closed.
    package init?(of file: FileDescriptor) {
        guard let status = try? file.stat() else { return nil }
        self.init(status)
    }
}

/// The number of bytes that the outputs of one job may have together.
///
/// A file of a few bytes can ask for terabytes: years of silence, or the same samples a million times. Thread-safe.
package final class OutputAllowance: Sendable {
    private let used = Atomic<Int>(0)
    private let limit: @Sendable () -> Int

    /// Creates an allowance of `limit()` bytes, which may grow while a stream is read.
    package init(_ limit: @escaping @Sendable () -> Int) { self.limit = limit }

    /// Creates an allowance from the limit that is set, or from the size of the inputs in bytes.
    package convenience init(_ limits: MediaLimits, forInputOf bytes: Int) {
        let limit = limits.outputBytes ?? MediaLimits.standardOutputBytes(forInputOf: bytes, copying: false)
        self.init { limit }
    }

    /// Takes `count` bytes from the allowance; returns false if that exceeds it.
    package func take(_ count: Int) -> Bool {
        used.wrappingAdd(max(0, count), ordering: .relaxed).newValue <= limit()
    }

    /// Returns true if an output of `count` bytes alone is within the limit.
    package func holds(_ count: Int) -> Bool { count <= limit() }

    /// The error for exceeding the allowance.
    package var error: MediaError {
        MediaError(
            .outputLimit,
            "would become larger than the limit \(MediaLimits.Name.outputBytes.text(of: limit())); raise that to write it"
        )
    }
}

extension MediaError {
    /// Creates the error of a failed system call on an output, a folder or a file that is read whole.
    ///
    /// This is the only place that maps `errno`.
    ///
    /// - Parameters:
    ///   - errno: The error number set by the call.
    ///   - operation: The failed operation, worded to follow "cannot": "write", "create". An operation that starts
    ///     with "read" concerns an input.
    ///   - path: The file as the user named it, or `nil` if no file is concerned.
    package init(_ errno: Errno, _ operation: String, path: FilePath?) {
        let (code, reason) = Self.meaning(of: errno, reading: operation.hasPrefix("read"))
        self.init(code, "cannot \(operation): \(reason)", path: path?.string, cause: errno.description)
    }

    private static func meaning(of errno: Errno, reading: Bool) -> (Code, String) {
        switch errno {
        case .noSuchFileOrDirectory where reading: (.notFound, "there is no such file; look at its name and folder")
        case .noSuchFileOrDirectory:
            (.notFound, "the file or its folder does not exist; make the folder first")
        case .notDirectory: (.notFound, "a part of the path is a file, not a folder")
        case .permissionDenied, .notPermitted:
            (.permissionDenied, "access is not allowed; look at the permissions of the file and its folder")
        case .readOnlyFileSystem: (.permissionDenied, "the file system is read-only; choose another folder")
        case .isDirectory: (.notAFile, "it is a folder; name a file")
        case .fileExists: (.alreadyExists, "the file exists already")
        case .fileNameTooLong: (.invalidArgument, "the name is too long for the file system; choose a shorter one")
        case .tooManySymbolicLinkLevels: (.invalidArgument, "the symbolic links lead in a circle")
        case .invalidArgument: (.invalidArgument, "the system does not take this name")
        case .noSpace: (.inputOutput, "the disk is full; free some space or choose another disk")
        case .diskQuotaExceeded: (.inputOutput, "the disk quota is used up; free some space")
        case .fileTooLarge: (.inputOutput, "the file would be larger than the system allows (ulimit -f)")
        case .brokenPipe: (.brokenPipe, "the reader at the other end is gone")
        case .ioError: (.inputOutput, "the device reports an error; look at the system log")
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
            (.outOfResources, "too many files are open; work on fewer at a time")
        case .noMemory: (.outOfResources, "memory ran out")
        case .noSuchAddressOrDevice where !reading: (.notReady, "nobody reads it")
        case .badFileDescriptor: (.inputOutput, "it is closed")
        default: (.inputOutput, "the system reports an error")
        }
    }
}

extension MediaError.Code {
    /// The program that reads the output has ended; on standard output this need not be reported.
    package static let brokenPipe = Self(rawValue: "brokenPipe")

    /// An output is a FIFO whose reader has not come yet.
    package static let notReady = Self(rawValue: "notReady")
}

/// Returns what `body` returns; a failure is reported as that of an operation on a file.
///
/// - Parameters:
///   - operation: What is done, to follow "cannot".
///   - path: The file; `nil` if the caller adds it.
package func failing<Result>(
    _ operation: String, _ path: FilePath? = nil, _ body: () throws(Errno) -> Result
) throws(MediaError) -> Result {
    do throws(Errno) { return try body() } catch { throw MediaError(error, operation, path: path) }
}
