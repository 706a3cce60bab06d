// A composition, its mix and its frames from a few lines of text, so that another program can say what is put together.
//
//   track audio|video                            begins a track; what follows is of it
//   clip FILE START LENGTH AT                    a stretch of the file's first track of that kind
//   volume T V             volumeRamp T0 T1 V V
//   transform T A…TY       transformRamp T0 T1 A…TY A…TY
//   opacity T O            opacityRamp T0 T1 O O
//   crop T X Y W H         cropRamp T0 T1 X Y W H X Y W H
//   size W H   frame SECONDS   background R G B
//   overlay FILE W H X Y OPACITY                 a file of straight RGBA
//
// The first video track is at the front. Times are exact rationals.

import AssetKit
import Foundation
import MediaBase
import SystemPackage

struct EditScript {
    private(set) var composition = Composition()
    private var volumes: [AudioMix.InputParameters] = []
    private var layers: [VideoComposition.Layer] = []
    private var size = Dimensions(width: 0, height: 0)
    private var frame = MediaTime(value: 1, timescale: 25)
    private var background = Color.black
    private var overlays: [VideoComposition.Overlay] = []
    private var kind = MediaType.video
    private var id = 0

    init(_ text: String) throws {
        for line in text.split(separator: "\n") { try read(line.split(separator: " ").map(String.init)) }
    }

    var audioMix: AudioMix { AudioMix(volumes) }

    var videoComposition: VideoComposition {
        var instruction = VideoComposition.Instruction(
            timeRange: MediaTimeRange(start: .zero, end: composition.duration), layers: layers)
        instruction.backgroundColor = background
        var video = VideoComposition(renderSize: size, frameDuration: frame, instructions: [instruction])
        video.overlays = overlays
        return video
    }

    private mutating func read(_ words: [String]) throws {
        guard let word = words.first else { return }
        let rest = Array(words.dropFirst())
        let times = rest.map { MediaTime($0.contains("/") ? $0 : $0 + "/1") ?? .indefinite }
        let numbers = rest.map { Double($0) ?? .nan }
        func range() -> MediaTimeRange { MediaTimeRange(start: times[0], end: times[1]) }
        switch word {
        case "track":
            kind = rest[0] == "audio" ? .audio : .video
            id = try composition.addTrack(mediaType: kind)
            if kind == .audio { volumes.append(.init(trackID: id)) } else { layers.append(.init(trackID: id)) }
        case "clip":
            let source = Asset(path: FilePath(rest[0]))
            try composition.insertTimeRange(
                MediaTimeRange(start: times[1], duration: times[2]), of: track(source, kind, nil), in: source,
                at: times[3], into: id)
        case "volume": try volumes[volumes.count - 1].volume.set(Float(numbers[1]), at: times[0])
        case "volumeRamp":
            try volumes[volumes.count - 1].volume.setRamp(
                from: Float(numbers[2]), to: Float(numbers[3]), timeRange: range())
        case "transform": try layers[layers.count - 1].transform.set(Self.transform(numbers[1...]), at: times[0])
        case "transformRamp":
            try layers[layers.count - 1].transform.setRamp(
                from: Self.transform(numbers[2...]), to: Self.transform(numbers[8...]), timeRange: range())
        case "opacity": try layers[layers.count - 1].opacity.set(Float(numbers[1]), at: times[0])
        case "opacityRamp":
            try layers[layers.count - 1].opacity.setRamp(
                from: Float(numbers[2]), to: Float(numbers[3]), timeRange: range())
        case "crop": try layers[layers.count - 1].cropRectangle.set(Self.rectangle(numbers[1...]), at: times[0])
        case "cropRamp":
            try layers[layers.count - 1].cropRectangle.setRamp(
                from: Self.rectangle(numbers[2...]), to: Self.rectangle(numbers[6...]), timeRange: range())
        case "size": size = Dimensions(width: Int(numbers[0]), height: Int(numbers[1]))
        case "frame": frame = times[0]
        case "background":
            background = Color(red: UInt8(numbers[0]), green: UInt8(numbers[1]), blue: UInt8(numbers[2]))
        case "overlay":
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: rest[0])))
            let image = try Bitmap(width: Int(numbers[1]), height: Int(numbers[2]), bytes: bytes)
            var overlay = VideoComposition.Overlay(image: image, x: numbers[3], y: numbers[4])
            try overlay.opacity.set(Float(numbers[5]), at: .zero)
            overlays.append(overlay)
        default: fail("no such line: \(word)")
        }
    }

    private static func transform(_ numbers: ArraySlice<Double>) -> PictureTransform {
        let all = Array(numbers.prefix(6))
        return PictureTransform(a: all[0], b: all[1], c: all[2], d: all[3], tx: all[4], ty: all[5])
    }

    private static func rectangle(_ numbers: ArraySlice<Double>) -> PictureRectangle {
        let all = Array(numbers.prefix(4))
        return PictureRectangle(x: all[0], y: all[1], width: all[2], height: all[3])
    }
}

/// Everything that an edit sounds like, or its frames as RGBA.
func edit(_ path: String, isMix: Bool) throws {
    let script = try EditScript(String(contentsOfFile: path, encoding: .utf8))
    let asset = Asset(composition: script.composition)
    let tracks = try asset.loadNow(.tracks).filter { $0.mediaType == (isMix ? .audio : .video) }
    let reader = try AssetReader(asset: asset)
    let output: ReaderOutput
    if isMix {
        let mix = try AudioMixOutput(tracks: tracks)
        mix.audioMix = script.audioMix
        output = mix
    } else {
        output = try VideoCompositionOutput(tracks: tracks, videoComposition: script.videoComposition)
    }
    try reader.add(output)
    try reader.startReading()
    while let buffer = try output.nextSampleBuffer() {
        buffer.audioBuffer?.withBytes { span in span.withUnsafeBytes { write(Array($0)) } }
        if let picture = buffer.pixelBuffer { write(picture.packedPlane(0)) }
    }
}
