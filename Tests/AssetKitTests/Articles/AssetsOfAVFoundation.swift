import AssetKit
import Foundation

/// 3: AVURLAsset with AVURLAssetPreferPreciseDurationAndTimingKey.
func openPrecisely(_ url: URL) throws -> Asset {
    var options = Asset.Options()
    options.isPrecise = true
    return try Asset(url: url, options: options)
}

/// 4: loadValuesAsynchronously(forKeys:), statusOfValue(forKey:error:); `asset.cancelLoading()` ends the wait.
func durationStatus(of asset: Asset) async -> String {
    _ = try? await asset.load(.duration)
    return switch asset.status(of: .duration) {
    case .loaded(let duration): "loaded: \(duration.seconds) s"
    case .failed(let error): "failed: \(error.code)"
    case .cancelled: "cancelled"
    case .loading, .unknown: "not loaded yet"
    }
}

/// 5: tracks(withMediaCharacteristic:), copyCGImage(at:actualTime:).
func stillAtTheMiddle(of asset: Asset) async throws -> (image: Bitmap, actualTime: MediaTime)? {
    guard try await !asset.loadTracks(withCharacteristic: .visual).isEmpty else { return nil }
    let generator = ImageGenerator(asset: asset)
    return try await generator.image(at: asset.load(.duration) * 0.5)
}

/// 6: generateCGImagesAsynchronously(forTimes:); `generator.cancelAllImageGeneration()` ends what is pending.
func stills(of generator: ImageGenerator, at times: [MediaTime]) async -> [String] {
    var lines: [String] = []
    for await result in generator.images(for: times) {
        switch result {
        case .success(let image): lines.append("\(image.requestedTime): \(image.actualTime)")
        case .failure(let time, let error): lines.append("\(time): \(error.code)")
        case .cancelled(let time): lines.append("\(time): cancelled")
        }
    }
    return lines
}

/// 7: exportPresets(compatibleWith:), AVAssetExportSession, timeRange, exportAsynchronously; `session.cancel()`.
func export(_ range: MediaTimeRange, of asset: Asset, to target: FilePath) async throws -> ExportSession.State {
    guard try await ExportSession.compatiblePresets(for: asset).contains(.lowQuality) else { return .pending }
    let session = ExportSession(asset: asset, preset: .lowQuality)
    session.timeRange = range
    do {
        try await session.export(to: target, as: .mov)
    } catch {
        // The state tells a failure from a cancellation; `error` says what failed.
        print(error)
    }
    return session.state
}
