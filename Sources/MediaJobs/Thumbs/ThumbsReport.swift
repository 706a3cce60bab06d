package import MediaBase
package import SystemPackage

/// What ``ThumbsJob`` made of one file: the manifest.
package struct ThumbsReport: Sendable {
    /// The track that is shown, by its place in the container.
    package var trackIndex: Int
    /// The container's own number of that track.
    package var trackID: Int
    /// The WebVTT index as it was named; `nil` where none was written.
    package var index: FilePath?
    /// One answer for every time asked for, in that order.
    package var images: [Image] = []
    /// What failed beyond single images: the index.
    package var errors: [MediaError] = []
    /// What could not be decoded on the way to the images; `nil` where everything could.
    package var damage: DamageSummary?
    /// What a person should know although all was delivered; no part of the JSON.
    package var warnings: [String] = []

    init(trackIndex: Int, trackID: Int) {
        self.trackIndex = trackIndex
        self.trackID = trackID
    }

    /// The answer to one time.
    package struct Image: Sendable {
        /// The time asked for; invalid where the file has no such time at all, as for a frame number beyond the last.
        package var requested: MediaTime
        /// The time as it was written; `nil` where times were not named one by one.
        package var requestedText: String?
        /// What was delivered, or why nothing was.
        package var result: Result<Delivered, MediaError>
    }

    /// An image that was written.
    package struct Delivered: Sendable {
        /// The presentation time of the picture.
        package var actual: MediaTime
        /// How long the picture is on screen.
        package var duration: MediaTime
        /// The single image as it was named; `nil` for standard output, and where there are only sheets.
        package var file: FilePath?
        /// The image's size in pixels.
        package var size: Dimensions
        /// Whether the picture came from a sync sample.
        package var isKeyframe: Bool
        /// Where it lies on a sheet; `nil` where there are none.
        package var sheet: Sheet?
    }

    /// A place on a sheet, in pixels from its top left corner.
    package struct Sheet: Sendable, Hashable {
        /// The sheet as it was named.
        package var file: FilePath
        /// The left edge.
        package var x: Int
        /// The upper edge.
        package var y: Int
        /// Width and height of the place.
        package var size: Dimensions
    }

    /// What was not delivered, in the order asked; a time that was named is told as it was written.
    package var failures: [MediaError] {
        images.compactMap { image in
            guard case .failure(let error) = image.result else { return nil }
            guard let text = image.requestedText, error.code == .outOfRange else { return error }
            return MediaError(.outOfRange, "\(text): \(error.message)", path: error.path, cause: error.cause)
        } + errors
    }
}

// MARK: - JSON, in the schema's order; bytes of names only where they are not UTF-8

private enum Key: String, CodingKey {
    case trackIndex, trackID, vtt, vttBytes, images, errors, damage
    case requested, requestedText, actual, duration, file, fileBytes, width, height, keyframe, sheet, error
    case x, y
    case code, message
}

extension ThumbsReport: Encodable {
    /// Writes the manifest's own members.
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
    /// Writes one answer.
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
    /// Writes a place.
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
