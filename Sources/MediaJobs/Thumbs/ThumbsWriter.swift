internal import AssetKit
package import MediaBase
internal import Pictures
package import SystemPackage

/// Writes the output for one input: single images, and sheets of them.
struct ThumbsWriter {
    /// An image ready to be written, and its report entry.
    struct Content: Sendable {
        /// The bytes of the single image; `nil` if no single images are requested.
        let bytes: [UInt8]?
        /// The image for a sheet; `nil` if no sheets are requested.
        let tile: Bitmap?
        /// The report entry, without file paths.
        let delivered: ThumbsReport.Delivered

        /// Fits an image to its exact size, and encodes it.
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

    /// The results for all times, in request order; `nil` if not yet known.
    private(set) var answers: [Result<ThumbsReport.Delivered, MediaError>?]
    private let files: ThumbsFiles?
    /// Indicates whether a single file that cannot be written fails the whole output.
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

    /// Writes an image for some of the times, or records the error.
    ///
    /// - Parameters:
    ///   - places: The indices of the times in the request.
    ///   - announce: Receives each file when it is complete.
    /// - Throws: Only errors that end the work: the reader of standard output has closed it, a sheet is too large, or
    ///   one of several files that belong together cannot be written.
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

    /// Writes the last sheet, and records the images' positions on sheets in the results.
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

    /// Returns the position of an image; an image that was just drawn is not drawn again.
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
    /// A single image written to a file.
    case image(ThumbsReport.Delivered)
    /// A sheet, with its number of images.
    case sheet(FilePath, size: Dimensions, count: Int)
    /// A WebVTT index, with its number of cues.
    case index(FilePath, cues: Int)
}

extension MediaError {
    /// The same error with the output's path moved into the message, because the path is set to the input's.
    ///
    /// The error of a closed standard output stays unchanged.
    var ofOutput: MediaError {
        isGoneReader ? self : MediaError(code, (path.map { "\($0): " } ?? "") + message, cause: cause)
    }

    /// Indicates whether the reader of standard output has closed it, which ends all work.
    var isGoneReader: Bool { code == .brokenPipe && path == "-" }
}
