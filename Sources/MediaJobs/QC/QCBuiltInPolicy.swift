/// The policies that come with the program; they are read like any other.
package enum QCBuiltInPolicy: String, CaseIterable, Sendable {
    /// Whether browsers play a file well.
    case web
    /// Loudness for broadcasting in Europe.
    case ebuR128 = "ebu-r128"
    /// Whether anything is wrong that no programme wants.
    case content
    /// Whether it looks and sounds like a reference that is given.
    case reference

    /// Its text.
    package var yaml: String {
        switch self {
        case .web: Self.webText
        case .ebuR128: Self.r128Text
        case .content: Self.contentText
        case .reference: Self.referenceText
        }
    }

    private static let webText = """
        name: web
        description: A file that browsers play well, and without a wait.
        rules:
          - id: video-codec
            field: tracks[type=video].codec
            oneOf: [h264, hevc, vp8, vp9, av1]
            message: "Browsers do not play {measured}; export to h264"
          - id: pixel-format
            field: tracks[type=video].video.pixelFormat
            oneOf: [yuv420p, yuvj420p, yuv420p10le]
            message: "Few browsers play {measured}; export to yuv420p"
          - id: audio-codec
            field: tracks[type=audio].codec
            oneOf: [aac, mp3, opus, vorbis, flac]
            message: "Browsers do not play {measured}; export to aac"
          - id: index-first
            field: container.indexFirst
            oneOf: [true]
            severity: warn
            message: "The index stands behind the media, so playing begins late; export again with the index first"
          - id: damage
            check: damage
          - id: true-peak
            check: truePeak
            max: 0
            severity: warn
        """

    private static let r128Text = """
        name: ebu-r128
        description: Loudness for broadcasting after EBU R 128.
        rules:
          - id: audio
            check: audioTracks
            min: 1
            message: "The file has no audio that can be decoded"
          - id: programme-loudness
            check: loudness.integrated
            min: -23.2
            max: -22.8
          - id: true-peak
            check: truePeak
            max: -1
          - id: muted-channels
            check: mutedChannels
            severity: warn
          - id: phase
            check: correlation
            min: -0.5
            severity: warn
        """

    private static let referenceText = """
        name: reference
        description: Hardly any difference from another file can be seen or heard.
        rules:
          - {id: frames, check: reference.unpairedFrames}
          - {id: psnr, check: reference.psnr, min: 35}
          - {id: ssim, check: reference.ssim, min: 0.95}
          - {id: psnr-of-the-worst, check: reference.psnrMinimum, min: 25}
          - {id: ssim-of-the-worst, check: reference.ssimMinimum, min: 0.85}
          - {id: sound-offset, check: reference.soundOffset, max: 0.02}
          - {id: sound-difference, check: reference.soundDifference, max: -20, severity: warn}
          - {id: damage, check: damage}
        """

    private static let contentText = """
        name: content
        description: Pictures and sound without faults that no programme wants.
        rules:
          - {id: damage, check: damage}
          - {id: black, check: black, severity: warn}
          - {id: freeze, check: freeze, severity: warn}
          - {id: silence, check: silence, severity: warn}
          - {id: clipping, check: clipping, severity: warn}
          - {id: illegal-luma, check: illegalLuma, severity: warn}
          - {id: illegal-color, check: illegalColor, severity: warn}
          - {id: repeated-frames, check: repeatedFrames, severity: warn}
          - {id: dropped-frames, check: droppedFrames, severity: warn}
          - {id: missing-frames, check: missingFrames, severity: warn}
          - {id: fields, check: fieldMismatch, severity: warn}
          - {id: starts, check: startDifference, severity: warn}
          - {id: lengths, check: lengthDifference, max: 0.5, severity: warn}
          - {id: headers, check: headerMismatches, severity: warn}
          - {id: muted-channels, check: mutedChannels, severity: warn}
          - {id: phase, check: correlation, min: -0.5, severity: warn}
          - {id: dc-offset, check: dcOffset, max: 0.01, severity: warn}
          - {id: true-peak, check: truePeak, max: 0, severity: warn}
        """
}
