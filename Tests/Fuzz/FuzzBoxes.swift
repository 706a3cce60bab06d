import ISOMedia
import MediaBase

/// Reads any bytes as an MP4 or QuickTime file, and places its clean apertures; and as keys and a sample of timed metadata.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzBoxes(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    readTimedMetadata(bytes)
    guard let header = try? MovieHeader(reading: ArrayByteSource(bytes)) else { return 0 }
    for visual in header.tracks.flatMap(\.sampleEntries).compactMap(\.visual) {
        let size = Dimensions(width: Int(visual.width), height: Int(visual.height))
        guard let aperture = try? visual.cleanAperture?.aperture(in: size) else { continue }
        let rect = aperture.pixelRect
        precondition(rect.x >= 0 && rect.width > 0 && rect.x + rect.width <= size.width)
        precondition(rect.y >= 0 && rect.height > 0 && rect.y + rect.height <= size.height)
        let format = VideoFormat(encodedSize: size, sampleAspectRatio: Rational(2, 3), cleanAperture: aperture)
        _ = format.presentationDimensions(usePixelAspectRatio: true, useCleanAperture: true)
    }
    return 0
}

/// The first byte says how many of the others are the table of keys.
private func readTimedMetadata(_ bytes: [UInt8]) {
    guard let count = bytes.first, bytes.count > Int(count),
        let keys = try? TimedMetadataKeys(sampleEntryFields: Array(bytes[1..<max(1, Int(count))]))
    else { return }
    let items = keys.sample(Array(bytes[max(1, Int(count))...])).items
    // What was read is written, and read alike.
    guard let written = try? TimedMetadataKeys(keys.keys.map(\.specification)),
        let sample = try? written.sample(of: items)
    else { return }
    precondition(written.sample(sample).items.count == items.count)
    precondition((try? TimedMetadataKeys(sampleEntryFields: written.sampleEntryFields)) != nil)
}
