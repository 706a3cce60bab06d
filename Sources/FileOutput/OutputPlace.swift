internal import MediaBase
internal import SystemCalls
internal import SystemPackage

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
