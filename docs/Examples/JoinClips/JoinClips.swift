// Puts two clips and a piece of music together: the first clip fades out, and a watermark lies over both.
//
//     swift run ExampleJoinClips FIRST SECOND MUSIC WATERMARK.png OUTPUT.mov

import AssetKit
import Foundation
import SystemPackage

@main
struct JoinClips {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst().map { FilePath($0) }
        guard arguments.count == 5 else {
            print("usage: ExampleJoinClips FIRST SECOND MUSIC WATERMARK.png OUTPUT.mov")
            exit(64)
        }
        do {
            try await join(
                Asset(path: arguments[0]), Asset(path: arguments[1]), music: Asset(path: arguments[2]),
                watermark: arguments[3], output: arguments[4])
        } catch {
            print(error)
            exit(2)
        }
    }

    static func join(
        _ first: Asset, _ second: Asset, music: Asset, watermark: FilePath, output: FilePath
    ) async throws {
        // One composition with a track of pictures and one of sound.
        var composition = Composition()
        let pictures = try composition.addTrack(mediaType: .video)
        let sound = try composition.addTrack(mediaType: .audio)

        // The clips, one after the other, and the music for as long as both last.
        let firstTrack = try await track(.video, of: first)
        let secondTrack = try await track(.video, of: second)
        let musicTrack = try await track(.audio, of: music)
        let firstRange = MediaTimeRange(start: .zero, duration: firstTrack.timeRange.end)
        let secondRange = MediaTimeRange(start: firstRange.end, duration: secondTrack.timeRange.end)
        try composition.insertTimeRange(firstRange, of: firstTrack, at: .zero, into: pictures)
        try composition.insertTimeRange(
            MediaTimeRange(start: .zero, duration: secondRange.duration), of: secondTrack,
            at: secondRange.start, into: pictures)
        try composition.insertTimeRange(
            MediaTimeRange(start: .zero, duration: secondRange.end), of: musicTrack, at: .zero, into: sound)

        // Portrait and landscape do not go together: this throws where one of the clips is of each. The frames are as large as
        // the larger clip.
        let size = try VideoComposition.renderSize(for: [firstTrack, secondTrack])

        // The first clip fades out over its whole time; each clip is shown upright.
        var firstLayer = VideoComposition.Layer(trackID: pictures)
        try firstLayer.transform.set(.upright(firstTrack, in: size), at: .zero)
        try firstLayer.opacity.setRamp(from: 1, to: 0, timeRange: firstRange)
        var secondLayer = VideoComposition.Layer(trackID: pictures)
        try secondLayer.transform.set(.upright(secondTrack, in: size), at: .zero)
        var frames = VideoComposition(
            renderSize: size, frameDuration: MediaTime(value: 1, timescale: 30),
            instructions: [
                VideoComposition.Instruction(timeRange: firstRange, layers: [firstLayer]),
                VideoComposition.Instruction(timeRange: secondRange, layers: [secondLayer]),
            ])

        // The watermark, half transparent, in the upper left corner.
        let image = try PNGFile.decode([UInt8](Data(contentsOf: URL(fileURLWithPath: watermark.string))))
        var mark = VideoComposition.Overlay(image: image, x: 8, y: 8)
        try mark.opacity.set(0.5, at: .zero)
        frames.overlays = [mark]

        // A QuickTime movie whose index comes first, so that it plays while it is fetched.
        let session = ExportSession(asset: Asset(composition: composition), preset: .highestQuality)
        session.videoComposition = frames
        session.shouldOptimizeForNetworkUse = true
        try await session.export(to: output, as: .mov, overwrite: true)
        print("\(output): \(secondRange.end.seconds) s")
    }

    static func track(_ type: MediaType, of asset: Asset) async throws -> AssetTrack {
        guard let track = try await asset.loadTracks(withMediaType: type).first else {
            throw MediaError(.noSuchTrack, "has no \(type) track", path: asset.displayName)
        }
        return track
    }
}
