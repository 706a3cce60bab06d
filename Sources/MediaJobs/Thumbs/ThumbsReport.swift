package import MediaBase
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
    /// Warnings for the user although everything was delivered; not part of the JSON.
    package var warnings: [String] = []

    init(trackIndex: Int, trackID: Int) {
        self.trackIndex = trackIndex
        self.trackID = trackID
    }

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
    case trackIndex, trackID, vtt, vttBytes, images, errors, damage
    case requested, requestedText, actual, duration, file, fileBytes, width, height, keyframe, sheet, error
    case x, y
    case code, message
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
        if !errors.isEmpty { try object.encode(errors.map(Failure.init), forKey: .errors) }
        try object.encodeIfPresent(damage, forKey: .damage)
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
            try object.encode(Failure(error: error), forKey: .error)
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

private struct Failure: Encodable {
    let error: MediaError

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(error.code.rawValue, forKey: .code)
        try object.encode(error.message, forKey: .message)
    }
}
