package import AssetKit
package import FileOutput
internal import Inspection
package import MediaBase
internal import Network
internal import SystemCalls
package import SystemPackage

/// The settings for finding a timeline's media and for handling content that cannot be rendered.
package struct TimelineSettings: Sendable {
    /// Indicates whether media may lie outside the timeline's folder.
    package var allowsOutside = false
    /// The hosts, and the buckets of S3, from which media on the network may be read, in lower case.
    package var allowedHosts: Set<String> = []
    /// The folders that are searched by file name for media that is not found at its path in the timeline.
    package var mediaFolders: [FilePath] = []
    /// Indicates whether clips without media become gaps instead of errors.
    package var allowsMissing = false
    /// Indicates whether effects that cannot be rendered are ignored instead of being errors.
    package var ignoresEffects = false
    /// The algorithm for clips whose audio plays faster or slower.
    package var audioTimePitchAlgorithm = AudioTimePitchAlgorithm.spectral

    /// Creates settings that accept only what can be rendered in full.
    package init() {}
}

/// A timeline whose media has been found and opened, put together as a composition.
package struct OpenTimeline: Sendable {
    /// The name; empty if it has none.
    package let name: String
    /// The clips, in one or more tracks for each media type.
    package let composition: Composition
    /// The instructions for compositing the video; `nil` if there is none.
    package let videoComposition: VideoComposition?
    /// The instructions for mixing the audio; `nil` if there is none.
    package let audioMix: AudioMix?
    /// The duration of the timeline.
    package let duration: MediaTime
    /// The duration, extended to the end of the last whole frame.
    package let renderedDuration: MediaTime
    /// The timecode of the first frame; `nil` if the timeline has none.
    package let startTimecode: Timecode?
    /// The numbers of clips, dissolves and tracks.
    package let counts: TimelineCounts
    /// The number of media files.
    package let mediaCount: Int
    /// Messages about differences from the timeline.
    package let warnings: [String]
    private let media: [FileIdentity]
    private let pieces: [TimelinePiece]

    /// Opens the media of a timeline.
    ///
    /// - Parameters:
    ///   - size: The frame size; `nil` for that of the largest source.
    ///   - frameRate: The frames per second; `nil` for the timeline's own rate, or the first source's.
    ///   - opening: The options for opening the media.
    /// - Throws: An error that names the element which cannot be read or rendered.
    package init(
        _ file: TimelineFile, _ settings: TimelineSettings, size: Dimensions? = nil, frameRate: Rational? = nil,
        opening: Asset.Options = Asset.Options()
    ) throws(MediaError) {
        var opening = opening
        opening.rawSound = nil
        // Whoever wrote the timeline must not direct these to a server of his own.
        opening.network.headers = []
        let media = try TimelineMedia(
            folder: file.folder, allowsOutside: settings.allowsOutside, allowedHosts: settings.allowedHosts,
            mediaFolders: settings.mediaFolders, opening: opening)
        var reader = TimelineReader(ignoresEffects: settings.ignoresEffects)
        let timeline = try reader.read(file.bytes)
        let pieces = try TimelinePieces(timeline, media: media, allowsMissing: settings.allowsMissing)
        let rate = frameRate ?? timeline.globalStart.flatMap { $0.rate.isFrameRate ? $0.rate : nil }
        let made = try TimelineComposition(pieces, size: size, frameRate: rate)
        name = timeline.name
        (composition, videoComposition) = (made.composition, made.videoComposition)
        audioMix = made.audioMix.map { mix in
            AudioMix(
                mix.inputParameters.map { parameters in
                    var parameters = parameters
                    parameters.audioTimePitchAlgorithm = settings.audioTimePitchAlgorithm
                    return parameters
                })
        }
        (duration, renderedDuration) = (pieces.duration, made.duration)
        startTimecode = videoComposition?.frameRate.flatMap { timeline.startTimecode(at: $0) }
        (counts, mediaCount, warnings) = (pieces.counts, media.count, reader.warnings + pieces.warnings)
        (self.media, self.pieces) = (media.identities, pieces.video + pieces.audio)
    }

    /// Returns the timeline as an asset with one video and one audio track, which can be read like a file.
    package func asset() throws(MediaError) -> Asset {
        try Asset(
            rendering: composition, videoComposition: videoComposition, audioMix: audioMix,
            startTimecode: startTimecode?.description)
    }

    /// Prevents outputs from overwriting the media.
    package func protect(in outputs: OutputFileSet) { outputs.protect(media) }

    /// Throws if an output is one of the media files, also through a link.
    package func refuse(_ output: FilePath) throws(MediaError) {
        guard let identity = FileIdentity(of: output), media.contains(identity) else { return }
        throw MediaError(
            .invalidArgument, "the output is media of the timeline; choose another name", path: output.string)
    }

    /// Throws if any clip of a media type has to be rendered, so that stored samples cannot be copied.
    package func checkStorable(_ type: MediaType) throws(MediaError) {
        try TimelinePiece.checkStorable(pieces.filter { $0.track.mediaType == type })
    }
}

