import MediaBase

/// Which codecs let pictures be left out on the way to another one without changing it.
///
/// A decoder knows from a packet alone that no other picture refers to its own. Which ones say so reliably differs: MPEG-1
/// and MPEG-2 never refer to B pictures, H.264 marks slices (`nal_ref_idc`), HEVC marks pictures that none of the same
/// temporal sub-layer refers to, which is enough where there is one layer. Elsewhere nothing is gained: VP8, VP9 and AV1
/// rarely store such pictures as packets of their own, and the others have none.
struct DispensablePictures {
    /// Whether a decoder may be told to leave out what nothing refers to.
    let areKnown: Bool

    init(_ format: FormatDescription?) {
        switch format?.codec {
        case "h264", "mpeg1video", "mpeg2video": areKnown = true
        case "hevc": areKnown = Self.hasOneTemporalLayer(format?.extradata ?? [])
        default: areKnown = false
        }
    }

    /// The number of temporal layers of an HEVC decoder configuration record (ISO/IEC 14496-15, 8.3.3.1), where that is
    /// what the container has.
    private static func hasOneTemporalLayer(_ configuration: [UInt8]) -> Bool {
        guard configuration.count > 22, configuration[0] == 1 else { return false }
        return configuration[21] >> 3 & 7 == 1
    }
}
