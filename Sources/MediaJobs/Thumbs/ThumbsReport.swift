package import MediaBase
package import SystemPackage

/// What ``ThumbsJob`` made of one file: the manifest.
package struct ThumbsReport: Sendable, Encodable {
    /// The track that is shown, by its place in the container.
    package var trackIndex: Int
    /// The container's own number of that track.
    package var trackID: Int
    /// One answer for every time asked for, in that order.
    package var images: [Image]
    /// What could not be decoded on the way to the images; `nil` where everything could.
    package var damage: DamageSummary?

    /// The answer to one time.
    package struct Image: Sendable {
        /// The time asked for; invalid where the file has no such time at all, as for a frame number beyond the last.
        package var requested: MediaTime
        /// What was delivered, or why nothing was.
        package var result: Result<Delivered, MediaError>
    }

    /// An image that was written.
    package struct Delivered: Sendable {
        /// The presentation time of the picture.
        package var actual: MediaTime
        /// How long the picture is on screen.
        package var duration: MediaTime
        /// The file as it was named; `nil` for standard output.
        package var file: FilePath?
        /// The image's size in pixels.
        package var size: Dimensions
        /// Whether the picture came from a sync sample.
        package var isKeyframe: Bool
    }

    /// What was not delivered, in the order asked.
    package var failures: [MediaError] {
        images.compactMap { if case .failure(let error) = $0.result { error } else { nil } }
    }
}

extension ThumbsReport.Image: Encodable {
    private enum Key: String, CodingKey {
        case requested, actual, duration, file, fileBytes, width, height, keyframe, error
        case code, message
    }

    /// Writes the keys in the schema's order; `fileBytes` only where the name is not UTF-8.
    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(requested, forKey: .requested)
        switch result {
        case .success(let image):
            try object.encode(image.actual, forKey: .actual)
            try object.encode(image.duration, forKey: .duration)
            try object.encodeIfPresent(image.file?.string, forKey: .file)
            try object.encodeIfPresent(image.file?.pathBytes, forKey: .fileBytes)
            try object.encode(image.size.width, forKey: .width)
            try object.encode(image.size.height, forKey: .height)
            try object.encode(image.isKeyframe, forKey: .keyframe)
        case .failure(let failure):
            var error = object.nestedContainer(keyedBy: Key.self, forKey: .error)
            try error.encode(failure.code.rawValue, forKey: .code)
            try error.encode(failure.message, forKey: .message)
        }
    }
}
