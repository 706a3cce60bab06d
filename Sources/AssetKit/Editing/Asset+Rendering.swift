import ISOMedia
import LibAV
package import MediaBase
import SystemCalls
import SystemPackage

extension Asset {
    /// The state of the named file now; `nil` where it is gone, or has no name.
    var fileState: FileState? {
        (source?.path).flatMap { FileState(of: $0) }
    }

    /// The files that it is read from: its own, or those of a composition's sources.
    var files: [FilePath] {
        if let rendering { return rendering.asset.files }
        if let composition {
            let sources = composition.tracks.flatMap { track in track.segments.compactMap { $0.asset } }
            return sources.flatMap { $0.files }
        }
        guard case .path(let path) = source else { return [] }
        return [path]
    }
}

extension AssetContents {
    /// What a composition says of itself.
    init(_ composition: Composition) {
        container = ContainerInfo(of: composition)
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
    /// A composition's track as that of an asset.
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
    }
}

extension Composition.Track {
    /// Ticks a second in which all of the sources' times, and where they lie, are whole; the most of any where 32 bits do
    /// not hold that.
    fileprivate var timescale: Int32 {
        var scales: Set<Int32> = []
        for segment in segments {
            scales.insert(segment.source?.track.naturalTimeScale ?? 1)
            scales.insert(segment.start.timescale)
        }
        return MediaTime.commonTimescale(of: scales) ?? max(1, scales.max() ?? 1)
    }
}

/// How the tracks of a composition become one of pictures and one of sound, as a file of it would have them.
struct Rendering: Sendable {
    /// The composition itself.
    let asset: Asset
    /// How the pictures become one; `nil` where there are none.
    let videoComposition: VideoComposition?
    /// How the sound is mixed; `nil` where there is none.
    let audioMix: AudioMix?
}

extension Asset {
    /// A composition as if it had been exported: one track of composited frames and one of mixed sound, decoded.
    ///
    /// - Parameters:
    ///   - videoComposition: How the pictures become one; `nil` leaves them out.
    ///   - audioMix: How the sound is mixed; `nil` leaves it out.
    ///   - startTimecode: The first frame's.
    /// - Throws: ``MediaError/Code-swift.struct/noSuchTrack`` where nothing is left.
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

    /// How long each composited frame is shown, from zero on; `nil` where frames are not composited.
    package var frameDuration: MediaTime? { rendering?.videoComposition?.frameDuration }
}

extension AssetTrack {
    /// What is known of a mix, as if it were a track of a file.
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

/// What an output of a rendered composition needs to know to begin.
struct RenderingStart: PipelineMaker {
    let rendering: Rendering
    let core: DemuxSession
    let timeRange: MediaTimeRange
    let threads: Int
    let cancellation: Cancellation

    func origin(of track: AssetTrack) -> MediaTime { .zero }
    var duration: MediaTime { rendering.asset.composition?.duration ?? .indefinite }

    func pipeline(
        for track: AssetTrack, _ settings: TrackOutput.Settings, _ digester: SoundDigester?
    ) throws(MediaError) -> any SamplePipeline {
        let tracks = try rendering.asset.contents().tracks.filter { $0.mediaType == track.mediaType }
        let output: any ReaderOutput
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

/// What an output of the composition delivers, as that of a track.
private final class RenderedPipeline: SamplePipeline {
    private let reader: AssetReader
    private let output: any ReaderOutput
    private let core: DemuxSession
    private let index: Int
    /// How much damage was passed on.
    private var told = DamageReport()

    init(_ reader: AssetReader, _ output: any ReaderOutput, _ core: DemuxSession, index: Int) {
        (self.reader, self.output, self.core, self.index) = (reader, output, core, index)
    }

    func next(from packets: PacketQueue) throws(MediaError) -> SampleBuffer? {
        let buffer = try output.nextSampleBuffer()
        tellDamage()
        return buffer.map {
            SampleBuffer($0, ofTrack: index, presentationTime: $0.presentationTime, duration: $0.duration)
        }
    }

    private func tellDamage() {
        let damage = reader.damage
        guard damage != told else { return }
        var new = damage
        new.packetCount -= told.packetCount
        // One that has grown is joined with what was told of it.
        new.places.removeAll { told.places.contains($0) }
        core.add(new, track: index) { $0 }
        told = damage
    }
}
