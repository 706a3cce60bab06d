import AssetKit
import FuzzSupport

private let file = InputFile()

/// Opens any bytes as a media file, looks at all that is known of it, and reads all tracks, stored and decoded.
@_cdecl("fuzzReading")
public func fuzzReading(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    guard size > 1, let data else { return 0 }
    guard file.write(UnsafeRawBufferPointer(start: data + 1, count: size - 1)) else { return 0 }
    var options = Asset.Options()
    options.limits.pixels = 1 << 20
    options.limits.deadline = .now + .seconds(5)
    options.isPrecise = data[0] & 1 != 0
    read(Asset(descriptor: file.descriptor, options: options), isDecoding: data[0] & 2 != 0)
    return 0
}

private func read(_ asset: Asset, isDecoding: Bool) {
    guard let tracks = try? asset.loadNow(.tracks), let reader = try? AssetReader(asset: asset) else { return }
    _ = try? (asset.loadNow(.duration), asset.loadNow(.metadata), asset.loadNow(.chapters))
    var outputs: [TrackOutput] = []
    for track in tracks.prefix(8) {
        let output =
            switch track.mediaType {
            case .audio where isDecoding:
                TrackOutput(track: track, audioSettings: AudioSettings(sampleFormat: .int16))
            case .video where isDecoding: TrackOutput(track: track, videoSettings: VideoSettings())
            default: TrackOutput(track: track)
            }
        if (try? reader.add(output)) != nil { outputs.append(output) }
    }
    guard (try? reader.startReading()) != nil else { return }
    // A late start may be hours of silence: enough is read of each to come past what a small file holds.
    for output in outputs {
        if let adaptor = try? OutputMetadataAdaptor(output: output) {
            for _ in 0..<200 { guard (try? adaptor.nextTimedMetadataGroup()) != nil else { break } }
        }
        for _ in 0..<200 { guard let buffer = try? output.nextSampleBuffer(), buffer.duration >= .zero else { break } }
    }
    _ = reader.damage
}

/// Where the program begins.
@_cdecl("FuzzReading_main")
public func begin(_ count: CInt, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    runFuzzer(count, arguments, fuzzReading)
}
