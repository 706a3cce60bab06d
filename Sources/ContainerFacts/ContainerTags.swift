package import LibAV
import MatroskaMedia
package import MediaBase

/// The metadata that containers other than MP4 and QuickTime store, read from their own structures.
///
/// libavformat's dictionaries have one text a key; several values of a key, languages, types and the details of pictures are
/// lost in them.
package struct ContainerTags: Sendable {
    /// The metadata of the file as a whole.
    package private(set) var ofFile: [MetadataItem] = []
    /// The metadata of tracks, by stream index.
    package private(set) var ofStreams: [Int: [MetadataItem]] = [:]

    /// Reads the metadata of a file; empty for a stream that cannot be rewound, and for formats without own structures here.
    ///
    /// Damage leaves out what it hits.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - matroska: The track list of a Matroska file.
    /// - Throws: Errors that end reading, such as cancellation.
    package init(_ file: InputFile, matroska: MatroskaTracks?) throws(MediaError) {
        guard file.isSeekable else { return }
        do throws(MediaError) {
            try read(file, FileByteSource(file), matroska: matroska)
        } catch {
            if error.code == .cancelled || error.code == .timedOut { throw error }
        }
    }

    private mutating func read(
        _ file: InputFile, _ source: any ByteSource, matroska: MatroskaTracks?
    ) throws(MediaError) {
        switch file.format {
        case .mp3, .adts: ofFile = try ID3Tag(source)?.items ?? []
        case .flac: ofFile = try CommentHeaders(source, format: .flac).items(ofStream: 0)
        case .ogg:
            let headers = try CommentHeaders(source, format: .ogg)
            for index in 0..<min(headers.streams.count, file.streamCount) {
                let items = headers.items(ofStream: index)
                ofStreams[index] = items.filter { $0.identifier != .vorbisPicture }
                ofFile += items.filter { $0.identifier == .vorbisPicture }
            }
        case .matroska:
            let tags = try MatroskaTags(reading: source)
            ofFile = tags.ofFile
            for (uid, items) in tags.ofTracks {
                if let index = matroska?.stream(ofUID: uid) { ofStreams[index, default: []] += items }
            }
        case .wav:
            let chunks = try SoundFileChunks(.wav)?.contents(
                ofChunks: ["LIST", "bext", "iXML", "id3 ", "ID3 "], limit: Self.maximumChunk, in: source)
            for chunk in chunks ?? [] { ofFile += try Self.items(of: chunk, source) }
        case .aiff:
            let chunks = try SoundFileChunks(.aiff)?.contents(ofChunks: ["ID3 ", "id3 "], limit: 0, in: source)
            for chunk in chunks ?? [] { ofFile += try ID3Tag(source, at: chunk.offset)?.items ?? [] }
        default: break
        }
    }

    private static let maximumChunk = 1 << 20

    private static func items(
        of chunk: (name: String, offset: UInt64, bytes: [UInt8]), _ source: any ByteSource
    ) throws(MediaError) -> [MetadataItem] {
        switch chunk.name {
        case "LIST": RIFFText.info(chunk.bytes[...])
        case "bext": RIFFText.broadcast(chunk.bytes[...])
        case "iXML":
            chunk.bytes.isEmpty
                ? [] : [MetadataItem(MetadataIdentifier(keySpace: .riff, key: "iXML"), .data(chunk.bytes))]
        default: try ID3Tag(source, at: chunk.offset)?.items ?? []
        }
    }
}

/// The texts in the chunks of RIFF WAVE files.
enum RIFFText {
    /// Reads an `INFO` list; other lists have none (Multimedia Programming Interface and Data Specifications 1.0).
    static func info(_ bytes: ArraySlice<UInt8>) -> [MetadataItem] {
        guard bytes.starts(with: "INFO".utf8) else { return [] }
        var items: [MetadataItem] = []
        var rest = bytes.dropFirst(4)
        while rest.count >= 8, items.count < 1000 {
            let key = text(rest.prefix(4))
            let size = Int(truncatingIfNeeded: rest.dropFirst(4).prefix(4).littleEndian)
            let content = rest.dropFirst(8).prefix(size)
            rest = rest.dropFirst(8).dropFirst(size + size % 2)
            // The timecode of the start is no text.
            let value = text(content)
            guard key != "ISMP", !value.isEmpty else { continue }
            let identifier = MetadataIdentifier(keySpace: .riff, key: key)
            items.append(MetadataItem(identifier, MetadataItem.Value(text: value, name: identifier.name)))
        }
        return items
    }

    /// Reads the fields of a `bext` chunk, except its loudness and the identifier in binary form (EBU Tech 3285, 2).
    static func broadcast(_ bytes: ArraySlice<UInt8>) -> [MetadataItem] {
        guard bytes.count >= 602 else { return [] }
        var rest = bytes
        var items: [MetadataItem] = []
        let fields = [
            ("Description", 256), ("Originator", 32), ("OriginatorReference", 32), ("OriginationDate", 10),
            ("OriginationTime", 8),
        ]
        for (key, size) in fields {
            let value = text(rest.prefix(size))
            rest = rest.dropFirst(size)
            guard !value.isEmpty else { continue }
            items.append(MetadataItem(MetadataIdentifier(keySpace: .broadcastWave, key: key), .text(value)))
        }
        if let time = Int64(exactly: rest.prefix(8).littleEndian) {
            items.append(MetadataItem(.broadcastTimeReference, .integer(time)))
        }
        let history = text(bytes.dropFirst(602))
        if !history.isEmpty { items.append(MetadataItem(.broadcastCodingHistory, .text(history))) }
        return items
    }

    /// Returns the text before the first zero: UTF-8, or Latin-1 where it is not that.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        let bytes = bytes.prefix { $0 != 0 }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        var text = ""
        for byte in bytes { text.unicodeScalars.append(Unicode.Scalar(byte)) }
        return text
    }
}
