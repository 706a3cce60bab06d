import ISOMedia
import MediaBase

/// Reads any bytes as an MP4 or QuickTime file, and places its clean apertures.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzBoxes(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
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
