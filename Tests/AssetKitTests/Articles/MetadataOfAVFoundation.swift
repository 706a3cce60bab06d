import AssetKit

/// 27: AVAssetReaderOutputMetadataAdaptor: the timed metadata that a film has of each kind, with the times.
func readTimedMetadata(of asset: Asset) async throws -> [TimedMetadataGroup] {
    let reader = try AssetReader(asset: asset)
    let tracks = try await asset.load(.tracks).filter { $0.detailedMediaType == .metadata }
    let adaptors = try tracks.map { try OutputMetadataAdaptor(output: TrackOutput(track: $0)) }
    for adaptor in adaptors { try reader.add(adaptor.output) }
    try reader.startReading()
    var groups: [TimedMetadataGroup] = []
    for adaptor in adaptors {
        for try await group in adaptor.timedMetadataGroups where !group.items.isEmpty { groups.append(group) }
    }
    return groups
}

/// 28: CMMetadataFormatDescriptionCreateWithMetadataSpecifications, AVAssetWriterInputMetadataAdaptor,
/// addTrackAssociation(withTrackOf:type:), appendTimedMetadataGroup: when a live photo's still picture was taken.
func stillImageTime(
    at time: MediaTime, describing video: AssetWriterInput, in writer: AssetWriter
) throws -> (append: () async throws -> Void, input: AssetWriterInput) {
    let key = MetadataIdentifier(keySpace: .quickTimeMetadata, key: "com.apple.quicktime.still-image-time")
    let format = try FormatDescription(metadata: [MetadataSpecification(key, dataType: .int8)])
    let input = AssetWriterInput(mediaType: .data, sourceFormatHint: format)
    let adaptor = try InputMetadataAdaptor(input: input)
    input.addTrackAssociation(withTrackOf: video, type: "cdsc")
    try writer.add(input)
    let range = MediaTimeRange(start: time, duration: MediaTime(value: 1, timescale: 600))
    let group = TimedMetadataGroup(items: [MetadataItem(key, .integer(0))], timeRange: range)
    return ({ try await adaptor.append(group) }, input)
}
