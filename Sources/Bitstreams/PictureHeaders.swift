/// What the headers of one track's pictures say, whatever the codec.
package struct PictureHeaders: Hashable, Sendable {
    /// The sequence's header; `nil` where the codec is not read, or none was found.
    package var sequence: SequenceInfo?
    /// HDR metadata among the messages.
    package var messages = HDRMessages()

    /// Codecs whose headers are read, by libavcodec's names.
    package static let codecs: Set<String> = ["h264", "hevc", "av1", "vp9", "mpeg2video", "mpeg1video"]

    /// Codecs that say something only in their samples.
    package static let codecsNeedingSample: Set<String> = ["hevc", "av1", "vp9", "mpeg2video"]

    /// Reads headers.
    ///
    /// - Parameters:
    ///   - codec: libavcodec's name of the codec.
    ///   - header: The codec's header as the container stores it; may be empty.
    ///   - sample: The first sample, or its beginning, as it is stored; may be empty.
    package init(codec: String, header: [UInt8], sample: [UInt8]) {
        switch codec {
        case "h264", "hevc":
            let isHEVC = codec == "hevc"
            var sets = ParameterSets(header, isHEVC: isHEVC)
            sets.units +=
                sets.lengthSize.map { NALUnits.inSample(sample, lengthSize: $0) } ?? NALUnits.inByteStream(sample)
            sequence =
                sets.units.lazy.compactMap { unit in
                    isHEVC
                        ? Self.isUnit(unit, hevc: 33) ? try? SequenceInfo(hevcParameterSet: unit) : nil
                        : (unit.first ?? 0) & 0x1F == 7 ? try? SequenceInfo(h264ParameterSet: unit) : nil
                }.first
            messages.read(sets.units, isHEVC: isHEVC)
            if sequence?.scan == .interlaced, let syntax = sequence?.h264Syntax {
                sequence?.scan = SequenceInfo.Scan(h264: sets.units, syntax: syntax) ?? .interlaced
            }
        case "av1":
            // Four bytes of configuration stand before the units (av1C).
            let units = AV1Unit.list(in: header.dropFirst(header.first == 0x81 ? 4 : 0)) + AV1Unit.list(in: sample[...])
            sequence =
                units.lazy.compactMap { unit in
                    unit.type == 1 ? try? SequenceInfo(av1SequenceHeader: unit.payload) : nil
                }.first
            messages.read(units)
        case "vp9": sequence = try? SequenceInfo(vp9KeyFrame: sample)
        case "mpeg2video", "mpeg1video": sequence = try? SequenceInfo(mpegVideo: header + sample)
        default: break
        }
    }

    private static func isUnit(_ unit: ArraySlice<UInt8>, hevc type: UInt8) -> Bool {
        unit.first.map { $0 >> 1 & 0x3F == type } ?? false
    }
}
