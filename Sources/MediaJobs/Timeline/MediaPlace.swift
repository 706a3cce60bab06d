internal import AssetKit
internal import FileOutput
internal import MediaBase
internal import SystemCalls
internal import SystemPackage

/// What a timeline's reference names: paths under which the file may be, and by which name it may be looked for.
struct MediaName {
    /// Paths to try, the first that is there counts: from the timeline's folder, or from the root.
    private(set) var candidates: [FilePath] = []
    /// The folders and the file at the end of the path, as another computer wrote them.
    private(set) var components: [String] = []
    /// Why the file cannot be reached by the reference itself; `nil` where it may be.
    private(set) var refusal: MediaError?

    /// Takes a reference apart: a path with `/` or `\`, with percent signs or without, or a `file:` URL.
    ///
    /// - Throws: `damaged` for a name with a zero byte.
    init(_ url: String) throws(MediaError) {
        if let scheme = Self.scheme(of: url), scheme != "file" {
            refusal = MediaError(
                .unsupported, "\(scheme): media is not fetched; copy it beside the timeline", path: url)
            let path = url.prefix { $0 != "?" && $0 != "#" }.drop { $0 != ":" }
            setComponents(Self.decoded(path))
        } else if url.prefix(5).lowercased() == "file:" {
            readFileURL(url)
        } else {
            // Where a name has percent signs of its own, the file that is there counts.
            let (plain, decoded) = (Array(url.utf8), Self.decoded(url))
            add(plain)
            add(decoded)
            setComponents(decoded)
        }
        // A path would end before it.
        guard !Self.decoded(url).contains(0) else {
            throw MediaError(.damaged, "the media's name has a zero byte", path: url)
        }
    }

    private mutating func readFileURL(_ url: String) {
        var rest = url.dropFirst(5)
        guard rest.hasPrefix("//") else {
            // A file may be called so.
            add(Array(url.utf8))
            add(Self.decoded(rest))
            return setComponents(Self.decoded(rest))
        }
        rest = rest.dropFirst(2)
        let host = rest.prefix { $0 != "/" }
        let isDrive = host.count == 2 && host.last == ":"
        if !isDrive { rest = rest.dropFirst(host.count) }
        setComponents(Self.decoded(rest))
        guard host.isEmpty || isDrive || host.lowercased() == "localhost" else {
            refusal = MediaError(.unsupported, "the media is on another computer, \(host); copy it here", path: url)
            return
        }
        add(Self.decoded(rest))
    }

    /// A path that was written with `\` is tried with `/` too, unless it begins with a drive or a server of Windows.
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

    /// Whether a path begins as `C:\` or `\\server`.
    private static func isOfWindows(_ path: [UInt8]) -> Bool {
        path.starts(with: [backslash, backslash]) || path.count > 2 && path[1] == UInt8(ascii: ":")
    }

    /// The scheme of a URL in small letters; `nil` where there is none.
    private static func scheme(of url: String) -> String? {
        guard let colon = url.firstRange(of: "://"), colon.lowerBound != url.startIndex,
            url[..<colon.lowerBound].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return nil }
        return url[..<colon.lowerBound].lowercased()
    }

    private static func decoded(_ text: some StringProtocol) -> [UInt8] {
        let bytes = Array(text.utf8)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                case let digits = bytes[index + 1...index + 2],
                digits.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
                let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                decoded.append(byte)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return decoded
    }
}

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
    static let maximumEntries = 500_000
    private static let maximumLevels = 32

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
        var entriesLeft = Self.maximumEntries
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
