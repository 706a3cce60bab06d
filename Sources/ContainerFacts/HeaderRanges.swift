import ISOMedia
import MatroskaMedia
package import MediaBase

/// Where containers have their headers and indexes, for sources from which every request takes long.
package enum HeaderRanges {
    /// Names the ranges that opening a file reads beyond its first bytes: an `InputFile.HeaderLocator` of LibAV.
    ///
    /// - Parameters:
    ///   - format: The container.
    ///   - source: The file.
    ///   - willRead: Receives each range as soon as it is known.
    /// - Throws: Any error of the source.
    @Sendable package static func announce(
        _ format: ContainerFormat, _ source: any ByteSource, _ willRead: (Range<UInt64>) -> Void
    ) throws(MediaError) {
        if format == .isoMedia { try MovieLocation.announce(in: source, willRead: willRead) }
        if format == .matroska, let range = try MatroskaHeader.indexRange(of: source) { willRead(range) }
    }
}
