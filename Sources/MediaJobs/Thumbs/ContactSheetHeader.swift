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
        let rate = (track.averageFrameRate ?? track.nominalFrameRate).map { "\(twoPlaces($0.doubleValue)) fps" }
        let duration = track.timeRange.duration
        let file = [container.sizeBytes.map(bytesText), duration.isNumeric ? duration.clockText() : nil]
        let size = track.naturalSize ?? video?.encodedSize
        let pictures = [track.formatDescriptions.first?.codec, size.map { "\($0)" }, rate]
        return [name, joined(file), joined(pictures)].compactMap(\.self)
    }

    private static func joined(_ parts: [String?]) -> String? {
        let parts = parts.compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private static func bytesText(_ bytes: Int64) -> String {
        var (value, unit) = (Double(bytes), "bytes")
        for larger in ["kB", "MB", "GB", "TB"] where value >= 1000 { (value, unit) = (value / 1000, larger) }
        return "\(unit == "bytes" ? "\(bytes)" : twoPlaces(value)) \(unit)"
    }

    /// A number of zero or more to two places, without zeros at the end.
    private static func twoPlaces(_ value: Double) -> String {
        let hundredths = (value * 100).rounded()
        guard hundredths >= 0, let whole = Int64(exactly: hundredths) else { return "\(value)" }
        if whole % 100 == 0 { return "\(whole / 100)" }
        let digits = zeroPadded("\(whole % 100)", to: 2)
        return "\(whole / 100).\(digits.last == "0" ? digits.dropLast() : digits[...])"
    }
}
