internal import AssetKit
internal import FileOutput
internal import MediaBase
internal import Network
internal import SystemCalls
internal import SystemPackage

/// The paths and names by which a file referenced by a timeline can be found.
struct MediaName {
    /// The paths to try in order, relative to the timeline's folder or absolute; the first existing one is used.
    private(set) var candidates: [FilePath] = []
    /// The path's folders and file name, as written on another computer.
    private(set) var components: [String] = []
    /// The reason why the reference itself cannot be used; `nil` if it can.
    private(set) var refusal: MediaError?

    /// Parses a reference: a path with `/` or `\`, with or without percent encoding, or a `file:` URL.
    ///
    /// - Throws: `damaged` for a name with a zero byte.
    init(_ url: String) throws(MediaError) {
        if let scheme = Self.scheme(of: url), scheme != "file" {
            refusal = MediaError(
                .unsupported, Self.refusal(ofScheme: scheme),
                path: (try? NetworkAddress(url))?.displayName ?? url)
            let path = url.prefix { $0 != "?" && $0 != "#" }.drop { $0 != ":" }
            setComponents(path.percentDecoded)
        } else if url.prefix(5).lowercased() == "file:" {
            readFileURL(url)
        } else {
            // A name may contain literal percent signs, so both forms are tried.
            let (plain, decoded) = (Array(url.utf8), url.percentDecoded)
            add(plain)
            add(decoded)
            setComponents(decoded)
        }
        // The system would end the path at the zero byte.
        guard !url.percentDecoded.contains(0) else {
            throw MediaError(.damaged, "the media's name has a zero byte", path: url)
        }
    }

    private static func refusal(ofScheme scheme: String) -> String {
        NetworkAddress.isAddress(scheme + "://")
            ? "media on the network is read only from the servers that --allow-network names"
            : "\(scheme): media is not fetched; copy it beside the timeline"
    }

    private mutating func readFileURL(_ url: String) {
        var rest = url.dropFirst(5)
        guard rest.hasPrefix("//") else {
            // A file's name may literally start with `file:`.
            add(Array(url.utf8))
            add(rest.percentDecoded)
            return setComponents(rest.percentDecoded)
        }
        rest = rest.dropFirst(2)
        let host = rest.prefix { $0 != "/" }
        let isDrive = host.count == 2 && host.last == ":"
        if !isDrive { rest = rest.dropFirst(host.count) }
        setComponents(rest.percentDecoded)
        guard host.isEmpty || isDrive || host.lowercased() == "localhost" else {
            refusal = MediaError(.unsupported, "the media is on another computer, \(host); copy it here", path: url)
            return
        }
        add(rest.percentDecoded)
    }

    /// Adds a path; one with `\` is also added with `/`, unless it starts with a Windows drive or server.
    private mutating func add(_ path: [UInt8]) {
        add(FilePath(bytes: path))
        guard path.contains(Self.backslash), !Self.isOfWindows(path) else { return }
        add(FilePath(bytes: path.map { $0 == Self.backslash ? Self.slash : $0 }))
    }

    private mutating func add(_ path: FilePath) {
        if !path.isEmpty, !candidates.contains(path) { candidates.append(path) }
    }

    private mutating func setComponents(_ path: [UInt8]) {
        components = path.split { $0 == Self.slash || $0 == Self.backslash }.map { String(decoding: $0, as: UTF8.self) }
            .filter { $0 != "." && $0 != ".." }
    }

    private static let slash = UInt8(ascii: "/")
    private static let backslash = UInt8(ascii: "\\")

    /// Returns whether a path starts with `C:\` or `\\server`.
    private static func isOfWindows(_ path: [UInt8]) -> Bool {
        path.starts(with: [backslash, backslash]) || path.count > 2 && path[1] == UInt8(ascii: ":")
    }

    /// Returns the scheme of a URL in lowercase; `nil` if there is none.
    private static func scheme(of url: String) -> String? {
        guard let colon = url.firstRange(of: "://"), colon.lowerBound != url.startIndex,
            url[..<colon.lowerBound].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return nil }
        return url[..<colon.lowerBound].lowercased()
    }
}

