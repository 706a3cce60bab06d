import LibAV
import MatroskaMedia
import MediaBase

/// What a Matroska file says of its tracks that libavformat 5.1 keeps to itself, matched to its streams.
struct MatroskaTracks: Sendable {
    /// What is damaged in the track list.
    let warnings: [String]
    /// The entries that libavformat makes streams of, in its order.
    private let entries: [MatroskaTrack]

    /// Reads the track list; `nil` for other formats, and lists that cannot be read.
    ///
    /// Of a stream it is read where it lies before the media, as the format recommends.
    init?(_ file: InputFile) {
        guard file.formatName.hasPrefix("matroska"),
            let header = try? MatroskaHeader(reading: FileByteSource(file: file))
        else { return nil }
        warnings = header.warnings
        entries = header.tracks.filter { [1, 2, 17, 33].contains($0.type) && !$0.codecID.isEmpty }
    }

    /// The first block of each stream that is seen or heard, by the stream's index; a stream's times are known by it.
    ///
    /// - Parameter byteCount: How much of each is read.
    func firstBlocks(of file: InputFile, byteCount: Int) -> [Int: MatroskaFirstBlocks.Block] {
        let numbers = entries.filter { ($0.type == 1 || $0.type == 2) && $0.isPlain }.map(\.number)
        guard
            let found = try? MatroskaFirstBlocks(
                of: Set(numbers), byteCount: byteCount, in: FileByteSource(file: file))
        else { return [:] }
        var blocks: [Int: MatroskaFirstBlocks.Block] = [:]
        for (index, entry) in entries.enumerated() where entry.isPlain { blocks[index] = found.blocks[entry.number] }
        return blocks
    }

    /// How much the codec of a stream delays its output.
    func codecDelay(ofStream index: Int) -> MediaTime {
        guard entries.indices.contains(index) else { return .zero }
        return MediaTime(value: Int64(clamping: entries[index].codecDelay), timescale: 1_000_000_000)
    }

    /// Adds to a stream what only the track list says.
    ///
    /// - Parameter warnings: Gets a sentence for each thing that cannot be used as it is written.
    func complete(_ stream: inout StreamInfo, warnings: inout [String]) {
        guard entries.indices.contains(stream.index) else { return }
        let entry = entries[stream.index]
        let isVideo = stream.format.mediaType == .video
        guard (entry.type == 1) == isVideo else { return }
        if let number = Int(exactly: entry.number) { stream.id = number }
        // libavformat lets a tag LANGUAGE stand in the place of the header's word.
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
            // libavformat works the shape of pixels out as if nothing were cut off.
            if let ratio = video.sampleAspectRatio { stream.format.video?.sampleAspectRatio = ratio }
        } catch {
            warnings.append("the crop of track \(entry.number) \(error.message) and was left out")
        }
    }
}

extension MatroskaVideo {
    /// The order of fields by the names of `VideoFormat.fieldOrder`; `nil` where the file does not say.
    fileprivate var scan: String? {
        guard interlacing == 1 else { return interlacing == 2 ? "progressive" : nil }
        return [0: "progressive", 1: "tt", 6: "bb", 9: "tt", 14: "bb"][fieldOrder]
    }
}

extension ColorInfo {
    /// What a track list says of colours; `nil` where it says nothing.
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
