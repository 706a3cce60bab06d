import CSystemCalls
import Glibc
package import SystemPackage

/// A folder held open as a root: files are opened only below it, whatever changes in its tree meanwhile.
///
/// ```swift
/// let folder = try OpenFolder("cut")
/// let file = try folder.open("media/a.mov")  // throws `Errno.improperLink` if that leads out of the folder
/// ```
package final class OpenFolder: Sendable, Hashable {
    /// A name in a folder.
    package struct Entry: Sendable, Hashable {
        /// The name's bytes.
        package let name: [UInt8]
        /// True if the name denotes a folder, not a link to one.
        package let isFolder: Bool

        /// Creates an entry.
        package init(name: [UInt8], isFolder: Bool) {
            self.name = name
            self.isFolder = isFolder
        }
    }

    /// The path given for the folder; empty for the current folder.
    package let path: FilePath
    private let descriptor: FileDescriptor

    /// The maximum number of links that a path may pass through, as in Linux.
    private static let maximumLinks = 40
    /// The maximum number of names in a path, including those that links add.
    private static let maximumNames = 4096

    /// Opens the folder at a path: open(2) with `O_PATH`.
    package init(_ path: FilePath) throws(Errno) {
        self.path = path
        let place: FilePath = path.isEmpty ? "." : path
        // Follow a link at the path itself; links are restricted only below the folder.
        let number = place.pushing(".").withPlatformString { csc_open_place(AT_FDCWD, $0) }
        guard number >= 0 else { throw Errno(rawValue: errno) }
        descriptor = FileDescriptor(rawValue: number)
    }

    deinit { try? descriptor.close() }

    package static func == (left: OpenFolder, right: OpenFolder) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// Opens a file below the folder for reading, by its relative path: openat2(2) with `RESOLVE_BENEATH`.
    ///
    /// Links are followed as long as they stay below the folder. Opening a FIFO does not wait for a writer, and
    /// reading from the descriptor does not block either.
    ///
    /// - Parameter asksKernel: Whether to try openat2(2); otherwise the path is walked name by name.
    /// - Throws: `improperLink` (`EXDEV`) if the path leads out of the folder, and the errors of open(2).
    package func open(_ relative: FilePath, asksKernel: Bool = true) throws(Errno) -> FileDescriptor {
        if let opener = FileAccess.current { return try opener.open(relative, beneath: path) }
        var attempts = 0
        while asksKernel {
            let number = relative.withPlatformString { csc_open_beneath(descriptor.rawValue, $0) }
            if number >= 0 { return FileDescriptor(rawValue: number) }
            attempts += 1
            switch errno {
            case EINTR: continue
            // Something was renamed during the lookup.
            case EAGAIN where attempts < 64: continue
            // Kernels before 5.6, and sandboxes that do not know the call. EXDEV may also be an absolute link back
            // into the folder.
            case ENOSYS, EPERM, EAGAIN, EXDEV: return try walk(relative)
            case let number: throw Errno(rawValue: number)
            }
        }
        return try walk(relative)
    }

    /// Returns the contents of a folder below this one: names, and whether each is a folder, in no particular order.
    ///
    /// - Parameters:
    ///   - relative: The path relative to this folder; empty for the folder itself. Links are not followed.
    ///   - most: The maximum number of entries returned.
    package func contents(of relative: FilePath, atMost most: Int) throws(Errno) -> [Entry] {
        if let opener = FileAccess.current { return try opener.contents(of: relative, beneath: path, atMost: most) }
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
        var found: [Entry] = []
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
            found.append(Entry(name: name, isFolder: isFolder))
        }
        return found
    }

    // MARK: Walking a path

    /// Opens a file by walking its path name by name, reading links instead of letting the system follow them.
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

    /// Returns the part of an absolute path that lies below the folder.
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
