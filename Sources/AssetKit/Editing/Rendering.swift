import ISOMedia
import LibAV
package import MediaBase
import SystemCalls
import SystemPackage

extension Asset {
    /// Creates an asset from a composition in its current state.
    ///
    /// Its sources are opened when they are read, and must not change until then.
    public convenience init(composition: Composition) {
        self.init(composition, AssetContents(composition))
    }

    /// The composition that the asset shows; `nil` for other assets.
    var composition: Composition? { backing as? Composition }
}

extension Composition: ComposedBacking, FrameLocatingBacking {
    var input: InputSource? { nil }
    var sources: [Asset] { tracks.flatMap(\.segments).compactMap(\.asset) }

    func pipelines(
        for core: DemuxSession, in timeRange: MediaTimeRange, threads: Int, cancellation: Cancellation
    ) -> any PipelineMaker {
        CompositionStart(
            composition: self, core: core, timeRange: timeRange, threads: threads, cancellation: cancellation)
    }
}

extension AssetContents {
    /// Creates the contents that describe a composition.
    init(_ composition: Composition) {
        container = ContainerInfo(format: .composition)
        duration = composition.duration
        tracks = composition.tracks.enumerated().map { AssetTrack($1, index: $0, of: composition) }
        metadata = []
        chapters = []
        warnings = []
        origin = .zero
        isTimingPrecise = true
    }
}

extension AssetTrack {
    /// Creates an asset's track that describes a composition's track.
    init(_ track: Composition.Track, index: Int, of composition: Composition) {
        let sources = track.segments.compactMap(\.source?.track)
        let language = track.language.map { [(key: "language", value: $0)] } ?? []
        var stream = StreamInfo(
            index: index, id: track.id, timeBase: Rational(1, Int64(track.timescale)),
            format: FormatDescription(mediaType: track.mediaType, codec: "unknown"), metadata: language)
        stream.startTime = .zero
        stream.duration = track.end
        var known: Set<FormatDescription> = []
        let formats = sources.compactMap(\.formatDescriptions.first).filter { known.insert($0).inserted }
        if let first = formats.first {
            stream.format = first
            stream.furtherFormats = Array(formats.dropFirst())
        }
        stream.displayMatrix = track.preferredTransform?.matrix
        stream.nominalFrameRate = sources.first?.nominalFrameRate
        stream.averageFrameRate = sources.first?.averageFrameRate
        if sources.first?.isFrameRateEstimated == false { stream.statedFrameRate = stream.nominalFrameRate }
        stream.containerColor = sources.first?.containerColor
        self.init(stream, origin: .zero, keySpace: .common, edits: nil, scan: nil)
        if [.timecode, .data].contains(track.mediaType) {
            carriage = sources.first?.carriage
            if sources.contains(where: { $0.carriage != carriage }) {
                carriage = .impossible("its parts have different descriptions")
            }
        }
        associatedTracks = track.associations(in: composition)
    }
}

extension Composition.Track {
    /// The references of timecode and of what data describes, if the tracks that they lead to are in the composition.
    fileprivate func associations(in composition: Composition) -> [String: [Int]] {
        guard let source = segments.lazy.compactMap(\.source).first else { return [:] }
        var found: [String: [Int]] = [:]
        for type in ["tmcd", "cdsc"] {
            let wanted = source.track.associatedTracks[type] ?? []
            let targets = composition.tracks.filter { other in
                guard let first = other.segments.lazy.compactMap(\.source).first else { return false }
                return first.asset === source.asset && wanted.contains(first.track.id)
            }
            if !targets.isEmpty { found[type] = targets.map(\.id) }
        }
        return found
    }

    /// The timescale in which all of the sources' times and the segments' starts are whole.
    ///
    /// The largest timescale of them all if 32 bits do not suffice.
    fileprivate var timescale: Int32 {
        var scales: Set<Int32> = []
        for segment in segments {
            scales.insert(segment.source?.track.naturalTimeScale ?? 1)
            scales.insert(segment.start.timescale)
        }
        return MediaTime.commonTimescale(of: scales) ?? max(1, scales.max() ?? 1)
    }
}

/// The settings that combine a composition's tracks into one video and one audio track, as in an exported file.
struct Rendering: ComposedBacking, CompositedBacking {
    /// The composition as an asset.
    let asset: Asset
    /// The video composition; `nil` if there is no video.
    let videoComposition: VideoComposition?
    /// The audio mix; `nil` if there is no audio.
    let audioMix: AudioMix?

    var input: InputSource? { nil }
    var sources: [Asset] { asset.backing.sources }
    var frames: Asset { asset }

    func compositing() -> (any ImageCompositing)? { videoComposition.map { Compositing(composition: $0) } }

    func pipelines(
        for core: DemuxSession, in timeRange: MediaTimeRange, threads: Int, cancellation: Cancellation
    ) -> any PipelineMaker {
        RenderingStart(rendering: self, core: core, timeRange: timeRange, threads: threads, cancellation: cancellation)
    }
}

