internal import AssetKit
internal import FileOutput
internal import MediaBase
internal import SystemCalls
internal import SystemPackage

/// The files that a timeline names: found, checked and opened once each.
///
/// Names are taken from the timeline's folder. What leads out of it, by `..`, by an absolute path or through a link, is
/// refused unless that was allowed; what is on another computer always.
final class TimelineMedia {
    private let folder: FilePath
    private let allowsOutside: Bool
    private let opening: Asset.Options
    private var known: [FilePath: TimelineSource] = [:]

    /// - Parameters:
    ///   - folder: The folder in which the timeline's file lies; empty for the current one.
    ///   - opening: How the files are opened.
    init(folder: FilePath, allowsOutside: Bool, opening: Asset.Options = Asset.Options()) {
        self.folder = folder
        self.allowsOutside = allowsOutside
        self.opening = opening
    }

    /// How many files were opened.
    var count: Int { known.count }

    /// Which files were opened.
    var identities: [FileIdentity] { known.keys.compactMap { FileIdentity(of: $0) } }

    /// Refuses an output that is one of the files, also through a link.
    func refuse(_ output: FilePath) throws(MediaError) {
        guard let identity = FileIdentity(of: output) else { return }
        guard !known.keys.contains(where: { FileIdentity(of: $0) == identity }) else {
            throw MediaError(
                .invalidArgument, "the output is media of the timeline; choose another name", path: output.string)
        }
    }

    /// The media that a reference's URL names.
    ///
    /// - Throws: `nestedFileRefused` for what is outside, `unsupported` for what is no local file, `notFound`, and what
    ///   opening throws.
    func source(_ url: String) throws(MediaError) -> TimelineSource {
        let path = try path(of: url)
        if let source = known[path] { return source }
        let source = try TimelineSource(Asset(path: path, options: opening), path: path)
        known[path] = source
        return source
    }

    // MARK: Names

    private func path(of url: String) throws(MediaError) -> FilePath {
        let named = try Self.name(in: url)
        // Where a name has percent signs of its own, the file that is there counts.
        let candidates = named.isURL ? [named.text] : [Array(url.utf8), named.text]
        var first: FilePath?
        for bytes in candidates {
            guard !bytes.contains(0) else { throw MediaError(.damaged, "the media's name has a zero byte", path: url) }
            let path = folder.pushing(FilePath(bytes: bytes))
            if let status = try? Stat(path) {
                try checkByName(path)
                guard status.type == .regular else {
                    throw MediaError(.notAFile, "is no regular file", path: path.string)
                }
                try checkByLinks(path)
                return path
            }
            first = first ?? path
        }
        let missing = first ?? folder
        try checkByName(missing)
        throw MediaError(.notFound, "the media does not exist", path: missing.string)
    }

    /// The path in a `file:` URL, or a text without a scheme, with percent signs decoded.
    private static func name(in url: String) throws(MediaError) -> (text: [UInt8], isURL: Bool) {
        guard let colon = url.firstRange(of: "://"), colon.lowerBound != url.startIndex,
            url[..<colon.lowerBound].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return (decoded(url), false) }
        let scheme = url[..<colon.lowerBound].lowercased()
        guard scheme == "file" else {
            throw MediaError(.unsupported, "\(scheme): media is not fetched; copy it beside the timeline", path: url)
        }
        let rest = url[colon.upperBound...]
        let host = rest.prefix { $0 != "/" }
        guard host.isEmpty || host.lowercased() == "localhost" else {
            throw MediaError(.unsupported, "the media is on another computer, \(host); copy it here", path: url)
        }
        return (decoded(rest.dropFirst(host.count)), true)
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

    // MARK: Inside or outside

    /// Links may lead elsewhere than names say.
    private func checkByLinks(_ path: FilePath) throws(MediaError) {
        guard !allowsOutside else { return }
        guard let real = Self.real(path), let home = Self.real(folder.isEmpty ? "." : folder) else {
            throw MediaError(.inputOutput, "cannot be opened", path: path.string)
        }
        guard real.starts(with: home) else { throw Self.refusal(of: path) }
    }

    private func checkByName(_ path: FilePath) throws(MediaError) {
        guard !allowsOutside else { return }
        let home = folder.absolute
        guard path.absolute.starts(with: home) else { throw Self.refusal(of: path) }
    }

    private static func refusal(of path: FilePath) -> MediaError {
        MediaError(
            .nestedFileRefused, "the media lies outside the timeline's folder; --allow-outside allows that",
            path: path.string)
    }

    /// The path without links, by the system's word of the open file; `nil` where it cannot be opened.
    private static func real(_ path: FilePath) -> FilePath? {
        guard let file = try? FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking]) else {
            return nil
        }
        defer { try? file.close() }
        return try? targetOfSymbolicLink(FilePath("/proc/self/fd/\(file.rawValue)"))
    }
}

/// A file that clips are taken from.
struct TimelineSource: Sendable {
    /// The file.
    let asset: Asset
    /// Its path.
    let path: FilePath
    /// Its first enabled track of pictures; `nil` without.
    let video: AssetTrack?
    /// Its first enabled track of sound; `nil` without.
    let audio: AssetTrack?
    /// When its own clock says that it begins, by its start timecode; `nil` where it has none.
    let timecodeStart: MediaTime?

    /// - Throws: what opening throws.
    init(_ asset: Asset, path: FilePath) throws(MediaError) {
        let tracks = try asset.loadNow(.tracks)
        self.asset = asset
        self.path = path
        video = try? TrackSelector.standardTrack(of: .video, in: tracks.filter { !$0.isAttachedPicture })
        audio = try? TrackSelector.standardTrack(of: .audio, in: tracks)
        if let video {
            timecodeStart = try TimeExpression.Context(video, in: asset).startTimecode?.time
        } else {
            timecodeStart = nil
        }
        asset.letGoOfFile()
    }

    /// The track that a clip in a track of a kind shows.
    func track(_ type: MediaType) -> AssetTrack? { type == .video ? video : audio }
}