/// The location of a media file, and the folder that it must lie in.
struct MediaPlace {
    /// The open folder that the path must not leave; `nil` for no limit.
    let folder: OpenFolder?
    /// The path relative to the folder.
    let relative: FilePath

    /// The whole path, for messages.
    var path: FilePath { folder.map { $0.path.pushing(relative) } ?? relative }

    /// Returns the file as an asset, which can open it only within the folder.
    func asset(_ options: Asset.Options) -> Asset {
        folder.map { Asset(path: relative, beneath: $0, options: options) } ?? Asset(path: relative, options: options)
    }

    /// Returns the identity of the file, read from an open descriptor; `nil` if no file exists.
    ///
    /// - Throws: `nestedFileRefused` if the path leads out of the folder, `notAFile`, and errors of the system.
    func identity() throws(MediaError) -> FileIdentity? {
        let file: FileDescriptor
        do {
            file = try folder?.open(relative) ?? openForReading(relative)
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

    /// The existing location with the same names in a different Unicode normalization, as other systems write them;
    /// `nil` if there is none.
    var inOtherSpelling: MediaPlace? {
        guard relative.bytes.contains(where: { $0 >= 0x80 }) else { return nil }
        guard let folder = try? self.folder ?? OpenFolder(relative.isAbsolute ? "/" : ".") else { return nil }
        var found = FilePath()
        for component in relative.components {
            let name = component.bytes
            if name.contains(where: { $0 >= 0x80 }) {
                guard let entries = try? folder.contents(of: found, atMost: MediaFolders.maximumEntries) else {
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

    /// Returns the error for a file that lies outside the permitted folders.
    static func refusal(of path: FilePath) -> MediaError {
        MediaError(
            .nestedFileRefused,
            "the media lies outside the timeline's folder; --allow-outside allows that, and --media-folder says where "
                + "else media is", path: path.string)
    }
}

/// The folders that are searched for media by file name.
final class MediaFolders {
    /// The maximum number of files and folders examined in all media folders together.
    static let maximumEntries = 500_000
    /// The maximum depth of subfolders that are searched.
    private static let maximumLevels = 32

    /// The open folders.
    let folders: [OpenFolder]
    private let deadline: ContinuousClock.Instant?
    /// The files by name, independent of Unicode normalization; built on first use.
    private var files: [String: [MediaPlace]]?

    /// - Throws: The error of opening a folder.
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

    /// Returns the files with a name in any of the folders and their subfolders.
    ///
    /// - Throws: `limitExceeded` if the folders contain too many entries.
    func files(named name: String) throws(MediaError) -> [MediaPlace] {
        if let files { return files[name] ?? [] }
        var found: [String: [MediaPlace]] = [:]
        var entriesLeft = Self.maximumEntries
        for folder in folders {
            var waiting: [(path: FilePath, level: Int)] = [(FilePath(), 0)]
            while let (path, level) = waiting.popLast() {
                if let late = MediaLimits.error(after: deadline) { throw late }
                // A folder that cannot be listed contains nothing readable.
                guard let entries = try? folder.contents(of: path, atMost: entriesLeft + 1) else { continue }
                entriesLeft -= entries.count
                guard entriesLeft >= 0 else {
                    throw MediaError(
                        .limitExceeded,
                        "the media folders hold more than \(Self.maximumEntries) files; name folders further down",
                        path: folder.path.string)
                }
                for entry in entries {
                    let relative = path.pushing(FilePath(bytes: entry.name))
                    if !entry.isFolder {
                        found[String(decoding: entry.name, as: UTF8.self), default: []].append(
                            MediaPlace(folder: folder, relative: relative))
                    } else if level < Self.maximumLevels {
                        waiting.append((relative, level + 1))
                    }
                }
            }
        }
        files = found
        return found[name] ?? []
    }
}
