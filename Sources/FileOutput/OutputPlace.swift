package import MediaBase
internal import SystemCalls
package import SystemPackage
internal import Threading

/// Where an output really goes: what its name leads to, and how it is written there.
enum OutputPlace {
    /// The open standard output of the process.
    case standardOutput
    /// Something that is no regular file, such as a FIFO or `/dev/null`: written as it is.
    case direct(FilePath)
    /// A regular file, made beside `path` and renamed; `present` is the file that it would replace.
    case beside(FilePath, present: Stat?)

    /// Finds the place of an output.
    ///
    /// A symbolic link stays a link: the file that it leads to is the one replaced, and made where there is none yet,
    /// as writing through the link would do. The names of open descriptors (`/dev/stdout`, `/dev/fd/3`) are written
    /// directly, because what stands behind them belongs to whoever opened it. Throws `notFound`, `notAFile` and the
    /// like where nothing can be written there.
    init(of path: FilePath) throws {
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

    /// The path with symbolic links followed as long as the last component is one.
    ///
    /// Folders on the way are left to the system, so that `..` after a link means what it means there.
    private static func followingLinks(_ path: FilePath) throws(Errno) -> FilePath {
        var path = path
        // As many as Linux follows: path_resolution(7).
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

/// Makes a folder where there is none, with the folders above it, as `mkdir -p` does.
///
/// For commands whose output is a folder. Throws `alreadyExists` where a file has that name, else what
/// ``MediaError`` makes of the system's error. It stands for mkdir(2).
package func createFolder(at path: FilePath) throws {
    if let status = try? Stat(path), status.type == .directory { return }
    let parent = path.removingLastComponent()
    if !parent.isEmpty, parent != path { try createFolder(at: parent) }
    do throws(Errno) {
        try makeFolder(path)
    } catch {
        // Another process may have made it meanwhile.
        if error == .fileExists, let status = try? Stat(path), status.type == .directory { return }
        if error == .fileExists {
            throw MediaError(
                .alreadyExists, "cannot make the folder: a file has that name", path: path.string,
                cause: error.description)
        }
        throw MediaError(error, "make the folder", path: path)
    }
}

/// Which file a path leads to, whatever it is called: the device and the inode of stat(2).
///
/// Two hard links, or a file and a symbolic link to it, have the same identity.
package struct FileIdentity: Hashable, Sendable {
    private let device: DeviceID
    private let inode: Inode

    /// The identity of what stat(2) tells about.
    package init(_ status: Stat) {
        device = status.deviceID
        inode = status.inode
    }

    /// The identity of the file that a path leads to through symbolic links; `nil` where it leads to none.
    package init?(of path: FilePath) {
        guard let status = try? Stat(path) else { return nil }
        self.init(status)
    }

    /// The identity of an open file; `nil` where the descriptor is closed.
    package init?(of file: FileDescriptor) {
        guard let status = try? file.stat() else { return nil }
        self.init(status)
    }
}

/// Temporary files that are not in place yet, listed so that a signal can take them all away.
///
/// A file is made and moved under one lock with being listed, so that there is no moment in which a file is there and
/// not known.
package final class PendingOutputs: Sendable {
    /// The list of this process, which a signal empties.
    package static let shared = PendingOutputs()

    private let paths = Mutex<Set<FilePath>>([])

    /// Removes every pending file and then calls `end`, before which no thread can make another one.
    ///
    /// Safe on any thread, but not in a signal handler: let a thread wait for signals. Where `end` ends the process, no
    /// output comes into being after the removal; where it returns, the owners find their files gone.
    package func removeAll(then end: () -> Void = {}) {
        paths.withLock { paths in
            for path in paths { try? removeFile(path) }
            paths.removeAll()
            end()
        }
    }

    /// How many files are pending.
    package var count: Int { paths.withLock(\.count) }

    /// Makes a file that nobody else has, open for reading and writing, and lists it.
    func create(_ path: FilePath) throws -> FileDescriptor {
        try paths.withLock { paths in
            let file = try FileDescriptor.open(
                path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: FilePermissions(rawValue: 0o666))
            paths.insert(path)
            return file
        }
    }

    /// Moves a listed file to its final name with `move`, and strikes it off where that succeeds.
    func settle(_ path: FilePath, by move: () throws -> Void) throws {
        try paths.withLock { paths in
            guard paths.contains(path) else {
                throw MediaError(.cancelled, "the output was given up before it was complete")
            }
            try move()
            paths.remove(path)
        }
    }

    /// Removes a file, if it is still listed.
    func remove(_ path: FilePath) {
        paths.withLock { paths in
            if paths.remove(path) != nil { try? removeFile(path) }
        }
    }
}

/// How many bytes the outputs of one job may have together.
///
/// A file of a few bytes can ask for terabytes: years of silence, or the same samples a million times. Safe from any
/// thread.
package final class OutputAllowance: Sendable {
    private let used = Atomic<Int>(0)
    private let limit: @Sendable () -> Int

    /// Allows as many bytes as `limit` says, which may grow while a stream is read.
    package init(_ limit: @escaping @Sendable () -> Int) { self.limit = limit }

    /// Allows what is set, or what goes with inputs of so many bytes.
    package convenience init(_ limits: MediaLimits, forInputOf bytes: Int) {
        let limit = limits.outputBytes ?? MediaLimits.standardOutputBytes(forInputOf: bytes, copying: false)
        self.init { limit }
    }

    /// Takes so many bytes of what is left; `false` where there are fewer.
    package func take(_ count: Int) -> Bool {
        used.wrappingAdd(max(0, count), ordering: .relaxed).newValue <= limit()
    }

    /// Whether an output of so many bytes is within the limit by itself.
    package func holds(_ count: Int) -> Bool { count <= limit() }

    /// The error for what goes beyond.
    package var error: MediaError {
        MediaError(
            .outputLimit,
            "would become larger than the limit \(MediaLimits.Name.outputBytes.text(of: limit())); raise that to write it"
        )
    }
}
