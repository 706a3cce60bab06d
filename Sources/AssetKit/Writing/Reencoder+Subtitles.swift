internal import LibAV
public import MediaBase

/// A track of an asset that is not carried to a new file, and why.
public struct TrackLeftOut: Sendable, Hashable {
    /// The track.
    public let track: AssetTrack
    /// Why it is not there, in words that follow "because".
    public let reason: String
}

extension Reencoder {
    /// Adds a subtitle track as it is, with what it says of itself.
    ///
    /// Subtitles are few and far between, so that they are read before everything else: the file is read twice.
    /// - Returns: What writes it.
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` where the file cannot hold it, and what the reader or the
    ///   writer refuses.
    @discardableResult public func add(subtitles track: AssetTrack) throws(MediaError) -> AssetWriterInput {
        if let reason = writer.fileType.reasonAgainstCopying(track, of: reader.asset) {
            throw MediaError(.unsupported, "track \(track.index) cannot be copied: \(reason)")
        }
        let input = AssetWriterInput(copying: track)
        try writer.add(input)
        addSparse(track, to: input)
        return input
    }

    /// Adds the subtitle tracks that the file can hold, as they are.
    ///
    /// - Returns: The asset's tracks that are neither video, audio nor timecode, and are not carried.
    /// - Throws: what ``add(subtitles:)`` throws.
    @discardableResult public func addFurtherTracks() throws(MediaError) -> [TrackLeftOut] {
        var leftOut: [TrackLeftOut] = []
        for track in try reader.asset.contents().tracks where ![.video, .audio, .timecode].contains(track.mediaType) {
            if let reason = writer.fileType.reasonAgainstCopying(track, of: reader.asset) {
                leftOut.append(TrackLeftOut(track: track, reason: reason))
            } else {
                try add(subtitles: track)
            }
        }
        return leftOut
    }

    /// Reads all of a sparse track and hands it to the writer.
    func writeSparse(_ track: AssetTrack, to input: AssetWriterInput) throws(MediaError) {
        let scout = try AssetReader(asset: reader.asset, cancellation: reader.cancellation)
        scout.timeRange = reader.timeRange
        let output = TrackOutput(track: track)
        try scout.add(output)
        try scout.startReading()
        let append: (SampleBuffer) throws(MediaError) -> Void = input.append
        while let buffer = try output.nextSampleBuffer() {
            try append(buffer)
            observer?(input, buffer)
        }
        input.markAsFinished()
    }
}

extension MediaFileType {
    /// Why a track that is neither video nor audio cannot be taken as it is, in words that follow "because"; `nil` where it
    /// can.
    package func reasonAgainstCopying(_ track: AssetTrack, of asset: Asset) -> String? {
        guard track.mediaType == .subtitle, asset.composition == nil, asset.rendering == nil else {
            return "\(track.mediaType.rawValue) tracks are not carried"
        }
        let isOfChapters =
            (try? asset.contents())?.tracks.contains { $0.associatedTracks["chap"]?.contains(track.id) == true }
            ?? false
        if isOfChapters { return "the chapters that it has are written as such" }
        let codec = track.formatDescriptions.first?.codec ?? "none"
        guard canHold(codec: codec, mediaType: .subtitle) else { return "\(self) files cannot hold \(codec)" }
        let isOfTransportStream = (try? asset.contents())?.container.formatNames.contains("mpegts") == true
        if codec == "hdmv_pgs_subtitle", isOfTransportStream {
            return "one subtitle is several samples of the transport stream, and one of other files"
        }
        return asset.canBeReadAgain ? nil : "subtitles are read by themselves, and the input can be read only once"
    }
}
