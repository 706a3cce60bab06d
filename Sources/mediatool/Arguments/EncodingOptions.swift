import ArgumentParser
import AssetKit
import MediaJobs

/// A value of the library as an argument, by its name in the library.
struct Named<Value: RawRepresentable<String> & CaseIterable>: ExpressibleByArgument {
    /// What was named.
    let value: Value

    init?(argument: String) {
        guard let value = Value(rawValue: argument) else { return nil }
        self.value = value
    }

    static var allValueStrings: [String] { Value.allCases.map(\.rawValue) }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

extension ProxyRequest.AudioTreatment: ExpressibleByArgument {}

/// The options of commands that encode, which say how; what is not given is the preset's.
struct EncodingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Rows of a picture at most; pictures are never made larger.", valueName: "n"))
    var height: Int?

    @Option(help: ArgumentHelp("The quality of H.264, 0 (best) to 51.", valueName: "n"))
    var crf: Int?

    @Option(
        help: ArgumentHelp("Bits a second of the pictures, such as 800k or 2M, in place of a quality.", valueName: "n"),
        transform: Self.bits)
    var bitrate: Int?

    @Option(help: ArgumentHelp("Frames from one keyframe to the next at most; 1 for keyframes alone.", valueName: "n"))
    var gop: Int?

    @Option(help: "How much time the H.264 encoder takes.")
    var speed: Named<VideoOutputSettings.Speed>?

    @Option(help: "How sound is encoded; the preset's unless given.")
    var audioCodec: Named<AudioOutputSettings.Codec>?

    @Option(
        help: ArgumentHelp("Bits a second of each sound track, such as 128k.", valueName: "n"), transform: Self.bits)
    var audioBitrate: Int?

    /// Whether any of them is given.
    var isAnyGiven: Bool { height != nil || isQualityGiven || audioCodec != nil || audioBitrate != nil }

    /// Whether one is given that codecs have no use for which have one quality.
    var isQualityGiven: Bool { crf != nil || bitrate != nil || gop != nil || speed != nil }

    /// Refuses options of sound where none is encoded.
    func check(_ audio: ProxyRequest.AudioTreatment) throws {
        guard audio != .encode, audioCodec != nil || audioBitrate != nil else { return }
        throw ValidationError("'--audio-codec' and '--audio-bitrate' are for sound that is encoded.")
    }

    func validate() throws {
        func check(_ name: String, _ value: Int?, _ range: ClosedRange<Int>) throws {
            guard let value, !range.contains(value) else { return }
            throw ValidationError("'\(name)' takes a number from \(range.lowerBound) to \(range.upperBound).")
        }
        try check("--height", height, 2...16384)
        try check("--crf", crf, 0...51)
        try check("--gop", gop, 1...100_000)
        if crf != nil, bitrate != nil { throw ValidationError("'--crf' and '--bitrate' exclude each other.") }
    }

    /// A number above zero, with `k` for thousands or `M` for millions.
    static func bits(_ text: String) throws -> Int {
        let factors: [Character: Int] = ["k": 1000, "K": 1000, "M": 1_000_000]
        let factor = text.last.flatMap { factors[$0] }
        let digits = factor == nil ? text[...] : text.dropLast()
        guard let number = Int(digits), number > 0, digits.first != "+",
            case let (bits, overflow) = number.multipliedReportingOverflow(by: factor ?? 1), !overflow,
            bits <= 1_000_000_000
        else { throw ValidationError("write bits a second, such as 800k or 2M") }
        return bits
    }
}
