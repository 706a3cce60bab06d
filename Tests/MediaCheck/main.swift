// What the corpus check compares with ffmpeg's own output: samples and pictures as the library delivers them.
//
//   mediacheck pcm FILE s16|s32|f32|native [TRACK [START END]]   interleaved PCM from time 0, holes as silence
//   mediacheck segments FILE s16|… TRACK BYTES THREADS           the same, decoded in segments of so many bytes
//   mediacheck sound FILE [TRACK]                                time and number of samples of each run of sound
//   mediacheck frames FILE [TRACK]                               time, duration and MD5 of each picture
//   mediacheck at FILE [TRACK [THREADS [sweep]]]                 the same for times read from standard input; `sweep`: in
//                                                                rising order, each told which one comes next
//   mediacheck samples FILE                                      track, size, place and sync mark of each stored sample
//   mediacheck copy FILE OUT [START END]                         stored samples as they are, in another file
//   mediacheck encode FILE OUT VIDEO AUDIO [WxH [START END]]     encoded anew: h264, proRes422Proxy, aac, pcm…
//   mediacheck feed FILE OUT video|audio|turns                   encoded anew, one track before the other, or in turn
//   mediacheck fragments FILE OUT INTERVAL                       encoded anew in fragments of a time
//   mediacheck tags FILE OUT                                     copied, with the metadata of standard input in place of its
//                                                                own (MetadataLines.swift); prints what is lost
//   mediacheck items FILE                                        the metadata of a file and its tracks
//   mediacheck mix EDIT                                          the mix of an edit (EditScript.swift), 32-bit floats
//   mediacheck composite EDIT                                    its frames, RGBA
//   mediacheck page SCRIPT                                       the HTML of a page of `ingest` (PageScript.swift)
//
// Times are exact rationals such as 1001/30000. TRACK counts the file's audio or video tracks from 0.

import AssetKit
import CFFmpeg
import Foundation
import Glibc
import MediaBase
import MediaJobs
import SystemPackage

func fail(_ message: String) -> Never {
    _ = try? FileDescriptor.standardError.writeAll("mediacheck: \(message)\n".utf8)
    exit(2)
}

func write(_ bytes: [UInt8]) {
    _ = try? FileDescriptor.standardOutput.writeAll(bytes)
}

func md5(_ picture: PixelBuffer) -> String {
    var bytes: [UInt8] = []
    for plane in 0..<picture.planeCount { bytes += picture.packedPlane(plane) }
    var digest = [UInt8](repeating: 0, count: 16)
    av_md5_sum(&digest, bytes, bytes.count)
    return digest.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
}

func track(_ asset: Asset, _ type: MediaType, _ argument: String?) throws -> AssetTrack {
    let tracks = try asset.loadNow(.tracks).filter { $0.mediaType == type }
    let place = argument.flatMap { Int($0) } ?? 0
    guard tracks.indices.contains(place) else { fail("no \(type) track \(place)") }
    return tracks[place]
}

func writer(_ path: String) throws -> AssetWriter {
    guard let type = MediaFileType(pathExtension: FilePath(path).extension ?? "") else { fail("no such file type") }
    return try AssetWriter(path: FilePath(path), fileType: type, overwrite: true)
}

func range(_ arguments: ArraySlice<String>) -> MediaTimeRange {
    let times = arguments.compactMap { MediaTime($0) }
    guard times.count == 2 else { return MediaTimeRange(start: .zero, duration: .positiveInfinity) }
    return MediaTimeRange(start: times[0], end: times[1])
}

func copy(_ asset: Asset, _ arguments: [String]) throws {
    let job = try Reencoder(
        asset: asset, writer: writer(arguments[0]), video: .copy, audio: .copy,
        timeRange: range(arguments.dropFirst()))
    try job.runNow()
}