extension VideoComposition {
    /// The frames per second.
    package var frameRate: Rational? { Rational(frameDuration)?.inverse }
}

extension Rational {
    /// True if the value is plausible as a frame rate, rather than a sample rate or a clock rate.
    var isFrameRate: Bool { self > Rational(1) && self <= Rational(240) }
}

extension Timeline {
    /// Returns the timecode of the first frame; `nil` if the timeline has none.
    func startTimecode(at rate: Rational) -> Timecode? {
        guard let start = globalStart?.time, start >= .zero else { return nil }
        // OpenTimelineIO writes drop-frame timecode for the rates that support it.
        let isDropFrame = rate == Rational(30000, 1001) || rate == Rational(60000, 1001)
        guard let counting = try? Timecode.Rate(frameRate: rate, isDropFrame: isDropFrame) else { return nil }
        return try? Timecode(elapsed: start, rate: counting, rounding: .halfAwayFromZero)
    }
}

/// The files referenced by a timeline, each found, checked and opened once.
///
/// Relative paths start from the timeline's folder. A path that leaves this folder through `..`, an absolute path or a
/// link is refused each time the file is opened, unless that is allowed. A file that does not exist at its path is
/// searched for by name in the media folders.
final class TimelineMedia {
    private let folder: FilePath
    private let allowsOutside: Bool
    private let allowedHosts: Set<String>
    private let opening: Asset.Options
    private let elsewhere: MediaFolders
    /// The timeline's folder; `nil` if it cannot be opened.
    private let home: OpenFolder?
    private var known: [FilePath: TimelineSource] = [:]
    private var remote: [NetworkAddress: TimelineSource] = [:]
    private var links: [Link: TimelineSource] = [:]

    /// A reference with the range that it declares for its media.
    private struct Link: Hashable {
        let url: String
        let range: TimelineRange?
    }

    /// The maximum number of files with the same name that are opened to distinguish them.
    private static let maximumEquals = 64

    /// - Parameters:
    ///   - folder: The folder of the timeline's file; empty for the current one.
    ///   - allowsOutside: True if references may lead out of that folder.
    ///   - allowedHosts: The hosts on the network from which media may be read.
    ///   - mediaFolders: The folders that are searched by file name, including their subfolders.
    ///   - opening: The options for opening the files.
    /// - Throws: The error of opening a media folder.
    init(
        folder: FilePath, allowsOutside: Bool, allowedHosts: Set<String> = [], mediaFolders: [FilePath] = [],
        opening: Asset.Options = Asset.Options()
    ) throws(MediaError) {
        self.folder = folder
        self.allowedHosts = allowedHosts
        self.allowsOutside = allowsOutside
        self.opening = opening
        elsewhere = try MediaFolders(mediaFolders, until: opening.limits.deadline)
        home = try? OpenFolder(folder)
    }

