import CSystemCalls
import Glibc
package import SystemPackage

/// A folder that is held open, and below which files are opened and nowhere else, whatever changes there meanwhile.
///
/// ```swift
/// let folder = try OpenFolder("cut")
/// let file = try folder.open("media/a.mov")  // `Errno.improperLink` where that leads out of the folder
/// ```
package final class OpenFolder: Sendable, Hashable {
    /// The folder as it was named; the current one where it is empty.
    package let path: FilePath
    private let descriptor: FileDescriptor

    /// Links that one path may lead through, as in Linux.
    private static let maximumLinks = 40
    /// Names that one path may have, with those that links add.
    private static let maximumNames = 4096

    /// Opens the folder at a path: open(2) with `O_PATH`.
    package init(_ path: FilePath) throws(Errno) {
        self.path = path
        let place: FilePath = path.isEmpty ? "." : path
        // What a link leads to is what was named; only below the folder are links looked at.
        let number = place.pushing(".").withPlatformString { csc_open_place(AT_FDCWD, $0) }
        guard number >= 0 else { throw Errno(rawValue: errno) }
        descriptor = FileDescriptor(rawValue: number)
    }

    deinit { try? descriptor.close() }

    package static func == (left: OpenFolder, right: OpenFolder) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// Opens a file for reading that lies below the folder, by a path from there: openat2(2) with `RESOLVE_BENEATH`.
    ///
    /// Links are followed as long as they stay below the folder. Opening does not wait for the writer of a FIFO, and
    /// neither does reading from the descriptor then.
    ///
    /// - Parameter asksKernel: Whether openat2(2) is tried; if not, the path is walked name by name.
    /// - Throws: `improperLink` (`EXDEV`) for what leads out of the folder, and the errors of open(2).
    package func open(_ relative: FilePath, asksKernel: Bool = true) throws(Errno) -> FileDescriptor {
        var attempts = 0
        while asksKernel {
            let number = relative.withPlatformString { csc_open_beneath(descriptor.rawValue, $0) }
            if number >= 0 { return FileDescriptor(rawValue: number) }
            attempts += 1
            switch errno {
            case EINTR: continue
            // Something was renamed while the kernel looked.
            case EAGAIN where attempts < 64: continue
            // Kernels before 5.6, and sandboxes that do not know the call; and links from the root on, which may come back.
            case ENOSYS, EPERM, EAGAIN, EXDEV: return try walk(relative)
            case let number: throw Errno(rawValue: number)
            }
        }
        return try walk(relative)
    }

    /// What a folder below this one holds: names, and whether each is a folder itself, in no order.
    ///
    /// - Parameters:
    ///   - relative: The path from here; empty for the folder itself. No link is followed.
    ///   - most: How many are returned at most.
    package func contents(of relative: FilePath, atMost most: Int) throws(Errno) -> [(name: [UInt8], isFolder: Bool)] {
        var place = try Self.plain(descriptor, ".", O_DIRECTORY)
        for component in relative.components {
            guard component.kind == .regular else {
                try? place.close()
                throw .invalidArgument
            }
            let outer = place
            defer { try? outer.close() }
            place = try Self.plain(outer, FilePath(root: nil, [component]), O_DIRECTORY)
        }
        guard let stream = fdopendir(place.rawValue) else {
            let error = Errno(rawValue: errno)
            try? place.close()
            throw error
        }
        defer { closedir(stream) }
        var found: [(name: [UInt8], isFolder: Bool)] = []
        while found.count < most, let entry = readdir(stream) {
            let kind = entry.pointee.d_type
            let length = MemoryLayout.size(ofValue: entry.pointee.d_name)
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix(length).prefix { $0 != 0 }) }
            guard name != [0x2E], name != [0x2E, 0x2E] else { continue }
            var isFolder = kind == UInt8(DT_DIR)
            if kind == UInt8(DT_UNKNOWN) {
                var status = stat()
                isFolder =
                    FilePath(bytes: name).withPlatformString {
                        fstatat(dirfd(stream), $0, &status, AT_SYMLINK_NOFOLLOW)
                    } == 0 && status.st_mode & S_IFMT == S_IFDIR
            }
            found.append((name, isFolder))
        }
        return found
    }

    // MARK: Name by name

    /// Opens a file name by name, each without following links, which are read instead.
    private func walk(_ path: FilePath) throws(Errno) -> FileDescriptor {
        var folders: [FileDescriptor] = []
        defer { for folder in folders { try? folder.close() } }
        guard !path.isAbsolute else { throw .improperLink }
        var names = Array(path.components.reversed())
        var (links, steps) = (0, 0)
        while let name = names.popLast() {
            steps += 1
            guard steps <= Self.maximumNames else { throw .tooManySymbolicLinkLevels }
            if name.kind == .currentDirectory, !names.isEmpty { continue }
            if name.kind == .parentDirectory {
                guard let last = folders.popLast() else { throw .improperLink }
                try? last.close()
                continue
            }
            let here = folders.last ?? descriptor
            let place = try Self.place(here, FilePath(root: nil, [name]))
            var isKept = false
            defer { if !isKept { try? place.close() } }
            var status = stat()
            guard fstat(place.rawValue, &status) == 0 else { throw Errno(rawValue: errno) }
            if status.st_mode & S_IFMT == S_IFLNK {
                links += 1
                guard links <= Self.maximumLinks else { throw .tooManySymbolicLinkLevels }
                let target = try target(of: place)
                if target.isAbsolute {
                    for folder in folders { try? folder.close() }
                    folders = []
                    names += try inside(target).components.reversed()
                } else {
                    names += target.components.reversed()
                }
            } else if names.isEmpty {
                return try Self.plain(here, FilePath(root: nil, [name]), 0)
            } else {
                folders.append(place)
                isKept = true
            }
        }
        return try Self.plain(folders.last ?? descriptor, ".", 0)
    }

    /// The part of a path from the root on that lies below the folder.
    private func inside(_ target: FilePath) throws(Errno) -> FilePath {
        var target = target.lexicallyNormalized()
        let home = try targetOfSymbolicLink(FilePath("/proc/self/fd/\(descriptor.rawValue)"))
        guard target.removePrefix(home) else { throw .improperLink }
        return target
    }

    private func target(of link: FileDescriptor) throws(Errno) -> FilePath {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlinkat(link.rawValue, "", &target, target.count)
        guard length >= 0 else { throw Errno(rawValue: errno) }
        return FilePath(bytes: target.prefix(length).map { UInt8(bitPattern: $0) })
    }

    private static func place(_ folder: FileDescriptor, _ name: FilePath) throws(Errno) -> FileDescriptor {
        let number = name.withPlatformString { csc_open_place(folder.rawValue, $0) }
        guard number >= 0 else { throw Errno(rawValue: errno) }
        return FileDescriptor(rawValue: number)
    }

    private static func plain(_ folder: FileDescriptor, _ name: FilePath, _ more: CInt) throws(Errno) -> FileDescriptor
    {
        let number = name.withPlatformString { csc_open_plain(folder.rawValue, $0, more) }
        guard number >= 0 else { throw Errno(rawValue: errno) }
        return FileDescriptor(rawValue: number)
    }
}
