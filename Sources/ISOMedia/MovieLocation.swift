package import MediaBase

/// Where an MP4 or QuickTime file has its index, found by the headers of the boxes around it.
package enum MovieLocation {
    /// The number of boxes that are looked at before the movie box.
    private static let maximumBoxes = 100
    /// The longest rest of a file, after the media, that is taken for the index without looking at it.
    private static let longestRest: UInt64 = 32 << 20
    /// The bytes after the movie box that are read with it: the beginning of the media.
    private static let bytesAfter: UInt64 = 1 << 16

    /// Names the range of bytes that hold the index, as soon as it is known, so that they can be fetched in one request.
    ///
    /// - Parameters:
    ///   - source: The file; only the headers of boxes are read.
    ///   - willRead: Receives ranges that will be read next.
    /// - Throws: Any error of the source.
    package static func announce(in source: any ByteSource, willRead: (Range<UInt64>) -> Void) throws(MediaError) {
        var reader = BoxReader(source)
        let whole = reader.wholeSource
        var offset: UInt64 = 0
        for _ in 0..<maximumBoxes {
            guard let box = try reader.box(at: offset, end: whole.upperBound) else { return }
            offset = box.range.upperBound
            if box.type == "moov" {
                return willRead(box.range.lowerBound..<min(offset + bytesAfter, whole.upperBound))
            }
            // The index follows the media, and nothing long comes after it.
            if box.type == "mdat", offset < whole.upperBound, whole.upperBound - offset <= longestRest {
                willRead(offset..<whole.upperBound)
            }
        }
    }
}