func encode(_ asset: Asset, _ arguments: [String]) throws {
    guard let picture = VideoOutputSettings.Codec(rawValue: arguments[1]),
        let sound = AudioOutputSettings.Codec(rawValue: arguments[2])
    else { fail("no such codec") }
    var video = VideoOutputSettings(codec: picture)
    video.speed = .veryFast
    let sides = arguments.count > 3 ? arguments[3].split(separator: "x").compactMap { Int($0) } : []
    if sides.count == 2 { video.dimensions = Dimensions(width: sides[0], height: sides[1]) }
    let job = try Reencoder(
        asset: asset, writer: writer(arguments[0]), video: .encode(video),
        audio: .encode(AudioOutputSettings(codec: sound)), timeRange: range(arguments.dropFirst(4)))
    try job.runNow()
}

func fragments(_ asset: Asset, _ arguments: [String]) throws {
    guard arguments.count > 1, let interval = MediaTime(arguments[1]) else {
        fail("usage: fragments FILE OUT INTERVAL")
    }
    let writer = try writer(arguments[0])
    writer.movieFragmentInterval = interval
    var video = VideoOutputSettings(codec: .h264)
    video.speed = .veryFast
    let job = try Reencoder(
        asset: asset, writer: writer, video: .encode(video), audio: .encode(AudioOutputSettings(codec: .aac)))
    try job.runNow()
}

/// Each track is read by itself, so that only the writer has to hold what waits for the other.
func feed(_ asset: Asset, _ arguments: [String]) throws {
    var video = VideoOutputSettings(codec: .h264, dimensions: Dimensions(width: 960, height: 540))
    video.speed = .fastest
    let tracks = [try track(asset, .video, nil), try track(asset, .audio, nil)]
    let outputs = [
        TrackOutput(track: tracks[0], videoSettings: VideoSettings()),
        TrackOutput(track: tracks[1], audioSettings: AudioSettings()),
    ]
    let inputs = [
        AssetWriterInput(videoSettings: video, like: tracks[0]),
        AssetWriterInput(audioSettings: AudioOutputSettings(codec: .aac), like: tracks[1]),
    ]
    let writer = try writer(arguments[0])
    for (output, input) in zip(outputs, inputs) {
        let reader = try AssetReader(asset: asset)
        try reader.add(output)
        try reader.startReading()
        try writer.add(input)
    }
    try writer.startWriting()
    try writer.startSession(atSourceTime: .zero)
    var open = arguments[1] == "audio" ? [1, 0] : [0, 1]
    while !open.isEmpty {
        let turn = open.removeFirst()
        guard let buffer = try outputs[turn].nextSampleBuffer() else {
            inputs[turn].markAsFinished()
            continue
        }
        try inputs[turn].appendNow(buffer)
        open.insert(turn, at: arguments[1] == "turns" ? open.count : 0)
    }
    try writer.finishWritingNow()
}

func pcm(_ asset: Asset, _ arguments: [String], segments: (bytes: Int, threads: Int)? = nil) throws {
    let formats: [String: SampleFormat] = ["s16": .int16, "s32": .int32, "f32": .float32]
    let track = try track(asset, .audio, arguments.count > 1 ? arguments[1] : nil)
    let reader = try AssetReader(asset: asset)
    let settings = AudioSettings(
        sampleFormat: formats[arguments[0]] ?? track.formatDescriptions[0].audio?.sampleFormat, isPlanar: false)
    let output = TrackOutput(track: track, audioSettings: settings)
    if let segments {
        reader.decodesAudioInChunks = true
        reader.chunkBytes = segments.bytes
        reader.threadsPerOutput = segments.threads
    }
    var start = MediaTime.zero
    if segments == nil, arguments.count > 3, let from = MediaTime(arguments[2]), let to = MediaTime(arguments[3]) {
        start = from
        reader.timeRange = MediaTimeRange(start: from, end: to)
    }
    try reader.add(output)
    try reader.startReading()
    var gaps = AudioGaps(from: start)
    while let buffer = try output.nextSampleBuffer(), let audio = buffer.audioBuffer {
        let frameBytes = audio.sampleFormat.bytesPerSample * audio.channelLayout.channels
        let silence = gaps.silence(
            before: buffer.presentationTime, count: audio.sampleCount, rate: audio.sampleRate)
        if silence > 0 { write([UInt8](repeating: 0, count: Int(silence) * frameBytes)) }
        audio.withBytes { span in span.withUnsafeBytes { write(Array($0)) } }
    }
}

