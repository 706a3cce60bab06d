import ArgumentParser
import AssetKit
import MediaBase
import MediaJobs

extension ProxyPreset: ExpressibleByArgument {
    /// A preset by its name.
    public init?(argument: String) { self.init(named: argument) }

    /// The names, for the help.
    public static var allValueStrings: [String] { all.map(\.name) }

    /// The names, for shells that complete words.
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    /// The name.
    public var defaultValueDescription: String { name }
}

/// The options of `proxy` that say how it is encoded.
struct ProxyEncodingOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: "What kind of proxy is made; '--list-presets' tells more.")
    var preset = ProxyPreset.all[0]

    @Flag(help: "Print the presets and do nothing else.")
    var listPresets = false

    @OptionGroup var encoding: EncodingOptions

    func validate() throws {
        if preset.videoCodec.isIntraOnly, encoding.isQualityGiven {
            throw ValidationError("'--crf', '--bitrate', '--gop' and '--speed' are for H.264, not for \(preset.name).")
        }
    }

    /// Puts what was asked for into a request.
    func apply(to request: inout ProxyRequest) throws {
        request.height = encoding.height
        request.quality = encoding.crf
        request.bitRate = encoding.bitrate
        request.keyFrameInterval = encoding.gop
        request.speed = encoding.speed?.value
        request.audioCodec = encoding.audioCodec?.value
        request.audioBitRate = encoding.audioBitrate
    }
}