extension Asset {
    /// Creates an asset that shows a composition as if exported: one track of composited video and one of mixed audio.
    ///
    /// Both tracks deliver decoded samples.
    /// - Parameters:
    ///   - videoComposition: The settings that combine the video tracks; `nil` omits video.
    ///   - audioMix: The settings that mix the audio tracks; `nil` omits audio.
    ///   - startTimecode: The timecode of the first frame.
    /// - Throws: ``MediaError/Code-swift.struct/noSuchTrack`` if no track is left.
    package convenience init(
        rendering composition: Composition, videoComposition: VideoComposition?, audioMix: AudioMix?,
        startTimecode: String? = nil
    ) throws(MediaError) {
        let inner = Asset(composition: composition)
        let tracks = try inner.contents().tracks
        var contents = AssetContents(composition)
        contents.tracks = []
        if let videoComposition, tracks.contains(where: { $0.mediaType == .video }) {
            let index = contents.tracks.count
            let pictures = tracks.filter { $0.mediaType == .video }
            let end = videoComposition.end(of: pictures, until: composition.duration)
            contents.tracks.append(
                AssetTrack(
                    framesOf: videoComposition, index: index, duration: end ?? composition.duration,
                    timecode: startTimecode))
        }
        let sounds = tracks.filter { $0.mediaType == .audio }
        if audioMix != nil, !sounds.isEmpty {
            contents.tracks.append(try AssetTrack(mixOf: sounds, index: contents.tracks.count))
        }
        guard !contents.tracks.isEmpty else { throw MediaError(.noSuchTrack, "there is nothing to be rendered") }
        self.init(
            Rendering(asset: inner, videoComposition: videoComposition, audioMix: audioMix), contents)
    }

    /// The duration of each composited frame, counted from zero; `nil` if video is not composited.
    package var frameDuration: MediaTime? { (backing as? Rendering)?.videoComposition?.frameDuration }
}

extension AssetTrack {
    /// Creates a track that describes a mix as if it came from a file.
    fileprivate init(mixOf tracks: [AssetTrack], index: Int) throws(MediaError) {
        let format = try AudioMixOutput(tracks: tracks).format
        var stream = StreamInfo(
            index: index, id: index + 1, timeBase: Rational(1, Int64(max(1, format.audio?.sampleRate ?? 1))),
            format: format, metadata: [])
        stream.startTime = .zero
        stream.duration = tracks.map(\.timeRange.end).filter(\.isNumeric).max()
        self.init(stream, origin: .zero, keySpace: .common, edits: nil, scan: nil)
    }
}

/// Creates the pipelines for outputs of a rendered composition.
struct RenderingStart: PipelineMaker {
    let rendering: Rendering
    let core: DemuxSession
    let timeRange: MediaTimeRange
    let threads: Int
    let cancellation: Cancellation

    func origin(of track: AssetTrack) -> MediaTime { .zero }
    var duration: MediaTime { rendering.asset.composition?.duration ?? .indefinite }

    func pipeline(
        for track: AssetTrack, _ settings: TrackOutput.Settings, _ reduction: (any AudioReduction)?
    ) throws(MediaError) -> any SamplePipeline {
        let tracks = try rendering.asset.contents().tracks.filter { $0.mediaType == track.mediaType }
        let output: ReaderOutput
        switch settings {
        case .stored:
            throw MediaError(.unsupported, "what is composited and mixed is not stored; ask for pictures or sound")
        case .audio(let settings):
            let mixed = try AudioMixOutput(tracks: tracks, audioSettings: settings)
            mixed.audioMix = rendering.audioMix ?? AudioMix()
            output = mixed
        case .video(let settings):
            guard let composition = rendering.videoComposition else {
                throw MediaError(.noSuchTrack, "there are no pictures")
            }
            output = try VideoCompositionOutput(tracks: tracks, videoSettings: settings, videoComposition: composition)
        }
        let reader = try AssetReader(asset: rendering.asset, cancellation: cancellation)
        reader.timeRange = timeRange
        reader.threadsPerOutput = threads
        try reader.add(output)
        try reader.startReading()
        return RenderedPipeline(reader, output, core, index: track.index)
    }
}

/// Delivers the samples of the composition's output as those of a track.
private final class RenderedPipeline: SamplePipeline {
    private let reader: AssetReader
    private let output: ReaderOutput
    private let core: DemuxSession
    private let index: Int
    /// The damage that was already reported.
    private var told = DamageReport()

    init(_ reader: AssetReader, _ output: ReaderOutput, _ core: DemuxSession, index: Int) {
        (self.reader, self.output, self.core, self.index) = (reader, output, core, index)
    }

    func next(from packets: PacketQueue) throws(MediaError) -> SampleBuffer? {
        let buffer = try output.nextSampleBuffer()
        tellDamage()
        return buffer.map {
            SampleBuffer($0, ofTrack: index)
        }
    }

    private func tellDamage() {
        let damage = reader.damage
        guard damage != told else { return }
        var new = damage
        new.packetCount -= told.packetCount
        // A place that has grown is merged with its earlier report.
        new.places.removeAll { told.places.contains($0) }
        core.add(new, track: index) { $0 }
        told = damage
    }
}
