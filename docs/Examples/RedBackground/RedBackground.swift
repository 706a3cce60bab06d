// Shows a video at half its size in the middle of a red frame.
//
//     swift run ExampleRedBackground INPUT OUTPUT.mov

import AssetKit
import Foundation
import SystemPackage

@main
struct RedBackground {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst().map { FilePath($0) }
        guard arguments.count == 2 else {
            print("usage: ExampleRedBackground INPUT OUTPUT.mov")
            exit(64)
        }
        let asset = Asset(path: arguments[0])
        guard let track = try await asset.loadTracks(withMediaType: .video).first else {
            print("\(arguments[0]) has no pictures")
            exit(2)
        }
        var frames = try VideoComposition(propertiesOf: asset)
        let (width, height) = (Double(frames.renderSize.width), Double(frames.renderSize.height))
        var layer = VideoComposition.Layer(track: track)
        let small = PictureTransform.upright(track, in: frames.renderSize)
            .concatenating(.scale(x: 0.5, y: 0.5)).concatenating(.translation(x: width / 4, y: height / 4))
        try layer.transform.set(small, at: .zero)
        var instruction = VideoComposition.Instruction(
            timeRange: MediaTimeRange(start: .zero, duration: .positiveInfinity), layers: [layer])
        instruction.backgroundColor = Color(red: 255, green: 0, blue: 0)
        frames.instructions = [instruction]
        let session = ExportSession(asset: asset, preset: .highestQuality)
        session.videoComposition = frames
        try await session.export(to: arguments[1], as: .mov, overwrite: true)
    }
}
