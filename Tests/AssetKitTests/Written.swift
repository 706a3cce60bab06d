import AssetKit
import Foundation
import SystemPackage
import TestSupport

/// Files that a test writes, and what other programs read in them.
struct Written {
    let folder: TemporaryFolder
    let path: String

    init(_ name: String) throws {
        folder = try TemporaryFolder()
        path = folder.path(name)
    }

    var asset: Asset { Asset(path: FilePath(path)) }

    func writer(_ fileType: MediaFileType, overwrite: Bool = false) throws -> AssetWriter {
        try AssetWriter(path: FilePath(path), fileType: fileType, overwrite: overwrite)
    }

    /// Writes what `feed` appends to the inputs, one session from `start` on.
    func write(
        _ fileType: MediaFileType, _ inputs: [AssetWriterInput], from start: MediaTime = .zero,
        _ feed: (AssetWriter) throws -> Void
    ) throws {
        let writer = try writer(fileType)
        for input in inputs { try writer.add(input) }
        try writer.startWriting()
        try writer.startSession(atSourceTime: start)
        try feed(writer)
        try writer.finishWritingNow()
    }

    /// The columns that ffprobe prints of each packet or frame of a stream, line by line.
    func probe(_ stream: String, _ entries: String) throws -> [String] {
        try FFmpeg.probe(["-select_streams", stream, "-show_entries", entries, "-of", "csv=p=0", path])
    }

    /// When ffprobe says that each stored sample of a stream is shown, whether it is a sync sample, and its bytes' MD5.
    static func packets(_ path: String, _ stream: String) throws -> [String] {
        try FFmpeg.probe([
            "-select_streams", stream, "-show_data_hash", "md5", "-show_entries", "packet=pts_time,flags,data_hash",
            "-of", "csv=p=0", path,
        ]).map { line in
            // Of the flags only "sync sample" has to stay.
            line.split(separator: ",", omittingEmptySubsequences: false).prefix(3).map { field in
                field.hasPrefix("K") ? "K" : field.hasPrefix("_") ? "_" : String(field)
            }.joined(separator: ",")
        }.filter { !$0.isEmpty }
    }

    /// The presentation times that ffprobe decodes, in order.
    static func frameTimes(_ path: String, _ stream: String = "v:0") throws -> [String] {
        try FFmpeg.probe([
            "-select_streams", stream, "-show_entries", "frame=pts_time", "-of", "csv=p=0", path,
        ]).map { String($0.prefix { $0 != "," }) }
    }

    /// The 16-bit samples that our own reader delivers of the first sound track, and the place of the first.
    func sound() throws -> (start: MediaTime?, samples: [Int16]) { try Self.sound(asset) }

    static func sound(_ asset: Asset, _ place: Int = 0) throws -> (start: MediaTime?, samples: [Int16]) {
        let track = try Media.track(asset, .audio, place)
        let output = TrackOutput(track: track, audioSettings: AudioSettings(sampleFormat: .int16))
        let buffers = try Media.all(output, of: asset)
        var samples: [Int16] = []
        for buffer in buffers {
            buffer.audioBuffer?.withSamples(of: Int16.self) { span in
                for place in span.indices { samples.append(span[place]) }
            }
        }
        return (buffers.first?.presentationTime, samples)
    }
}

/// Sound and pictures that are made by rule.
enum Made {
    /// A run of noise that differs from sample to sample, the same every time.
    static func noise(_ count: Int, from place: Int = 0) -> [Int16] {
        (place..<place + count).map { index in
            let mixed = UInt32(truncatingIfNeeded: index) &* 2_654_435_761
            return Int16(truncatingIfNeeded: Int32(bitPattern: mixed) >> 16)
        }
    }

    static func buffer(_ samples: [Int16], at place: Int, rate: Int = 48000, channels: ChannelLayout = .mono) throws
        -> SampleBuffer
    {
        SampleBuffer(
            sound: try AudioBuffer(interleaved: samples, sampleRate: rate, channelLayout: channels),
            presentationTime: .samples(place, at: rate))
    }

    /// A picture of one grey, 64 by 48.
    static func picture(_ grey: UInt8, from pool: PixelBufferPool) throws -> PixelBuffer {
        try pool.makePixelBuffer { plane, bytes, _ in
            for place in 0..<bytes.byteCount {
                bytes.storeBytes(of: plane == 0 ? grey : 128, toByteOffset: place, as: UInt8.self)
            }
        }
    }

    static func pool() throws -> PixelBufferPool {
        try PixelBufferPool(dimensions: Dimensions(width: 64, height: 48), pixelFormat: .yuv420p)
    }
}
