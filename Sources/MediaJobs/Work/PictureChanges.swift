internal import AssetKit
internal import MediaBase

extension AssetTrack {
    /// What of a track's pictures is not kept when they are encoded, in words.
    func changes(by settings: VideoOutputSettings) -> [String] {
        guard let source = formatDescriptions.first?.video else { return [] }
        var changes: [String] = []
        let codec = settings.codec.rawValue
        if settings.codec.isLimitedRangeOnly, source.color.range == "pc" {
            changes.append("full range became limited range, the only one that \(codec) has")
        }
        if let matrix = settings.codec.matrix, let own = source.color.matrix, own != matrix, own != "gbr" {
            changes.append("the matrix \(own) became \(matrix), the only one that \(codec) has")
        }
        if source.hasAlpha, !settings.keepsAlpha { changes.append("transparency was left out") }
        if let order = source.fieldOrder, order != "progressive", settings.fieldOrder == "progressive" {
            let reason = settings.codec.holdsFields ? "scaling would mix them" : "\(codec) has no fields"
            changes.append("pictures of two fields became pictures of the first field, because \(reason)")
        }
        if let depth = source.bitDepth, case let kept = settings.encodedBitDepth, kept < depth {
            changes.append("\(depth) bits a component became \(kept)")
        }
        return changes
    }
}
