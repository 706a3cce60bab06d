import MediaBase

/// The boxes of a file's top level that matter, found by their headers alone.
struct TopLevelBoxes {
    /// The first `ftyp`.
    private(set) var fileType: Box?

    /// The first `moov`.
    private(set) var movie: Box?

    /// The first `mdat`.
    private(set) var media: Box?

    /// All `moof` boxes, in file order.
    private(set) var fragments: [Box] = []

    /// All `sidx` boxes, in file order.
    private(set) var segmentIndexes: [Box] = []

    /// Whether the file begins with a box that such a file can begin with.
    private(set) var isKnownFormat = false

    private static let openingTypes: [FourCC] = [
        "ftyp", "styp", "moov", "mdat", "moof", "sidx", "free", "skip", "wide", "pnot", "uuid", "pdin", "meta", "udta",
    ]
    private static let furtherTypes: [FourCC] = ["mfra", "ssix", "emsg", "prft"]

    /// Whether such files have boxes of a type on their top level.
    static func isKnown(_ type: FourCC) -> Bool { openingTypes.contains(type) || furtherTypes.contains(type) }

    /// Follows the top level from the start, passing over contents.
    init(_ reader: inout BoxReader) throws(MediaError) {
        let whole = reader.wholeSource
        var offset = whole.lowerBound
        var count = 0
        while count < reader.limits.topLevelBoxes, let box = try reader.box(at: offset, end: whole.upperBound) {
            if count == 0 { isKnownFormat = Self.openingTypes.contains(box.type) }
            switch box.type {
            case "ftyp": fileType = fileType ?? box
            case "mdat": media = media ?? box
            case "moof": fragments.append(box)
            case "sidx": segmentIndexes.append(box)
            case "moov" where movie == nil: movie = box
            case "moov": reader.warn("a second movie box (moov) at offset \(box.offset) was left out")
            default: break
            }
            count += 1
            offset = box.range.upperBound
        }
        if count == reader.limits.topLevelBoxes, offset < whole.upperBound {
            reader.reachLimit("more than \(count) boxes on the top level: the rest was not read")
        }
    }
}
