import MatroskaMedia
import MediaBase

/// Reads any bytes as a Matroska file, and places its crops.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMatroska(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    guard let header = try? MatroskaHeader(reading: ArrayByteSource(bytes)) else { return 0 }
    for video in header.tracks.compactMap(\.video) {
        let size = Dimensions(width: Int(clamping: video.pixelWidth), height: Int(clamping: video.pixelHeight))
        _ = video.sampleAspectRatio
        _ = video.display
        guard let aperture = try? video.aperture(in: size) else { continue }
        let rect = aperture.pixelRect
        precondition(rect.x >= 0 && rect.width > 0 && rect.width <= size.width - rect.x)
        precondition(rect.y >= 0 && rect.height > 0 && rect.height <= size.height - rect.y)
    }
    return 0
}
