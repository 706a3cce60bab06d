import ISOMedia
import LibAV
public import MediaBase

/// A track of an asset that is not carried over to the new file, and the reason.
public struct TrackLeftOut: Sendable, Hashable {
    /// The track.
    public let track: AssetTrack
    /// The reason, in words that follow "because".
    public let reason: String

    /// The kind of media in the track.
    public var mediaType: MediaType { track.mediaType }
}

extension TrackLeftOut: CustomStringConvertible {
    /// A sentence that describes the loss to a user.
    public var description: String { "track \(track.index) (\(mediaType)) is left out: \(reason)" }
}

extension Reencoder {
    /// Adds a track of text, timecode or data with its properties, copying its samples.
    ///
    /// Such tracks are sparse, so they are read before everything else, and the file is read twice.
    /// - Returns: The input that writes the track.
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` if the file cannot hold the track, and errors of the
    ///   reader or the writer.
    @discardableResult public func add(copying track: AssetTrack) throws(MediaError) -> AssetWriterInput {
        if let reason = writer.fileType.reasonAgainstCopying(track, of: reader.asset) {
            throw MediaError(.unsupported, "track \(track.index) cannot be copied: \(reason)")
        }
        let input = AssetWriterInput(copying: track)
        try writer.add(input)
        addSparse(track, to: input)
        return input
    }

    /// Adds the tracks of text, timecode and data that the file can hold, copying their samples.
    ///
    /// Call it after the video tracks were added. A timecode track is copied if the file begins where the asset does
    /// and the video's start timecode was not changed; otherwise the timecode of the first frame is written.
    /// - Returns: The asset's tracks that are neither video nor audio and are not carried over; ``leftOut`` lists them
    ///   as well.
    /// - Throws: The errors of ``add(copying:)``.
    @discardableResult public func addFurtherTracks() throws(MediaError) -> [TrackLeftOut] {
        let tracks = try reader.asset.contents().tracks
        let stated = writer.inputs.compactMap(\.startTimecode)
        // A composition's timecode counts from where the file begins.
        let isMoved =
            reader.asset.composition == nil && reader.timeRange.start.isNumeric && reader.timeRange.start > .zero
            || !Set(stated).isSubset(of: tracks.compactMap(\.startTimecode))
        var leftOut: [TrackLeftOut] = []
        for track in tracks where ![.video, .audio].contains(track.mediaType) {
            let reason = writer.fileType.reasonAgainstCopying(track, of: reader.asset)
            if track.mediaType == .timecode, isMoved || reason != nil, statesTimecode { continue }
            if let reason = reason ?? (track.mediaType == .timecode && isMoved ? Self.noFrames : nil) {
                leftOut.append(TrackLeftOut(track: track, reason: reason))
            } else {
                try add(copying: track)
            }
        }
        for track in leftOut { writer.leaveOut(track) }
        return leftOut
    }

    /// Indicates whether the file states the timecode of the first frame.
    private var statesTimecode: Bool {
        writer.fileType.keepsTimecode && writer.inputs.contains { $0.startTimecode != nil }
    }

    /// The reason against a timecode track without video.
    private static let noFrames = "no video track whose frames it counts is written"

    /// Notes the tracks that are not written, apart from cover pictures, which are metadata, and from timecode that the
    /// file states otherwise.
    ///
    /// - Parameter reason: Returns the reason for a track.
    func noteLeftOut(_ reason: (AssetTrack) -> String) throws(MediaError) {
        let known = Set((addedTracks + writer.leftOut.map(\.track)).map(\.index))
        for track in try reader.asset.contents().tracks where !known.contains(track.index) && !track.isAttachedPicture {
            if track.mediaType == .timecode, statesTimecode { continue }
            writer.leaveOut(
                TrackLeftOut(track: track, reason: track.mediaType == .timecode ? Self.noFrames : reason(track)))
        }
    }

    /// Reads all of a sparse track and appends its samples to the writer.
    func writeSparse(_ track: AssetTrack, to input: AssetWriterInput) throws(MediaError) {
        let output = try reader.asset.samplesNow(
            of: track, as: .stored, in: reader.timeRange, cancellation: reader.cancellation)
        var isEmpty = true
        while let buffer = try output.nextSampleBuffer() {
            try input.appendNow(buffer)
            isEmpty = false
            observer?(input, buffer)
        }
        input.markAsFinished()
        if isEmpty { writer.leaveOut(TrackLeftOut(track: track, reason: "it has nothing in this range")) }
    }
}

extension MediaFileType {
    /// Indicates whether files of this type state the timecode of the first frame.
    package var keepsTimecode: Bool { [.mov, .mp4, .mkv, .webm].contains(self) }

    /// Returns the reason why a track that is neither video nor audio cannot be copied, in words that follow "because";
    /// `nil` if it can.
    package func reasonAgainstCopying(_ track: AssetTrack, of asset: Asset) -> String? {
        guard [.subtitle, .timecode, .data].contains(track.mediaType),
            asset.backing.input != nil || asset.composition != nil
        else {
            return "\(track.mediaType.rawValue) tracks are not carried"
        }
        let contents = try? asset.contents()
        let isOfChapters =
            contents?.tracks.contains { $0.associatedTracks["chap"]?.contains(track.id) == true } ?? false
        if isOfChapters { return "the chapters that it has are written as such" }
        if let reason = reasonAgainstDescribing(track.carriage, mediaType: track.mediaType) { return reason }
        let isDescribed = isISO && track.carriage != nil
        if isDescribed, let reason = track.reasonAgainstCopying { return "it is \(reason)" }
        if track.sampleCount == 0 { return "it has no samples" }
        let codec = track.formatDescriptions.first?.codec ?? "none"
        guard isDescribed || canHold(codec: codec, mediaType: track.mediaType) else {
            return "\(self) files cannot hold \(codec)"
        }
        if codec == "hdmv_pgs_subtitle", contents?.container.format == .transportStream {
            return "one subtitle is several samples of the transport stream, and one of other files"
        }
        return asset.canBeReadAgain
            ? nil : "\(track.mediaType) tracks are read by themselves, and the input can be read only once"
    }

    /// Returns the reason why files of this type cannot hold a track of text, timecode or data with its description, in
    /// words that follow "because"; `nil` if they can, and for other tracks.
    ///
    /// - Parameters:
    ///   - carriage: The track's description in its file; `nil` if that is not an MP4 or QuickTime file.
    ///   - mediaType: The media type of the track.
    func reasonAgainstDescribing(_ carriage: Carriage?, mediaType: MediaType) -> String? {
        guard [.data, .timecode, .subtitle].contains(mediaType) else { return nil }
        guard holds(mediaType) else { return "\(self) files hold no \(mediaType) tracks" }
        return switch carriage {
        case .possible: nil
        case .impossible(let reason): isISO ? reason : nil
        case nil where mediaType == .subtitle: nil
        case nil: "only MP4 and QuickTime files describe its samples in a way that \(self) files can hold"
        }
    }
}

extension TrackDescription {
    /// Creates the description of a new track of timecode or data.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` if the format has no four-character code.
    init(_ format: FormatDescription) throws(MediaError) {
        guard let tag = format.codecTag, tag.utf8.count == 4 else {
            throw MediaError(
                .unsupported,
                "samples of \(format.mediaType) need a format with the four characters of their sample entry as its codec tag"
            )
        }
        self.init(format: FourCC(stringLiteral: tag), fields: format.extradata)
    }
}
