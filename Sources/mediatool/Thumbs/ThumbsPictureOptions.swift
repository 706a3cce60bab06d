import ArgumentParser
import MediaJobs

/// The options of `thumbs` that say what of a stored picture is shown, and in which colours.
struct ThumbsPictureOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The part of the stored picture that is shown: clean (the clean aperture, square pixels), production (all of "
                + "it, square pixels) or encoded (all of it, pixel by pixel).", valueName: "aperture"))
    var aperture = ThumbsRequest.Aperture.clean

    @Option(
        help: ArgumentHelp(
            "What becomes of HDR (PQ, HLG): sdr maps it to sRGB, source keeps its coded values.", valueName: "range"))
    var dynamicRange = DynamicRangeArgument.sdr

    @Flag(help: "Make one picture of the two fields of interlaced frames: that of the first field's moment.")
    var deinterlace = false

    /// Tells a request what is shown.
    func apply(to request: inout ThumbsRequest) {
        request.aperture = aperture
        request.keepsDynamicRange = dynamicRange == .source
        request.deinterlaces = deinterlace
    }
}

extension ThumbsRequest.Aperture: ExpressibleByArgument {}

/// The words for what becomes of HDR.
enum DynamicRangeArgument: String, ExpressibleByArgument, CaseIterable {
    case sdr
    case source
}
