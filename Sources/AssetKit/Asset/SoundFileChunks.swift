import MediaBase

/// How a file of chunks lays them out: RIFF WAVE and RF64, Wave64, AIFF, CAF.
///
/// libavformat 5.1 takes the file's length for the sound's where a header states more.
struct SoundFileChunks {
    /// Where the first chunk is.
    private let start: UInt64
    private let idLength: Int
    private let sizeLength: Int
    private let isBigEndian: Bool
    /// Whether a chunk's size counts its header too.
    private let countsHeader: Bool
    private let alignment: UInt64
    /// What the name of the chunk with the sound begins with.
    private let soundID: [UInt8]

    /// Chunks at most that are passed over.
    private static let mostChunks = 1000

    /// The layout of the files of a libavformat format; `nil` for formats that have no chunks.
    init?(formatName: String) {
        switch formatName {
        case "wav": self.init(start: 12, soundID: "data")
        case "aiff": self.init(start: 12, isBigEndian: true, soundID: "SSND")
        case "caf": self.init(start: 8, sizeLength: 8, isBigEndian: true, alignment: 1, soundID: "data")
        case "w64":
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

    /// Where the sound ends by the file's own word.
    ///
    /// - Returns: The position behind its last byte; `nil` where no length is stated.
    /// - Throws: what the source throws.
    func statedEnd(of source: any ByteSource) throws(MediaError) -> UInt64? {
        var place = start
        var longSize: UInt64?
        for _ in 0..<Self.mostChunks {
            let header = try source.read(at: place, count: idLength + sizeLength)
            guard header.count == idLength + sizeLength else { return nil }
            let id = header.prefix(idLength)
            let headerSize = UInt64(header.count)
            var size = number(header.dropFirst(idLength))
            if countsHeader {
                guard size >= headerSize else { return nil }
                size -= headerSize
            }
            let content = place + headerSize
            if id.starts(with: soundID) {
                guard let stated = stated(size) ?? longSize else { return nil }
                let (end, overflow) = content.addingReportingOverflow(stated)
                return overflow ? nil : end
            }
            // RF64 (EBU Tech 3306): the RIFF's size, then that of the sound.
            if id.elementsEqual("ds64".utf8) {
                let sizes = try source.read(at: content, count: 16)
                longSize = number(sizes.dropFirst(8))
            }
            let (end, overflow) = content.addingReportingOverflow(size)
            guard !overflow, end <= UInt64(Int64.max) else { return nil }
            place = (end + alignment - 1) / alignment * alignment
        }
        return nil
    }

    /// A size that was meant; `nil` for none, and for the most that 31 or 32 bits can say or nearly that, which programs
    /// write that do not know yet.
    private func stated(_ size: UInt64) -> UInt64? {
        guard sizeLength == 4 else { return size }
        let isUnknown = size == 0 || [1 << 31, 1 << 32].contains { ($0 - 1 << 24...$0).contains(size) }
        return isUnknown ? nil : size
    }

    private func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        (isBigEndian ? Array(bytes) : bytes.reversed()).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
