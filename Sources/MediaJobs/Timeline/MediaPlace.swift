internal import AssetKit
internal import FileOutput
internal import MediaBase
internal import SystemCalls
internal import SystemPackage

/// Where a file of media lies, and below which folder it has to.
struct MediaPlace {
    /// The folder, which is held open, and out of which the path may not lead; `nil` where it may lead anywhere.
    let folder: OpenFolder?
    /// The path from there.
    let relative: FilePath

    /// The whole path, for people.
    var path: FilePath { folder.map { $0.path.pushing(relative) } ?? relative }

    /// The file as an asset, which opens it nowhere else either.
    func asset(_ options: Asset.Options) -> Asset {
        folder.map { Asset(path: relative, beneath: $0, options: options) } ?? Asset(path: relative, options: options)
    }

    /// Looks at the file, by its open descriptor; `nil` where nothing is there.
    ///
    /// - Throws: `nestedFileRefused` where the path leads out of the folder, `notAFile`, and what the system says.
    func identity() throws(MediaError) -> FileIdentity? {
        let file: FileDescriptor
        do {
            file =
                try folder?.open(relative)
                ?? FileDescriptor.open(relative, .readOnly, options: [.closeOnExec, .nonBlocking])
        } catch {
            switch error as? Errno ?? .ioError {
            case .noSuchFileOrDirectory, .notDirectory, .fileNameTooLong: return nil
            case .improperLink: throw Self.refusal(of: path)
            case let error: throw MediaError(error, "read", path: path)
            }
        }
        defer { try? file.close() }
        guard let status = try? file.stat(), status.type == .regular else {
            throw MediaError(.notAFile, "is not a regular file", path: path.string)
        }
        return FileIdentity(status)
    }

    /// The place whose names are the same text in another spelling of Unicode, as other systems write it; `nil` for none.
    var inOtherSpelling: MediaPlace? {
        guard relative.bytes.contains(where: { $0 >= 0x80 }) else { return nil }
        guard let folder = try? self.folder ?? OpenFolder(relative.isAbsolute ? "/" : ".") else { return nil }
        var found = FilePath()
        for component in relative.components {
            let name = component.bytes
            if name.contains(where: { $0 >= 0x80 }) {
                guard let entries = try? folder.contents(of: found, atMost: MediaFolders.mostEntries) else {
                    return nil
                }
                let text = String(decoding: name, as: UTF8.self)
                guard
                    let match = entries.first(where: { $0.name == name })
                        ?? entries.first(where: { String(decoding: $0.name, as: UTF8.self) == text })
                else { return nil }
                found.push(FilePath(bytes: match.name))
            } else {
                found.append(component)
            }
        }
        if self.folder == nil, relative.isAbsolute { found = FilePath(root: "/", found.components) }
        return found == relative ? nil : MediaPlace(folder: self.folder, relative: found)
    }

    /// The error of what lies where nothing may be taken from.
    static func refusal(of path: FilePath) -> MediaError {
        MediaError(
            .nestedFileRefused,
            "the media lies outside the timeline's folder; --allow-outside allows that, and --media-folder says where "
                + "else media is", path: path.string)
    }
}

/// The folders in which media is looked for by its name.
final class MediaFolders {
    /// Files and folders that are looked at, in all of them together, and how deep.
    static let mostEntries = 500_000
    private static let mostLevels = 32

    /// The folders, which are held open.
    let folders: [OpenFolder]
    private let deadline: ContinuousClock.Instant?
    /// The files by their names, which are equal in any spelling of Unicode; made when the first one is looked for.
    private var files: [String: [MediaPlace]]?

    /// - Throws: what opening a folder throws.
    init(_ paths: [FilePath], until deadline: ContinuousClock.Instant?) throws(MediaError) {
        self.deadline = deadline
        folders = try paths.map { path throws(MediaError) in
            do throws(Errno) {
                return try OpenFolder(path)
            } catch {
                guard error == .noSuchFileOrDirectory || error == .notDirectory else {
                    throw MediaError(error, "read", path: path)
                }
                throw MediaError(.notFound, "there is no such media folder", path: path.string)
            }
        }
    }

    /// The files of a name, below any of the folders.
    ///
    /// - Throws: `limitExceeded` where there is too much in the folders.
    func files(named name: String) throws(MediaError) -> [MediaPlace] {
        if let files { return files[name] ?? [] }
        var found: [String: [MediaPlace]] = [:]
        var entriesLeft = Self.mostEntries
        for folder in folders {
            var waiting: [(path: FilePath, level: Int)] = [(FilePath(), 0)]
            while let (path, level) = waiting.popLast() {
                if let late = MediaLimits.error(after: deadline) { throw late }
                // What may not be looked into has nothing that could be read.
                guard let entries = try? folder.contents(of: path, atMost: entriesLeft + 1) else { continue }
                entriesLeft -= entries.count
                guard entriesLeft >= 0 else {
                    throw MediaError(
                        .limitExceeded,
                        "the media folders hold more than \(Self.mostEntries) files; name folders further down",
                        path: folder.path.string)
                }
                for entry in entries {
                    let relative = path.pushing(FilePath(bytes: entry.name))
                    if !entry.isFolder {
                        found[String(decoding: entry.name, as: UTF8.self), default: []].append(
                            MediaPlace(folder: folder, relative: relative))
                    } else if level < Self.mostLevels {
                        waiting.append((relative, level + 1))
                    }
                }
            }
        }
        files = found
        return found[name] ?? []
    }
}