    /// The number of opened files.
    var count: Int { known.count + remote.count }

    /// The identities of the opened files.
    var identities: [FileIdentity] { known.keys.compactMap { FileIdentity(of: $0) } }

    /// Returns the media for the URL of a reference.
    ///
    /// - Parameter range: The media's time range as declared by the reference, which distinguishes files with the same
    ///   name.
    /// - Throws: `nestedFileRefused` for a file outside the permitted folders, `unsupported` for a URL that is not a
    ///   local file, `notFound`, `invalidArgument` if several files match, and errors of opening.
    func source(_ url: String, range: TimelineRange? = nil) throws(MediaError) -> TimelineSource {
        let link = Link(url: url, range: range)
        if let source = links[link] { return source }
        let found = try remoteSource(url)
        let source = if let found { found } else { try find(MediaName(url), range, url) }
        links[link] = source
        return source
    }

    /// Returns the media at an address; `nil` if the URL is no address, or one of a host that is not allowed.
    private func remoteSource(_ url: String) throws(MediaError) -> TimelineSource? {
        guard NetworkAddress.isAddress(url) else { return nil }
        let address = try NetworkAddress(url)
        guard allowedHosts.contains(address.host) else { return nil }
        if let source = remote[address] { return source }
        let source = try TimelineSource(Asset(address: address, options: opening))
        remote[address] = source
        return source
    }

    private func open(_ place: MediaPlace) throws(MediaError) -> TimelineSource {
        if let source = known[place.path] { return source }
        let source = try TimelineSource(place.asset(opening))
        known[place.path] = source
        return source
    }

    // MARK: By path

    private func find(_ name: MediaName, _ range: TimelineRange?, _ url: String) throws(MediaError) -> TimelineSource {
        var problem = name.refusal
        for candidate in name.candidates {
            do throws(MediaError) {
                if let place = try place(of: candidate) { return try open(place) }
            } catch {
                guard error.code == .nestedFileRefused else { throw error }
                problem = problem ?? error
            }
        }
        let path = name.candidates.first.map { folder.pushing($0).string } ?? url
        guard elsewhere.folders.isEmpty else {
            if let place = try search(name, range) { return try open(place) }
            throw MediaError(
                .notFound,
                "the media is not in the timeline's folder, and no file of its name is in the media folders",
                path: path)
        }
        throw problem
            ?? MediaError(
                .notFound, "the media does not exist; --media-folder says where else it is looked for by its name",
                path: path)
    }

    /// Returns the location of an existing file for a path; `nil` if there is none.
    private func place(of candidate: FilePath) throws(MediaError) -> MediaPlace? {
        for place in try places(of: candidate) {
            if try place.identity() != nil { return place }
            if let other = place.inOtherSpelling, try other.identity() != nil { return other }
        }
        return nil
    }

    /// Returns the path relative to each folder that contains it.
    private func places(of candidate: FilePath) throws(MediaError) -> [MediaPlace] {
        guard !allowsOutside else { return [MediaPlace(folder: nil, relative: folder.pushing(candidate))] }
        guard candidate.isAbsolute else { return home.map { [MediaPlace(folder: $0, relative: candidate)] } ?? [] }
        let path = candidate.lexicallyNormalized()
        let places = ([home].compactMap(\.self) + elsewhere.folders).compactMap { folder -> MediaPlace? in
            var relative = path
            guard relative.removePrefix(folder.path.absolute) else { return nil }
            return MediaPlace(folder: folder, relative: relative)
        }
        guard !places.isEmpty else { throw MediaPlace.refusal(of: candidate) }
        return places
    }

    // MARK: By name

