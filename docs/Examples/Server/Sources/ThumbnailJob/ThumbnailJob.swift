public import FoundationEssentials
public import MediaWorker
public import SystemPackage

/// A request to make a picture of a file.
public struct ThumbnailRequest: Codable, Sendable {
    /// The file.
    public var path: FilePath
    /// The time of the picture in seconds.
    public var seconds: Double
    /// The maximum width of the picture.
    public var width: Int

    /// Creates a request.
    public init(path: FilePath, seconds: Double, width: Int) {
        self.path = path
        self.seconds = seconds
        self.width = width
    }
}

/// A picture and its time.
public struct Thumbnail: Codable, Sendable {
    /// The picture as PNG.
    public var picture: Data
    /// The time of the frame that it shows, in seconds.
    public var seconds: Double

    /// Creates an answer.
    public init(picture: Data, seconds: Double) {
        self.picture = picture
        self.seconds = seconds
    }
}

extension MediaJob where Request == ThumbnailRequest, Result == Thumbnail {
    /// Makes a picture of a video.
    public static var thumbnail: MediaJob { MediaJob("thumbnail") }
}
