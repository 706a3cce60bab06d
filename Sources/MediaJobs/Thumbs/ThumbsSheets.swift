import AssetKit
import MediaBase
import Pictures
import SystemCalls
import SystemPackage

/// The text above the images of a contact sheet.
///
/// It has three lines: the file's name, its size and duration, and the codec, size and rate of its video.
enum ContactSheetHeader {
    /// Returns the lines of the header, without properties that are not known.
    static func lines(_ input: ThumbsJob.Input, _ asset: Asset, track: AssetTrack) throws(MediaError) -> [String] {
        let container = try asset.loadNow(.container)
        let video = track.formatDescriptions.first?.video
        let name = input.isStandardInput ? nil : input.path.lastComponent.map { VisibleText.line($0.string) }
        let rate = (track.averageFrameRate ?? track.nominalFrameRate).map { "\(QuantityText.decimal($0)) fps" }
        let duration = track.timeRange.duration
        let file = [container.sizeBytes.map(QuantityText.bytes), duration.isNumeric ? duration.clockText() : nil]
        let size = track.naturalSize ?? video?.encodedSize
        let pictures = [track.formatDescriptions.first?.codec, size.map { "\($0)" }, rate]
        return [name, joined(file), joined(pictures)].compactMap(\.self)
    }

    private static func joined(_ parts: [String?]) -> String? {
        let parts = parts.compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}

/// Places the images of one input on sheets in order, and writes each sheet when it is full.
///
/// One sheet is held at a time. All tiles have the size of the first image. An image of another size, for example if
/// the size changes in mid-stream, is centred in its tile.
struct ThumbsSheets {
    /// The position of an image.
    struct Place: Hashable {
        /// The number of the sheet, from 0.
        let sheet: Int
        /// The left edge of the image, in pixels from the left.
        let x: Int
        /// The top edge of the image, in pixels from the top.
        let y: Int
        /// The size of the image's tile.
        let size: Dimensions
    }

    /// A sheet that is complete.
    struct Written {
        /// The path of the file, or the error if it was not written.
        let file: Result<FilePath, MediaError>
        /// The size of the sheet in pixels.
        let size: Dimensions
        /// The number of images on the sheet.
        let count: Int
    }

    /// The completed sheets, in their order.
    private(set) var written: [Written] = []
    /// The characters that no installed font has, and in whose place the sheets have boxes.
    private(set) var missingCharacters: Set<Unicode.Scalar> = []
    private let output: ThumbsOutput
    private let sheets: ThumbsOutput.Sheets
    private let outputs: OutputFileSet
    private let names: ThumbsNames
    private let header: [String]
    private var expected: Int
    private var tile: Dimensions?
    private var current: TileSheet?

    /// Checks that every sheet has a distinct name.
    ///
    /// - Parameters:
    ///   - output: The output settings, which include sheets.
    ///   - expected: The maximum number of images.
    ///   - header: The lines above the images, for sheets that have a header.
    /// - Throws: `invalidArgument` if several sheets would have the same name.
    init(
        _ sheets: ThumbsOutput.Sheets, of output: ThumbsOutput, outputs: OutputFileSet, names: ThumbsNames,
        expected: Int, header: [String]
    ) throws(MediaError) {
        self.output = output
        self.sheets = sheets
        self.outputs = outputs
        self.names = names
        self.expected = expected
        self.header = sheets.hasHeader ? header : []
        if let rows = sheets.rows, expected > rows * sheets.columns, !sheets.names.contains(.index) {
            throw MediaError(
                .invalidArgument,
                "\(expected) images do not fit on one sheet of \(sheets.columns)x\(rows): put {index} into the sheets' "
                    + "name, or give --grid only columns")
        }
    }

    /// Draws the next image.
    ///
    /// - Throws: `limitExceeded` if the format cannot hold a sheet of the required size; `unsupported` if the sheet
    ///   has text and no font is installed.
    mutating func add(_ image: Bitmap, shownAt time: MediaTime) throws(MediaError) -> Place {
        if let full = current, full.count == full.layout.columns * full.layout.rows { write() }
        let tile = tile ?? Dimensions(width: image.width, height: image.height)
        self.tile = tile
        var sheet: TileSheet
        if let current { sheet = current } else { sheet = try newSheet(of: tile) }
        // Keep a single owner; otherwise, adding each tile would copy the sheet.
        current = nil
        let origin = try sheet.add(
            try image.centered(in: tile, background: sheets.background),
            label: sheets.hasTimestamps ? time.clockText() : nil)
        current = sheet
        return Place(sheet: written.count, x: origin.x, y: origin.y, size: tile)
    }

    private mutating func newSheet(of tile: Dimensions) throws(MediaError) -> TileSheet {
        let columns = min(sheets.columns, max(1, expected))
        let neededRows = max(1, (expected + columns - 1) / columns)
        var layout = TileSheet.Layout(
            columns: columns, rows: min(sheets.rows ?? neededRows, neededRows), tile: tile)
        expected -= layout.columns * layout.rows
        layout.gap = sheets.gap
        layout.headerHeight = TileSheet.headerHeight(
            lines: header.count, sheetWidth: layout.size.width, gap: layout.gap)
        let size = layout.size
        let pixels = size.width.multipliedReportingOverflow(by: size.height)
        guard max(size.width, size.height) <= output.format.largestSide, !pixels.overflow,
            pixels.partialValue <= Bitmap.maximumPixelCount
        else {
            throw MediaError(
                .limitExceeded,
                "a sheet of \(size) pixels is too large for \(output.format.rawValue.uppercased()); "
                    + "ask for smaller images, or for fewer on a sheet with --grid")
        }
        var sheet = try TileSheet(layout, background: sheets.background)
        try sheet.drawHeader(header)
        return sheet
    }

    /// Writes the last sheet.
    mutating func finish() {
        if current != nil { write() }
    }

    private mutating func write() {
        guard let sheet = current else { return }
        missingCharacters.formUnion(sheet.missingCharacters)
        // Release the canvas before the file is encoded.
        current = nil
        let picture = sheet.bitmap
        let size = Dimensions(width: picture.width, height: picture.height)
        let file = Result { () throws(MediaError) -> FilePath in
            let path = FilePath(bytes: names.sheet(sheets.names, number: written.count, size: size))
            try outputs.put(
                picture.encoded(as: output.format, quality: output.quality, background: output.background), at: path)
            return path
        }
        written.append(Written(file: file, size: size, count: sheet.count))
    }
}
