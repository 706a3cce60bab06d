import Bitstreams
import LibAV
import MediaBase

// What libavcodec would find out of a stream of pictures, from its header alone.

extension PictureFacts {
    /// Profiles of H.264 whose pictures have 8 bits and, but for monochrome ones, chroma of 4:2:0; "constrained" has
    /// bit 9.
    private static let plainProfiles: Set<Int> = [66, 66 | 1 << 9, 77, 100]

    /// Reads the header of H.264 that is progressive, of 8 bits and 4:2:0, as most is; `nil` for all else, and where a
    /// decoder might see it differently.
    ///
    /// What the parameter set leaves open stays as the container has it. ITU-T H.264, 7.3.2.1.1 and E.1.1.
    /// - Parameters:
    ///   - format: The stream as the container describes it.
    ///   - sample: The beginning of the first sample; may be empty.
    init?(_ format: FormatDescription, sample: [UInt8]) {
        guard format.codec == "h264", var video = format.video else { return nil }
        let sets = ParameterSets(format.extradata, isHEVC: false)
        func sequences(_ units: [ArraySlice<UInt8>]) -> [ArraySlice<UInt8>] {
            units.filter { ($0.first ?? 0) & 0x1F == 7 }
        }
        let written = sequences(sets.units)
        // A decoder goes by the parameter set in the sample where there is another one.
        guard let lengthSize = sets.lengthSize, written.count == 1, let unit = written.first,
            sequences(NALUnits.inSample(sample, lengthSize: lengthSize)).allSatisfy({ $0.elementsEqual(unit) })
        else { return nil }
        let headers = PictureHeaders(codec: "h264", header: format.extradata, sample: sample)
        guard let sequence = headers.sequence, headers.messages.preferredTransfer == nil,
            let profile = sequence.profile, Self.plainProfiles.contains(profile),
            // libavcodec has no number of its own for level 1b.
            let level = sequence.level, level != 9, sequence.size == video.encodedSize,
            sequence.scan == .progressive, sequence.bitDepth == 8, sequence.chroma == .quarter,
            let color = Self.color(of: sequence, headers.color, container: video.color)
        else { return nil }
        video.sampleAspectRatio = video.sampleAspectRatio ?? sequence.sampleAspectRatio
        video.pixelFormat = PixelFormat(rawValue: color.range == "pc" ? "yuvj420p" : "yuv420p")
        video.bitDepth = 8
        video.fieldOrder = "progressive"
        video.color = color
        self.init(profile: profile, level: level, video: video)
    }

    /// How much of a first sample is looked at; what it says of all pictures stands at its beginning.
    private static let sampleBeginning = 4096
    /// How many packets are read in search of first samples.
    private static let mostPackets = 200

    /// Whether the first samples of streams that were described by their headers say nothing else.
    ///
    /// Reads packets of the file, which is good for nothing but description anyway; where they cannot be read, nobody knows.
    static func firstSamplesAgree(with file: InputFile) -> Bool {
        var waiting = file.streamsByHeader
        var count = 0
        while !waiting.isEmpty {
            count += 1
            guard count <= mostPackets, let packet = try? file.readPacket() else { return false }
            let index = packet.streamIndex
            guard waiting.remove(index) != nil else { continue }
            guard let format = file.stream(index)?.format,
                PictureFacts(format, sample: packet.prefix(sampleBeginning)) != nil
            else { return false }
        }
        return true
    }

    /// The colours that a decoder works out of both; `nil` where that is not plain to see.
    private static func color(of sequence: SequenceInfo, _ stream: ColorInfo?, container: ColorInfo) -> ColorInfo? {
        var color = container
        if let points = sequence.color {
            color.range = points.isFullRange == true ? "pc" : "tv"
            let saysNothing = points == SequenceInfo.CodePoints(isFullRange: points.isFullRange)
            // Whether "unspecified" is written there or nothing at all makes a difference where the container speaks.
            guard !saysNothing || (color.primaries ?? color.transfer ?? color.matrix) == nil else { return nil }
            color.primaries = stream?.primaries
            color.transfer = stream?.transfer
            color.matrix = stream?.matrix
        }
        if sequence.h264Syntax?.hasUsability == true { color.chromaLocation = stream?.chromaLocation }
        return color.matrix == "gbr" ? nil : color
    }
}
