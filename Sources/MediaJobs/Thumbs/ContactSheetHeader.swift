import AssetKit
import MediaBase
import SystemPackage

/// What stands above the images of a contact sheet: the file's name; its size and duration; its pictures' codec, size and
/// rate.
enum ContactSheetHeader {
    /// The lines of the header; what is not known of the file is left out.
    static func lines(_ input: ThumbsJob.Input, _ asset: Asset, track: AssetTrack) throws(MediaError) -> [String] {
        let container = try asset.loadNow(.container)
        let video = track.formatDescriptions.first?.video
        let name = input.isStandardInput ? nil : input.path.lastComponent?.string
        let rate = (track.averageFrameRate ?? track.nominalFrameRate).map { "\(QuantityText.decimal($0)) fps" }
        let duration = track.timeRange.duration
        let file = [container.sizeBytes.map(QuantityText.bytes), duration.isNumeric ? duration.clockText() : nil]
        let size = track.naturalSize ?? video?.encodedSize
        let pictures = [track.formatDescriptions.first?.codec, size.map { "\($0)" }, rate]
        return [name, joined(file), joined(pictures)].compactMap(\.self)
    }

    private static func joined(_ parts: [String?]) -> String? {
        let parts = parts.compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}
