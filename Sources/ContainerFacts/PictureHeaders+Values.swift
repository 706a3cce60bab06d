package import Bitstreams
package import LibAV
package import MediaBase

// Properties stated by coded pictures themselves, independently of the container.

extension PictureHeaders {
    /// The colours stated by the headers, in libavutil's names; `nil` if they state none.
    package var color: ColorInfo? {
        guard let sequence else { return nil }
        let points = sequence.color ?? SequenceInfo.CodePoints()
        var color = ColorInfo(
            primaries: points.primaries, transfer: points.transfer, matrix: points.matrix,
            isFullRange: points.isFullRange)
        color.chromaLocation = Self.name(ofChromaLocation: sequence.chromaLocation)
        return color.isUnknown ? nil : color
    }

    /// Returns libavutil's name for a chroma sample location as numbered by ITU-T H.273.
    static func name(ofChromaLocation number: Int?) -> String? {
        number.flatMap { [0: "left", 1: "center", 2: "topleft", 3: "top", 4: "bottomleft", 5: "bottom"][$0] }
    }

    /// The field order stated by the headers: `progressive`, `interlaced` if the order is unknown, `tt` or `bb`.
    package var fieldOrder: String? {
        switch sequence?.scan {
        case .progressive: "progressive"
        case .interlaced: "interlaced"
        case .topFieldFirst: "tt"
        case .bottomFieldFirst: "bb"
        case nil: nil
        }
    }
}

extension HDRInfo {
    /// Combines the HDR metadata of the container and of the coded pictures; `nil` if there is none.
    ///
    /// The container's values, which libavformat passes on, take precedence.
    package init?(_ container: HDRInfo?, headers: PictureHeaders?) {
        self = container ?? HDRInfo()
        let messages = headers?.messages
        masteringDisplay = masteringDisplay ?? messages?.masteringDisplay
        contentLightLevel = contentLightLevel ?? messages?.contentLightLevel
        if messages?.hasHDR10Plus == true { hdr10Plus = true }
        // Code point 18 of ITU-T H.273; such a stream declares itself as BT.2020 for the sake of old displays.
        if messages?.preferredTransfer == 18, transferFamily == nil { transferFamily = "HLG" }
        if self == HDRInfo() { return nil }
    }
}

extension StreamInfo {
    /// Uses the frame rate fixed by the codec's header, for a stream whose container states none.
    package mutating func stateCodedFrameRate() {
        guard attachedPicture == nil,
            ["h264", "mpeg1video", "mpeg2video"].contains(format.codec)
        else { return }
        let headers = PictureHeaders(codec: format.codec, header: format.extradata, sample: [])
        statedFrameRate = headers.sequence?.fixedFrameRate
    }
}
