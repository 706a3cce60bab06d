public import MediaBase

/// Makes the frames of a video composition from the pictures of its tracks: `AVVideoCompositing`.
///
/// One that is set as ``VideoComposition/compositor`` gets each frame to make, several at once on different threads, in
/// no order. It may use generators and readers meanwhile, also the generator that it makes the frame for.
public protocol VideoCompositor: Sendable {
    /// Makes a frame of the request's ``VideoCompositionRequest/renderSize``, in any pixel format.
    func frame(for request: VideoCompositionRequest) throws(MediaError) -> PixelBuffer
}

/// One frame that is to be made: `AVAsynchronousVideoCompositionRequest`.
public struct VideoCompositionRequest: Sendable {
    /// The time of the frame.
    public let time: MediaTime
    /// What is shown at that time.
    public let instruction: VideoComposition.Instruction
    /// The composition that it is made for.
    public let videoComposition: VideoComposition
    /// The tracks' pictures.
    let sources: [Int: SourceFrame]

    /// The size of the frame.
    public var renderSize: Dimensions { videoComposition.outputSize }
    /// The numbers of the tracks that have a picture at this time, in rising order.
    public var sourceTrackIDs: [Int] { sources.keys.sorted() }
    /// The picture that a track shows at this time, as it is decoded; `nil` where it has none.
    public func sourcePicture(ofTrack id: Int) -> PixelBuffer? { sources[id]?.picture }
}

/// A track's picture with what its container says of its shape.
struct SourceFrame: Sendable {
    let picture: PixelBuffer
    let format: VideoFormat?

    /// The part that is shown, and the size in which it is shown before the track's turn.
    var shape: (part: PixelRectangle?, size: Dimensions) {
        var shown = VideoFormat(
            encodedSize: picture.dimensions,
            sampleAspectRatio: format?.sampleAspectRatio ?? picture.sampleAspectRatio)
        if format?.encodedSize == picture.dimensions { shown.cleanAperture = format?.cleanAperture }
        return (
            shown.cleanAperture?.pixelRect,
            shown.presentationDimensions(usePixelAspectRatio: true, useCleanAperture: true)
        )
    }
}
