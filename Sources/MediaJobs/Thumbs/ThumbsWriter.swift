internal import AssetKit
package import MediaBase
internal import Pictures
package import SystemPackage

/// Writes what was made of one input: single images, sheets, and an index of them.
struct ThumbsWriter {
    /// An image as it is to be written, and what is known of it.
    struct Content: Sendable {
        /// The single image's bytes; `nil` where none is wanted.
        let bytes: [UInt8]?
        /// The image for a sheet; `nil` where none is wanted.
        let tile: Bitmap?
        /// What the report says of it, still without files.
        let delivered: ThumbsReport.Delivered

        /// Brings an image to its exact size, and encodes it.
        init(
            _ image: ImageGenerator.GeneratedImage, exactSize: ThumbsRequest.ExactSize?, output: ThumbsOutput
        ) throws(MediaError) {
            let shown =
                if let exactSize {
                    try image.image.centered(in: exactSize.dimensions, background: exactSize.background)
                } else {
                    image.image
                }
            bytes =
                output.images == nil
                ? nil : try shown.encoded(as: output.format, quality: output.quality, background: output.background)
            tile = output.sheets == nil ? nil : shown
            delivered = ThumbsReport.Delivered(
                actual: image.actualTime, duration: image.duration,
                size: Dimensions(width: shown.width, height: shown.height), isKeyframe: image.isKeyframe)
        }
    }

    /// The answers to all times, in the order asked; `nil` where none was given yet.
    private(set) var answers: [Result<ThumbsReport.Delivered, MediaError>?]
    private let files: ThumbsFiles?
    /// Whether nothing is delivered where one file cannot be written.
    private let isWhole: Bool
    private var sheets: ThumbsSheets?
    private var sheetPlaces: [Int: ThumbsSheets.Place] = [:]
    private var lastTile: (time: MediaTime, place: ThumbsSheets.Place)?
    private var announcedSheets = 0

    init(_ times: [Result<MediaTime, MediaError>], files: ThumbsFiles?, sheets: ThumbsSheets?, isWhole: Bool) {
        answers = times.map { if case .failure(let error) = $0 { .failure(error) } else { nil } }
        self.files = files
        self.sheets = sheets
        self.isWhole = isWhole
    }

    /// Writes the image of some of the times, or notes why there is none.
    ///
    /// - Parameters:
    ///   - places: The times among those asked for.
    ///   - announce: Gets each file as it is complete.
    /// - Throws: only what ends the work: nobody reads standard output any more, a sheet is too large, or one file of
    ///   several that belong together cannot be written.
    mutating func deliver(
        _ content: Result<Content, MediaError>, to places: [Int],
        announce: (ThumbsEvent) throws(MediaError) -> Void
    ) throws(MediaError) {
        guard case .success(let content) = content else {
            for place in places { answers[place] = content.map(\.delivered) }
            return
        }
        if sheets != nil, let tile = content.tile {
            let position = try position(of: tile, shownAt: content.delivered.actual)
            for place in places { sheetPlaces[place] = position }
            try announceSheets(announce)
        }
        for place in places {
            var delivered = content.delivered
            do throws(MediaError) {
                if let files, let bytes = content.bytes {
                    delivered.file = try files.write(bytes, size: delivered.size, place: place)
                }
                answers[place] = .success(delivered)
            } catch {
                if isWhole || error.isGoneReader { throw error.ofOutput }
                answers[place] = .failure(error.ofOutput)
                continue
            }
            if delivered.file != nil { try announce(.image(delivered)) }
        }
    }

    /// Writes the last sheet, and tells in the answers where images lie on sheets.
    mutating func finish(announce: (ThumbsEvent) throws(MediaError) -> Void) throws(MediaError) {
        sheets?.finish()
        try announceSheets(announce)
        for (place, position) in sheetPlaces {
            guard let sheets, case .success(var delivered)? = answers[place] else { continue }
            answers[place] = sheets.written[position.sheet].file.map { file in
                delivered.sheet = ThumbsReport.Sheet(file: file, x: position.x, y: position.y, size: position.size)
                return delivered
            }.mapError(\.ofOutput)
        }
    }

    /// Where a picture lies; one that was drawn last is not drawn again.
    private mutating func position(of tile: Bitmap, shownAt time: MediaTime) throws(MediaError) -> ThumbsSheets.Place {
        if let lastTile, lastTile.time == time { return lastTile.place }
        guard let place = try sheets?.add(tile, shownAt: time) else {
            throw MediaError(.invalidArgument, "there are no sheets")
        }
        lastTile = (time, place)
        return place
    }

    private mutating func announceSheets(_ announce: (ThumbsEvent) throws(MediaError) -> Void) throws(MediaError) {
        for sheet in (sheets?.written ?? []).dropFirst(announcedSheets) {
            announcedSheets += 1
            switch sheet.file {
            case .success(let file): try announce(.sheet(file, size: sheet.size, count: sheet.count))
            case .failure(let error): if isWhole { throw error.ofOutput }
            }
        }
    }
}

/// Something that ``ThumbsJob`` has completed.
package enum ThumbsEvent: Sendable {
    /// A single image, which has a file.
    case image(ThumbsReport.Delivered)
    /// A sheet with so many images.
    case sheet(FilePath, size: Dimensions, count: Int)
    /// A WebVTT index with so many cues.
    case index(FilePath, cues: Int)
}

extension MediaError {
    /// The same error where the path is to be the input's: which output failed becomes part of what is said.
    ///
    /// That nobody reads standard output any more stays what it is.
    var ofOutput: MediaError {
        isGoneReader ? self : MediaError(code, (path.map { "\($0): " } ?? "") + message, cause: cause)
    }

    /// Whether nobody reads standard output any more, which ends all work.
    var isGoneReader: Bool { code == .brokenPipe && path == "-" }
}
