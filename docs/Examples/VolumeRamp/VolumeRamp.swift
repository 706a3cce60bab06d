// Lets the sound of a file fade out from its beginning to its end.
//
//     swift run ExampleVolumeRamp INPUT OUTPUT.m4a

import AssetKit
import Foundation
import SystemPackage

@main
struct VolumeRamp {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst().map { FilePath($0) }
        guard arguments.count == 2 else {
            print("usage: ExampleVolumeRamp INPUT OUTPUT.m4a")
            exit(64)
        }
        let asset = Asset(path: arguments[0])
        guard let track = try await asset.loadTracks(withMediaType: .audio).first else {
            print("\(arguments[0]) has no sound")
            exit(2)
        }
        var parameters = AudioMix.InputParameters(track: track)
        try parameters.volume.setRamp(
            from: 1, to: 0, timeRange: MediaTimeRange(start: .zero, duration: track.timeRange.end))
        let session = ExportSession(asset: asset, preset: .appleM4A)
        session.audioMix = AudioMix([parameters])
        try await session.export(to: arguments[1], as: .m4a, overwrite: true)
    }
}
