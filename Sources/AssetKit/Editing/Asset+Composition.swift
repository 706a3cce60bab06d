import ISOMedia
import LibAV
import MediaBase
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
        seeking = SeekBehaviour(formatName: "composition")
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