func sound(_ asset: Asset, _ arguments: [String]) throws {
    let track = try track(asset, .audio, arguments.first)
    let reader = try AssetReader(asset: asset)
    let output = TrackOutput(track: track, audioSettings: AudioSettings())
    try reader.add(output)
    try reader.startReading()
    while let buffer = try output.nextSampleBuffer() {
        print(buffer.presentationTime, buffer.audioBuffer?.sampleCount ?? 0)
    }
}

func frames(_ asset: Asset, _ arguments: [String]) throws {
    let track = try track(asset, .video, arguments.first)
    let reader = try AssetReader(asset: asset)
    let output = TrackOutput(track: track, videoSettings: VideoSettings())
    try reader.add(output)
    try reader.startReading()
    while let buffer = try output.nextSampleBuffer() {
        guard let picture = buffer.pixelBuffer else { continue }
        print(buffer.presentationTime, buffer.duration, md5(picture))
    }
}

/// Images at exact times, by the search that `thumbs` uses.
func images(_ asset: Asset, _ arguments: [String]) throws {
    let generator = ImageGenerator(asset: asset)
    generator.configuration.trackIndex = try track(asset, .video, arguments.first).index
    generator.configuration.requestedTimeToleranceBefore = .zero
    generator.configuration.requestedTimeToleranceAfter = .zero
    generator.configuration.threads = arguments.count > 1 ? Int(arguments[1]) ?? 0 : 0
    let isSweep = arguments.count > 2 && arguments[2] == "sweep"
    var times: [MediaTime] = []
    while let line = readLine() {
        guard let time = MediaTime(line) else { fail("not a time: \(line)") }
        times.append(time)
    }
    for (place, time) in times.enumerated() {
        let upcoming = place + 1 < times.count ? times[place + 1] : .positiveInfinity
        do throws(MediaError) {
            let found = try generator.pixelBuffer(at: time, before: isSweep ? upcoming : nil)
            print(found.actualTime, found.duration, md5(found.picture))
        } catch {
            print("error", error.code, error.message)
        }
    }
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 2 else { fail("usage: pcm|frames|at FILE …") }
let asset = Asset(path: FilePath(arguments[1]))
do {
    switch arguments[0] {
    case "pcm": try pcm(asset, Array(arguments.dropFirst(2)))
    case "segments":
        guard arguments.count > 5, let bytes = Int(arguments[4]), let threads = Int(arguments[5]) else {
            fail("usage: segments FILE FORMAT TRACK BYTES THREADS")
        }
        try pcm(asset, Array(arguments.dropFirst(2)), segments: (bytes, threads))
    case "sound": try sound(asset, Array(arguments.dropFirst(2)))
    case "frames": try frames(asset, Array(arguments.dropFirst(2)))
    case "samples": try samples(asset)
    case "copy": try copy(asset, Array(arguments.dropFirst(2)))
    case "encode": try encode(asset, Array(arguments.dropFirst(2)))
    case "fragments": try fragments(asset, Array(arguments.dropFirst(2)))
    case "feed":
        guard arguments.count > 3 else { fail("usage: feed FILE OUT video|audio|turns") }
        try feed(asset, Array(arguments.dropFirst(2)))
    case "tags": try tags(asset, Array(arguments.dropFirst(2)))
    case "items": try items(asset)
    case "mix": try edit(arguments[1], isMix: true)
    case "composite": try edit(arguments[1], isMix: false)
    case "page":
        write(Array(try PageScript(String(contentsOfFile: arguments[1], encoding: .utf8)).html().utf8))
    case "at": try images(asset, Array(arguments.dropFirst(2)))
    default: fail("no such check: \(arguments[0])")
    }
} catch {
    fail("\(error)")
}
