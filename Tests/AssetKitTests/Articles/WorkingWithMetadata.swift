import AssetKit

/// Prints the metadata of an asset: identifiers, types, languages and texts.
func listMetadata(_ asset: Asset) async throws {
    for item in try await asset.load(.metadata) {
        print(item.identifier, item.dataType, item.language ?? "", item.value.text ?? "")
    }
}

/// Finds the titles in preferred languages, a cover, and the named keys of QuickTime.
func findMetadata(_ asset: Asset) async throws -> (titles: [MetadataItem], cover: [UInt8]?, names: [MetadataItem]) {
    let metadata = try await asset.load(.metadata)
    let titles = metadata.items(withCommonKey: .title).sorted(byPreferredLanguages: ["de", "en"])
    let cover = metadata.items(withIdentifier: .commonIdentifierArtwork).first?.value.data
    let names = metadata.items(inKeySpace: .quickTimeMetadata)
    return (titles, cover, names)
}

/// States the metadata of a file to write.
func describe(_ writer: AssetWriter, cover jpeg: [UInt8]) {
    writer.metadata = [
        MetadataItem(.commonIdentifierTitle, .text("Seefahrt"), language: "deu"),
        MetadataItem(.iTunesMetadataTrackNumber, .text("3/12")),
        MetadataItem(.commonIdentifierArtwork, .data(jpeg)),
    ]
}
