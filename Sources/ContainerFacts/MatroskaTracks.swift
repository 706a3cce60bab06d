package import LibAV
import MatroskaMedia
import MediaBase

/// The track data of a Matroska file that libavformat 5.1 does not expose, matched to its streams.
package struct MatroskaTracks: Sendable {
    /// The damage found in the track list.
    package let warnings: [String]
    /// The entries for which libavformat creates streams, in its order.
    private let entries: [MatroskaTrack]

    /// Reads the track list; `nil` if it is unreadable.
    ///
    /// In a stream, the list is read only if it precedes the media, as the format recommends.
    package init?(_ file: InputFile) {
        guard let header = try? MatroskaHeader(reading: FileByteSource(file)) else { return nil }
        warnings = header.warnings
        entries = header.tracks.filter { [1, 2, 17, 33].contains($0.type) && !$0.codecID.isEmpty }
    }

    /// Reads the first block of each video and audio stream, by stream index; it determines the stream's start time.
    ///
    /// - Parameter byteCount: The number of bytes to read from each block.
    func firstBlocks(of file: InputFile, byteCount: Int) -> [Int: MatroskaFirstBlocks.Block] {
        let numbers = entries.filter { ($0.type == 1 || $0.type == 2) && $0.isPlain }.map(\.number)
        guard
            let found = try? MatroskaFirstBlocks(
                of: Set(numbers), byteCount: byteCount, in: FileByteSource(file))
        else { return [:] }
        var blocks: [Int: MatroskaFirstBlocks.Block] = [:]
        for (index, entry) in entries.enumerated() where entry.isPlain { blocks[index] = found.blocks[entry.number] }
        return blocks
    }

    /// Returns the index of the stream of a track; `nil` if libavformat makes none of it.
    func stream(ofUID uid: UInt64) -> Int? { entries.firstIndex { $0.uid == uid } }

    /// Returns the delay that a stream's codec adds to its output.
    func codecDelay(ofStream index: Int) -> MediaTime {
        guard entries.indices.contains(index) else { return .zero }
        return MediaTime(value: Int64(clamping: entries[index].codecDelay), timescale: 1_000_000_000)
    }

    /// Adds to a stream the data that is only in the track list.
    ///
    /// - Parameter warnings: Receives a sentence for each value that cannot be used as written.
    package func complete(_ stream: inout StreamInfo, warnings: inout [String]) {
        guard entries.indices.contains(stream.index) else { return }
        let entry = entries[stream.index]
        let isVideo = stream.format.mediaType == .video
        guard (entry.type == 1) == isVideo else { return }
        if let number = Int(exactly: entry.number) { stream.id = number }
        // libavformat lets a LANGUAGE tag replace the header's language.
        if !stream.metadata.contains(where: { $0.key == "language" }), !["", "und"].contains(entry.language) {
            stream.metadata.append((key: "language", value: entry.language))
        }
        guard let video = entry.video, let size = stream.format.video?.encodedSize else { return }
        stream.containerColor = video.color.flatMap { ColorInfo($0) }
        stream.containerFieldOrder = video.scan
        stream.containerDisplay = video.display
        stream.containerSize = Dimensions(
            width: Int(clamping: video.pixelWidth), height: Int(clamping: video.pixelHeight))
        do throws(MediaError) {
            guard let aperture = try video.aperture(in: size) else { return }
            stream.format.video?.cleanAperture = aperture
            // libavformat computes the pixel aspect ratio as if nothing were cropped.
            if let ratio = video.sampleAspectRatio { stream.format.video?.sampleAspectRatio = ratio }
        } catch {
            warnings.append("the crop of track \(entry.number) \(error.message) and was left out")
        }
    }
}

extension MatroskaVideo {
    /// The field order; `nil` if the file does not state it.
    fileprivate var scan: FieldOrder? {
        guard interlacing == 1 else { return interlacing == 2 ? .progressive : nil }
        return fieldOrder == 0 ? .progressive : FieldOrder(detail: fieldOrder)
    }
}

extension ColorInfo {
    /// Reads the colours of a track list entry; `nil` if it states none.
    fileprivate init?(_ color: MatroskaColor) {
        self.init(
            primaries: color.primaries, transfer: color.transfer, matrix: color.matrix,
            isFullRange: [1: false, 2: true][color.range])
        switch (color.sitingAcross, color.sitingDown) {
        case (1, 1): chromaLocation = "topleft"
        case (1, 2): chromaLocation = "left"
        case (2, 1): chromaLocation = "top"
        case (2, 2): chromaLocation = "center"
        default: break
        }
        if isUnknown { return nil }
    }
}

/// The `TIMECODE` tag of a Matroska track or file, which states the timecode of its first frame.
///
/// Matroska does not define the format of the text. It is used only if it is a valid timecode at the frame rate.
package enum MatroskaTimecode {
    /// libavformat's key for timecodes in other containers.
    private static let key = "timecode"

    /// Renames the timecode tags of a file and its tracks to the key used in other containers.
    package static func settle(_ entries: inout [(key: String, value: String)], _ streams: inout [StreamInfo]) {
        func rate(_ stream: StreamInfo) -> Rational? {
            stream.format.mediaType == .video && stream.attachedPicture == nil ? stream.pictureRate : nil
        }
        let fileRate = streams.lazy.compactMap(rate).first
        for place in streams.indices {
            streams[place].metadata = settled(streams[place].metadata, rate: rate(streams[place]))
        }
        entries = settled(entries, rate: fileRate)
    }

    /// Renames the tag to the key that timecodes have in other containers; returns the entries unchanged if it is not
    /// a timecode.
    ///
    /// - Parameter rate: The frame rate; `nil` if there are no frames or it is unknown.
    private static func settled(
        _ entries: [(key: String, value: String)], rate: Rational?
    ) -> [(key: String, value: String)] {
        guard let rate, !entries.contains(where: { $0.key == key }),
            let place = entries.firstIndex(where: { $0.key.lowercased() == key }),
            let fields = try? Timecode.Fields(parsing: entries[place].value), !fields.isNegative,
            let counting = try? Timecode.Rate(frameRate: rate, isDropFrame: fields.isDropFrame),
            (try? Timecode(fields, rate: counting)) != nil
        else { return entries }
        var entries = entries
        entries[place].key = key
        return entries
    }
}
