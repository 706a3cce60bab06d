import ISOMedia
public import MediaBase

extension FormatDescription {
    /// The sample entry of timed metadata with a table of keys.
    static let boxedMetadata = "mebx"

    /// Creates the format of timed metadata from its keys: `CMMetadataFormatDescriptionCreateWithMetadataSpecifications`
    /// with `kCMMetadataFormatType_Boxed`.
    ///
    /// - Parameter specifications: The keys, and the types and languages of their values, such as
    ///   ``TimedMetadataGroup/specifications`` of a group.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` without keys, for one that is there twice, and for a key
    ///   space whose name does not have four characters.
    public init(metadata specifications: [MetadataSpecification]) throws(MediaError) {
        let keys = try TimedMetadataKeys(specifications)
        self.init(
            mediaType: .data, codec: "unknown", codecTag: Self.boxedMetadata, extradata: keys.sampleEntryFields)
    }

    /// The keys of timed metadata, and the types and languages of their values; `nil` for other formats and for a damaged
    /// one: `CMMetadataFormatDescriptionGetIdentifiers`.
    public var metadataSpecifications: [MetadataSpecification]? {
        guard codecTag == Self.boxedMetadata else { return nil }
        return (try? TimedMetadataKeys(sampleEntryFields: extradata))?.keys.map(\.specification)
    }
}
