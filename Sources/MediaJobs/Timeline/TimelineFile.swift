package import AssetKit
internal import FileOutput
package import MediaBase
internal import SystemCalls
package import SystemPackage

/// An OpenTimelineIO file, recognised by its content or by its name.
package struct TimelineFile: Sendable {
    /// Its bytes.
    let bytes: [UInt8]
    /// The folder from which the media's names are taken; empty for the current one.
    let folder: FilePath

    /// Bytes by which a file is recognised.
    private static let prefixBytes = 4096

    /// Reads the file at a path; `nil` where it is no regular file, cannot be opened, or holds something else.
    ///
    /// A file whose name ends with `.otio` is one whatever it holds.
    ///
    /// - Parameter isSure: Whether other JSON is none, unless its beginning names OpenTimelineIO's schema.
    /// - Throws: `limitExceeded` where it is too large, and what reading throws.
    package init?(
        path: FilePath, isSure: Bool = false, until deadline: ContinuousClock.Instant? = nil
    ) throws(MediaError) {
        guard let status = try? Stat(path), status.type == .regular,
            let file = try? FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
        else { return nil }
        defer { try? file.close() }
        let folder = path.removingLastComponent()
        try self.init(
            reading: file, path: path, folder: folder,
            isNamed: path.extension?.lowercased() == "otio", isSure: isSure, until: deadline)
    }

    /// Reads standard input where that holds a timeline, else leaves all of it to be read.
    ///
    /// The media's names are then taken from the current folder.
    ///
    /// - Parameters:
    ///   - standardInput: Where it is.
    ///   - deadline: Until when a silent pipe is waited for; `nil` for as long as it takes.
    package init?(
        standardInput: FileDescriptor, isSure: Bool = false, until deadline: ContinuousClock.Instant? = nil
    ) throws(MediaError) {
        if let place = try? standardInput.seek(offset: 0, from: .current) {
            defer { _ = try? standardInput.seek(offset: place, from: .start) }
            // As media and peaks are read, from the file's beginning.
            _ = try? standardInput.seek(offset: 0, from: .start)
            try self.init(
                reading: standardInput, path: "-", folder: "", isNamed: false, isSure: isSure, until: deadline)
        } else {
            let prefix = peekPipe(standardInput, atMost: Self.prefixBytes, until: deadline)
            guard Self.isTimeline(prefix, isSure: isSure) else { return nil }
            try self.init(
                reading: standardInput, path: "-", folder: "", isNamed: false, isSure: isSure, until: deadline)
        }
    }

    private init?(
        reading file: FileDescriptor, path: FilePath, folder: FilePath, isNamed: Bool,
        isSure: Bool, until deadline: ContinuousClock.Instant?
    ) throws(MediaError) {
        func some(_ count: Int) throws(MediaError) -> [UInt8] {
            _ = waitForInput(file, until: deadline)
            if let late = MediaLimits.error(after: deadline) { throw late.at(path: path.string) }
            do throws(Errno) {
                return try readSome(from: file, atMost: count)
            } catch {
                throw MediaError(error, "read", path: path)
            }
        }
        var bytes = try some(Self.prefixBytes)
        guard isNamed || Self.isTimeline(bytes, isSure: isSure) else { return nil }
        while bytes.count <= TimelineReader.maximumBytes, case let more = try some(1 << 20), !more.isEmpty {
            bytes += more
        }
        self.bytes = bytes
        self.folder = folder
        guard bytes.count <= TimelineReader.maximumBytes else {
            throw MediaError(
                .limitExceeded, "the timeline has more than \(TimelineReader.maximumBytes >> 20) MB", path: path.string)
        }
    }

    /// Whether a file that begins so is an object of JSON, which no media file is.
    ///
    /// - Parameter isSure: Whether it has to name OpenTimelineIO's schema too.
    private static func isTimeline(_ prefix: [UInt8], isSure: Bool) -> Bool {
        guard !isSure || prefix.firstRange(of: Array("\"OTIO_SCHEMA\"".utf8)) != nil else { return false }
        let text = prefix.starts(with: [0xEF, 0xBB, 0xBF]) ? prefix.dropFirst(3) : prefix[...]
        return text.first { ![0x20, 0x0A, 0x0D, 0x09].contains($0) } == UInt8(ascii: "{")
    }
}

/// How a timeline's media is found, and what becomes of what cannot be rendered.
package struct TimelineSettings: Sendable {
    /// Whether media may lie outside of the timeline's folder.
    package var allowsOutside = false
    /// Folders in which media is looked for by its name where the timeline's path does not lead to it.
    package var mediaFolders: [FilePath] = []
    /// Whether clips without media become gaps instead of errors.
    package var allowsMissing = false
    /// Whether effects that cannot be rendered are left out instead of being errors.
    package var ignoresEffects = false

    /// Nothing but what can be rendered in full.
    package init() {}
}

/// A timeline as an asset: one track of pictures and one of sound, as `export` writes them.
package struct TimelineAsset: Sendable {
    /// What can be read like a file.
    package let asset: Asset
    /// What is not as the timeline says, in words.
    package let warnings: [String]
    /// The media that it names.
    private let files: [FileIdentity]

    /// Opens the media that a timeline names.
    ///
    /// - Parameter opening: How the media is opened.
    /// - Throws: an error that names the element which cannot be read or rendered.
    package init(
        _ file: TimelineFile, _ settings: TimelineSettings, opening: Asset.Options = Asset.Options()
    ) throws(MediaError) {
        var opening = opening
        opening.rawSound = nil
        let media = try TimelineMedia(
            folder: file.folder, allowsOutside: settings.allowsOutside, mediaFolders: settings.mediaFolders,
            opening: opening)
        var reader = TimelineReader(ignoresEffects: settings.ignoresEffects)
        let timeline = try reader.read(file.bytes)
        let pieces = try TimelinePieces(timeline, media: media, allowsMissing: settings.allowsMissing)
        let rate = timeline.globalStart.flatMap { $0.rate.isFrameRate ? $0.rate : nil }
        let made = try TimelineComposition(pieces, size: nil, frameRate: rate)
        let frameRate = (made.videoComposition?.frameDuration).flatMap { Rational($0)?.inverse }
        asset = try Asset(
            rendering: made.composition, videoComposition: made.videoComposition, audioMix: made.audioMix,
            startTimecode: frameRate.flatMap { timeline.startTimecode(at: $0)?.description })
        warnings = reader.warnings + pieces.warnings
        files = media.identities
    }

    /// Lets no output be one of the media.
    package func protect(in outputs: OutputFileSet) { outputs.protect(files) }
}

extension Timeline {
    /// The first frame's timecode; `nil` where the timeline says none.
    func startTimecode(at rate: Rational) -> Timecode? {
        guard let start = globalStart?.time, start >= .zero else { return nil }
        // As OpenTimelineIO writes timecode: numbers are dropped where that exists.
        let isDropFrame = rate == Rational(30000, 1001) || rate == Rational(60000, 1001)
        guard let counting = try? Timecode.Rate(frameRate: rate, isDropFrame: isDropFrame) else { return nil }
        return try? Timecode(elapsed: start, rate: counting, rounding: .halfAwayFromZero)
    }
}
