internal import AssetKit
package import MediaBase
internal import Pictures
package import SystemPackage

/// The result of ``ThumbsJob`` for one file: the manifest.
package struct ThumbsReport: Sendable {
    /// The index of the track in the container.
    package var trackIndex: Int
    /// The ID of the track in the container.
    package var trackID: Int
    /// The path of the WebVTT index as it was named; `nil` if none was written.
    package var index: FilePath?
    /// One result for every requested time, in that order.
    package var images: [Image] = []
    /// Errors that do not concern a single image, such as those of the index.
    package var errors: [MediaError] = []
    /// A summary of the data that could not be decoded; `nil` if everything could.
    package var damage: DamageSummary?
    /// The characters of headers that no installed font has, and in whose place sheets have boxes.
    package var missingCharacters: Set<Unicode.Scalar> = []
    /// Warnings for the user although everything was delivered; not part of the JSON.
    package var warnings: [String] = []
    /// The duration of the track; not part of the JSON.
    package var duration: MediaTime?

    /// The result for one requested time.
    package struct Image: Sendable {
        /// The requested time; invalid if the file has no such time, as for a frame number beyond the last.
        package var requested: MediaTime
        /// The time as it was written; `nil` if times were not named individually.
        package var requestedText: String?
        /// The delivered image, or the error.
        package var result: Result<Delivered, MediaError>
    }

    /// An image that was written.
    package struct Delivered: Sendable {
        /// The presentation time of the frame.
        package var actual: MediaTime
        /// The display duration of the frame.
        package var duration: MediaTime
        /// The path of the single image as it was named; `nil` for standard output, or if there are only sheets.
        package var file: FilePath?
        /// The image's size in pixels.
        package var size: Dimensions
        /// Indicates whether the frame came from a sync sample.
        package var isKeyframe: Bool
        /// The image's position on a sheet; `nil` if there are no sheets.
        package var sheet: Sheet?
    }

    /// A position on a sheet, in pixels from its top left corner.
    package struct Sheet: Sendable, Hashable {
        /// The path of the sheet as it was named.
        package var file: FilePath
        /// The left edge.
        package var x: Int
        /// The top edge.
        package var y: Int
        /// The width and height of the tile.
        package var size: Dimensions
    }

    /// The errors in request order; those for times outside the file are prefixed with the time as it was written.
    package var failures: [MediaError] {
        images.compactMap { image in
            guard case .failure(let error) = image.result else { return nil }
            guard let text = image.requestedText, error.code == .outOfRange else { return error }
            return MediaError(.outOfRange, "\(text): \(error.message)", path: error.path, cause: error.cause)
        } + errors
    }
}

// MARK: - JSON, in the order of the schema; the bytes of names only if they are not UTF-8

private enum Key: String, CodingKey {
    case trackIndex, trackID, vtt, vttBytes, images, errors, damage, missingCharacters
    case requested, requestedText, actual, duration, file, fileBytes, width, height, keyframe, sheet, error
    case x, y
}

extension ThumbsReport: Encodable {
    /// Writes the members of the manifest.
    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(trackIndex, forKey: .trackIndex)
        try object.encode(trackID, forKey: .trackID)
        try object.encodeIfPresent(index?.string, forKey: .vtt)
        try object.encodeIfPresent(index?.pathBytes, forKey: .vttBytes)
        try object.encode(images, forKey: .images)
        if !errors.isEmpty { try object.encode(errors.map(ErrorReport.init), forKey: .errors) }
        try object.encodeIfPresent(damage, forKey: .damage)
        if !missingCharacters.isEmpty {
            try object.encode(missingCharacters.sorted().map { String($0) }, forKey: .missingCharacters)
        }
    }
}

extension ThumbsReport.Image: Encodable {
    /// Writes one result.
    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(requested, forKey: .requested)
        if !requested.isNumeric { try object.encodeIfPresent(requestedText, forKey: .requestedText) }
        switch result {
        case .success(let image):
            try object.encode(image.actual, forKey: .actual)
            try object.encode(image.duration, forKey: .duration)
            try object.encodeIfPresent(image.file?.string, forKey: .file)
            try object.encodeIfPresent(image.file?.pathBytes, forKey: .fileBytes)
            try object.encode(image.size.width, forKey: .width)
            try object.encode(image.size.height, forKey: .height)
            try object.encode(image.isKeyframe, forKey: .keyframe)
            try object.encodeIfPresent(image.sheet, forKey: .sheet)
        case .failure(let error):
            try object.encode(ErrorReport(error), forKey: .error)
        }
    }
}

extension ThumbsReport.Sheet: Encodable {
    /// Writes a position.
    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(file.string, forKey: .file)
        try object.encodeIfPresent(file.pathBytes, forKey: .fileBytes)
        try object.encode(x, forKey: .x)
        try object.encode(y, forKey: .y)
        try object.encode(size.width, forKey: .width)
        try object.encode(size.height, forKey: .height)
    }
}

// MARK: - Writing

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
    /// The characters that no installed font has, and in whose place sheets have boxes.
    var missingCharacters: Set<Unicode.Scalar> { sheets?.missingCharacters ?? [] }

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
