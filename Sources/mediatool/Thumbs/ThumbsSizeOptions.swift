import ArgumentParser
import MediaBase
import MediaJobs
import Pictures

/// The options of `thumbs` that say how large images are, and which way up.
struct ThumbsSizeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The greatest width of an image; images are never enlarged.", valueName: "pixels"))
    var width: Int?

    @Option(help: ArgumentHelp("The greatest height of an image.", valueName: "pixels"))
    var height: Int?

    @Option(
        help: ArgumentHelp("The box that images are fitted into.", valueName: "WxH"),
        transform: ThumbsArgument.dimensions)
    var maxSize: Dimensions?

    @Option(
        help: ArgumentHelp(
            "The size of every image: pictures are fitted into it, and the rest is filled with --pad.",
            valueName: "WxH"),
        transform: ThumbsArgument.dimensions)
    var exactSize: Dimensions?

    @Flag(
        help: ArgumentHelp(
            "With --exact-size: let pictures cover all of it, and cut what is too much on two sides; they are never "
                + "enlarged, so that smaller ones still get --pad around them."))
    var crop = false

    @Option(
        help: ArgumentHelp(
            "What is beside pictures in --exact-size, and behind transparent ones in JPEG: #rgb, #rrggbb, #rrggbbaa "
                + "or a name such as white or transparent. (default: black)", valueName: "color"),
        transform: CommonArgument.color)
    var pad = Color.black

    @Flag(help: "Leave pictures as they are stored instead of turning them upright.")
    var noRotate = false

    func validate() throws {
        for (option, value) in [("--width", width), ("--height", height)] where !(1...0xFFFF).contains(value ?? 1) {
            throw ValidationError("'\(option)' takes a number from 1 to 65535.")
        }
        if exactSize != nil, width != nil || height != nil || maxSize != nil {
            throw ValidationError("'--exact-size' excludes '--width', '--height' and '--max-size'.")
        }
        if crop, exactSize == nil { throw ValidationError("'--crop' goes with '--exact-size'.") }
    }

    /// Whether anything is said of the size.
    private var isGiven: Bool { width != nil || height != nil || maxSize != nil || exactSize != nil }

    /// Tells a request the size.
    ///
    /// - Parameter standard: The longest side where nothing is said; `nil` for full size.
    func apply(to request: inout ThumbsRequest, standard: Int?) {
        request.appliesRotation = !noRotate
        request.exactSize = exactSize.map { ThumbsRequest.ExactSize($0, crops: crop, background: pad) }
        guard isGiven else {
            request.maximumSize = Dimensions(width: standard ?? 0, height: standard ?? 0)
            return
        }
        let limits = [maxSize ?? Dimensions(width: 0, height: 0), Dimensions(width: width ?? 0, height: height ?? 0)]
        request.maximumSize = Dimensions(
            width: limits.map(\.width).filter { $0 > 0 }.min() ?? 0,
            height: limits.map(\.height).filter { $0 > 0 }.min() ?? 0)
    }
}
