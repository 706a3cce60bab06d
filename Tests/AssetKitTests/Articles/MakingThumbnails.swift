import AssetKit
import SystemPackage

/// Images at the centres of equal parts of a file, as JPEG files in memory, with the times that they show.
func thumbnails(of path: FilePath, count: Int, width: Int) async throws -> [(time: MediaTime, jpeg: [UInt8])] {
    let asset = Asset(path: path)
    let duration = try await asset.load(.duration)
    let times = (0..<count).map { duration.multiplied(by: Rational(Int64(2 * $0 + 1), Int64(2 * count))) }

    let generator = ImageGenerator(asset: asset)
    generator.configuration.maximumSize = Dimensions(width: width, height: 0)
    generator.configuration.requestedTimeToleranceBefore = .zero
    generator.configuration.requestedTimeToleranceAfter = .zero

    var images: [(time: MediaTime, jpeg: [UInt8])] = []
    for await result in generator.images(for: times) {
        switch result {
        case .success(let image):
            images.append((image.actualTime, try image.image.encoded(as: .jpeg, quality: 80)))
        case .failure(let time, let error):
            print("no image at \(time): \(error.message)")
        case .cancelled:
            break
        }
    }
    return images
}
