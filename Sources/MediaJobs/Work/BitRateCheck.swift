internal import AssetKit
internal import MediaBase

// Bit rates that an encoder refuses, told by the option that asks for them, before anything is encoded.

extension VideoOutputSettings {
    /// Refuses a bit rate with which a track's pictures cannot be encoded.
    ///
    /// - Throws: `invalidArgument`, which names the option.
    func checkBitRate(for track: AssetTrack, in fileType: MediaFileType) throws(MediaError) {
        guard let bitRate, let source = track.formatDescriptions.first?.video,
            isBitRateRefused(for: source, in: fileType)
        else { return }
        throw MediaError(
            .invalidArgument, "\(codec.rawValue) takes no bit rate of \(bitRate); give another --bitrate, or none")
    }
}

extension AudioOutputSettings {
    /// Refuses a bit rate with which a track's sound cannot be encoded.
    ///
    /// - Throws: `invalidArgument`, which names the option.
    func checkBitRate(for track: AssetTrack, in fileType: MediaFileType) throws(MediaError) {
        guard let bitRate, let source = track.formatDescriptions.first?.audio,
            isBitRateRefused(for: source, in: fileType)
        else { return }
        throw MediaError(
            .invalidArgument,
            "\(codec.rawValue) takes no bit rate of \(bitRate); give another --audio-bitrate, or none")
    }
}
