import LibAV
public import MediaBase

extension AssetTrack {
    /// The media type with text, closed captions and timed metadata told apart, as AVFoundation has them.
    ///
    /// It is ``MediaType/text`` for QuickTime text, ``MediaType/closedCaption`` for CEA-608 and CEA-708, and
    /// ``MediaType/metadata`` for `mebx`, `mett`, `metx` and `urim` (ISO/IEC 14496-12), GoPro's and Google's telemetry,
    /// KLV and timed ID3. Otherwise it is ``mediaType``, which calls these subtitles and data.
    public var detailedMediaType: MediaType {
        let format = formatDescriptions.first
        let (codec, tag) = (format?.codec ?? "", format?.codecTag ?? "")
        switch mediaType {
        case .subtitle:
            if codec == "eia_608" || ["c608", "c708"].contains(tag) { return .closedCaption }
            return tag == "text" ? .text : .subtitle
        case .data:
            let isMetadata =
                ["mebx", "mett", "metx", "urim", "gpmd", "camm"].contains(tag)
                || ["klv", "timed_id3"].contains(codec)
            return isMetadata ? .metadata : .data
        default: return mediaType
        }
    }

    /// Returns true if the track has a characteristic: `hasMediaCharacteristic`.
    ///
    /// Characteristics that only the author knows come from the container's flags: Matroska's flags, the service descriptors of
    /// transport streams, the `kind` boxes of MP4 files.
    public func has(_ characteristic: MediaCharacteristic) -> Bool {
        switch characteristic {
        // Subtitles are seen too, as in AVFoundation.
        case .visual: mediaType == .video || mediaType == .subtitle
        case .audible: mediaType == .audio
        case .legible: mediaType == .subtitle
        case .frameBased: mediaType == .video && !isAttachedPicture
        case .containsOnlyForcedSubtitles: mediaType == .subtitle && isMarked("forced")
        case .describesVideoForAccessibility: isMarked("visual_impaired", "descriptions")
        case .transcribesSpokenDialogForAccessibility: isMarked("hearing_impaired", "captions")
        case .isMainProgramContent: isMarked("default") && !isMarked("comment")
        case .isAuxiliaryContent: isMarked("comment")
        case .isOriginalContent: isMarked("original")
        case .dubbedTranslation: isMarked("dub")
        case .containsHDRVideo: containsHDRVideo
        case .containsAlphaChannel: formatDescriptions.contains { $0.video?.pixelFormat?.hasAlpha == true }
        }
    }

    private func isMarked(_ names: String...) -> Bool { names.contains { dispositions.contains($0) } }

    /// True for the transfer functions of ITU-R BT.2100, and for Dolby Vision.
    private var containsHDRVideo: Bool {
        formatDescriptions.contains { format in
            guard let video = format.video else { return false }
            let transfer = containerColor?.transfer ?? video.color.transfer ?? ""
            return ["smpte2084", "arib-std-b67"].contains(transfer) || video.hdr?.dolbyVision != nil
        }
    }
}