    /// Returns the file with a name in the media folders; `nil` if there is none.
    ///
    /// Of several files, those with the duration and the start timecode declared by the reference are preferred; of
    /// these, the one with the most matching folder names above it.
    ///
    /// - Throws: `invalidArgument` if several files remain.
    private func search(_ name: MediaName, _ range: TimelineRange?) throws(MediaError) -> MediaPlace? {
        guard let last = name.components.last else { return nil }
        var seen: Set<FileIdentity> = []
        var places: [MediaPlace] = []
        for place in try elsewhere.files(named: last) {
            guard let identity = try? place.identity() else { continue }
            if seen.insert(identity).inserted { places.append(place) }
        }
        if places.isEmpty { return nil }
        places.sort { $0.path.string < $1.path.string }
        if let range, places.count <= Self.maximumEquals {
            let fits = places.map { place in
                (try? TimelineSource(place.asset(opening))).map { Fit($0, range) } ?? .unknown
            }
            places = zip(places, fits).compactMap { $1 == .otherStart ? nil : $0 }
            guard !places.isEmpty else {
                throw MediaError(
                    .notFound,
                    "files of this name are in the media folders, but none begins with the timecode that the "
                        + "timeline says", path: last)
            }
            let exact = zip(places, fits.filter { $0 != .otherStart }).compactMap { $1 == .same ? $0 : nil }
            if !exact.isEmpty { places = exact }
        }
        let alike = places.map { $0.sharedFolders(with: name.components) }
        let most = alike.max() ?? 0
        places = zip(places, alike).compactMap { $1 == most ? $0 : nil }
        guard places.count == 1 else {
            let names = places.prefix(3).map(\.path.string).joined(separator: ", ")
            throw MediaError(
                .invalidArgument,
                "\(places.count) files in the media folders could be meant (\(names)\(places.count > 3 ? ", …" : "")); "
                    + "name a --media-folder that has only one of them", path: last)
        }
        return places.first
    }

    /// The degree to which a file matches the range of a reference.
    private enum Fit {
        /// The file has the same duration.
        case same
        /// The file has another duration, or cannot be read.
        case unknown
        /// The file has another start timecode.
        case otherStart

        init(_ source: TimelineSource, _ range: TimelineRange) {
            let frame = range.rate.isFrameRate ? range.rate.inverse.map { MediaTime($0) } : nil
            let slack = frame ?? MediaTime(value: 1, timescale: 24)
            if let start = source.timecodeStart, range.start > .zero, (start - range.start).absoluteValue >= slack {
                self = .otherStart
                return
            }
            guard let length = (source.video ?? source.audio)?.timeRange.duration, length.isNumeric else {
                self = .unknown
                return
            }
            self = (length - range.duration).absoluteValue <= slack ? .same : .unknown
        }
    }
}

extension MediaPlace {
    /// Returns the number of folders above the file, from the file upwards, that have the same names as in another
    /// path.
    fileprivate func sharedFolders(with names: [String]) -> Int {
        let own = path.absolute.components.map { String(decoding: $0.bytes, as: UTF8.self) }
        return zip(own.reversed(), names.reversed()).prefix { $0 == $1 }.count
    }
}

/// A file from which clips are taken.
struct TimelineSource: Sendable {
    let asset: Asset
    /// The first enabled video track; `nil` if there is none.
    let video: AssetTrack?
    /// The first enabled audio track; `nil` if there is none.
    let audio: AssetTrack?
    /// The time of the file's start timecode; `nil` if it has none.
    let timecodeStart: MediaTime?

    /// - Throws: Errors of opening.
    init(_ asset: Asset) throws(MediaError) {
        let tracks = try asset.loadNow(.tracks)
        self.asset = asset
        video = try? TrackSelector.standardTrack(of: .video, in: tracks.filter { !$0.isAttachedPicture })
        audio = try? TrackSelector.standardTrack(of: .audio, in: tracks)
        timecodeStart = try video.flatMap { video throws(MediaError) in
            try TimeExpression.Context(video, in: asset).startTimecode?.time
        }
        asset.letGoOfFile()
    }

    /// The name of the file for messages.
    var name: String { asset.displayName }

    /// Returns the track of a media type.
    func track(_ type: MediaType) -> AssetTrack? { type == .video ? video : audio }
}
