import ArgumentParser
import MediaJobs

/// The options of `proxy` that say what of the source is in it, and which way up.
struct ProxyContentOptions: ParsableArguments {
    @Flag(help: "Make pixels square, as some players need; the shape may then differ by part of a pixel.")
    var squarePixels = false

    @Flag(help: "Turn the pictures, instead of marking them as to be turned.")
    var bakeRotation = false

    @OptionGroup var content: ContentOptions

    /// Puts what was asked for into a request.
    func apply(to request: inout ProxyRequest) {
        request.hasSquarePixels = squarePixels
        request.bakesRotation = bakeRotation
        request.start = content.start
        request.end = content.end
        request.videoTrack = content.videoTrack
        request.audioTracks = content.audioTracks
        request.audio = content.audio
    }
}
