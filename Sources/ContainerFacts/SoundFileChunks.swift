import LibAV
import MediaBase

/// The chunk layout of an audio file: RIFF WAVE and RF64, Wave64, AIFF, CAF.
///
/// If a header declares more audio than the file contains, libavformat 5.1 uses the length of the file instead.
struct SoundFileChunks {
    /// The byte position of the first chunk.
    private let start: UInt64
    private let idLength: Int
    private let sizeLength: Int
    private let isBigEndian: Bool
    /// True if a chunk's size includes its header.
    private let countsHeader: Bool
    private let alignment: UInt64
    /// The first bytes of the name of the audio chunk.
    private let soundID: [UInt8]

    /// The maximum number of chunks to visit.
    private static let maximumChunks = 1000

    /// Selects the layout of a container format; `nil` for formats without chunks.
    init?(_ format: ContainerFormat) {
        switch format {
        case .wav: self.init(start: 12, soundID: "data")
        case .aiff: self.init(start: 12, isBigEndian: true, soundID: "SSND")
        case .caf: self.init(start: 8, sizeLength: 8, isBigEndian: true, alignment: 1, soundID: "data")
        case .wave64:
            self.init(start: 40, idLength: 16, sizeLength: 8, countsHeader: true, alignment: 8, soundID: "data")
        default: return nil
        }
    }

    private init(
        start: UInt64, idLength: Int = 4, sizeLength: Int = 4, isBigEndian: Bool = false, countsHeader: Bool = false,
        alignment: UInt64 = 2, soundID: String
    ) {
        self.start = start
        self.idLength = idLength
        self.sizeLength = sizeLength
        self.isBigEndian = isBigEndian
        self.countsHeader = countsHeader
        self.alignment = alignment
        self.soundID = Array(soundID.utf8)
    }

    /// Returns the end of the audio as declared by the file.
    ///
    /// - Returns: The position after the last byte of audio; `nil` if no length is declared.
    /// - Throws: Any error from the source.
    func declaredEnd(of source: any ByteSource) throws(MediaError) -> UInt64? {
        var longSize: UInt64?
        var end: UInt64?
        try visit(source) { chunk throws(MediaError) in
            if chunk.id.starts(with: soundID) {
                end = (stated(chunk.size) ?? longSize).flatMap { stated in
                    let (end, overflow) = chunk.content.addingReportingOverflow(stated)
                    return overflow ? nil : end
                }
                return false
            }
            // RF64 (EBU Tech 3306): the size of the RIFF, then that of the audio.
            if chunk.id.elementsEqual("ds64".utf8) {
                longSize = number(try source.read(at: chunk.content, count: 16).dropFirst(8))
            }
            return true
        }
        return end
    }

    /// Reads the content of a chunk.
    ///
    /// The result has fewer than `count` bytes if the chunk or the file is shorter, and is empty if there is no such
    /// chunk.
    func bytes(ofChunk name: String, count: Int, in source: any ByteSource) throws(MediaError) -> [UInt8] {
        var bytes: [UInt8] = []
        try visit(source) { chunk throws(MediaError) in
            guard chunk.id.elementsEqual(name.utf8) else { return true }
            bytes = try source.read(at: chunk.content, count: Int(clamping: min(chunk.size, UInt64(count))))
            return false
        }
        return bytes
    }

    /// Reads the contents of chunks, in their order in the file.
    ///
    /// - Parameters:
    ///   - names: The names of the chunks.
    ///   - limit: The maximum number of bytes of each.
    ///   - source: The file.
    func contents(
        ofChunks names: Set<String>, limit: Int, in source: any ByteSource
    ) throws(MediaError) -> [(name: String, offset: UInt64, bytes: [UInt8])] {
        var found: [(name: String, offset: UInt64, bytes: [UInt8])] = []
        try visit(source) { chunk throws(MediaError) in
            let name = String(decoding: chunk.id, as: UTF8.self)
            // What follows audio of unknown length cannot be found.
            if chunk.id.starts(with: soundID), sizeLength == 4, chunk.size >= 0xFFFF_FFFE { return false }
            guard names.contains(name), found.count < 100 else { return true }
            let count = Int(clamping: min(chunk.size, UInt64(limit)))
            found.append((name, chunk.content, try source.read(at: chunk.content, count: count)))
            return true
        }
        return found
    }

    /// A chunk: its name, and the position and size of its content.
    private struct Chunk {
        let id: ArraySlice<UInt8>
        let content: UInt64
        let size: UInt64
    }

    /// Calls `body` for each chunk until it returns `false` or the file ends.
    private func visit(
        _ source: any ByteSource, _ body: (Chunk) throws(MediaError) -> Bool
    ) throws(MediaError) {
        var place = start
        for _ in 0..<Self.maximumChunks {
            let header = try source.read(at: place, count: idLength + sizeLength)
            guard header.count == idLength + sizeLength else { return }
            let headerSize = UInt64(header.count)
            var size = number(header.dropFirst(idLength))
            if countsHeader {
                guard size >= headerSize else { return }
                size -= headerSize
            }
            let content = place + headerSize
            guard try body(Chunk(id: header.prefix(idLength), content: content, size: size)) else { return }
            let (end, overflow) = content.addingReportingOverflow(size)
            guard !overflow, end <= UInt64(Int64.max) else { return }
            place = (end + alignment - 1) / alignment * alignment
        }
    }

    /// Returns a size if it is meaningful; `nil` for 0, and for 32-bit sizes at or just below 2³¹ or 2³².
    ///
    /// Programs write such sizes while the real one is still unknown.
    private func stated(_ size: UInt64) -> UInt64? {
        guard sizeLength == 4 else { return size }
        let isUnknown = size == 0 || [1 << 31, 1 << 32].contains { ($0 - 1 << 24...$0).contains(size) }
        return isUnknown ? nil : size
    }

    private func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        isBigEndian ? bytes.bigEndian : bytes.littleEndian
    }
}
