import AssetKit
import FuzzSupport

private let file = InputFile()

/// Makes images of any bytes as a video file: the first byte says how, the second at which times.
@_cdecl("fuzzImages")
public func fuzzImages(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    guard size > 2, let data else { return 0 }
    guard file.write(UnsafeRawBufferPointer(start: data + 2, count: size - 2)) else { return 0 }
    var options = Asset.Options()
    options.limits.pixels = 1 << 20
    options.limits.deadline = .now + .seconds(5)
    let asset = Asset(descriptor: file.descriptor, options: options)
    let generator = ImageGenerator(asset: asset)
    if data[0] & 1 != 0 {
        generator.configuration.requestedTimeToleranceBefore = .zero
        generator.configuration.requestedTimeToleranceAfter = .zero
    }
    generator.configuration.appliesPreferredTrackTransform = data[0] & 2 != 0
    if data[0] & 4 != 0 { generator.configuration.maximumSize = Dimensions(width: 64, height: 64) }
    let duration = (try? asset.loadNow(.duration)) ?? MediaTime.zero
    for part in [Int64(data[1]), 0, 255, 128] {
        guard let image = try? generator.generateNow(at: duration.multiplied(by: part, dividedBy: 255)) else {
            continue
        }
        precondition(image.image.bytes.count == image.image.width * image.image.height * 4)
    }
    return 0
}

/// Where the program begins.
@_cdecl("FuzzImages_main")
public func begin(_ count: CInt, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    runFuzzer(count, arguments, fuzzImages)
}
