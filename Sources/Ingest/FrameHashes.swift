package import AssetKit
package import FileOutput
package import Inspection
package import MediaBase
internal import Threading

/// Writes the MD5 of every picture and of every second of audio, in the form of ffmpeg's `framemd5`.
///
/// `docs/frame-hashes.md` has the command of ffmpeg that writes the same lines.
package struct FrameHashJob: Sendable {
    private let asset: Asset
    private let threads: Int

    /// Creates a job without reading anything.
    ///
    /// - Parameter threads: The number of decoding threads for each track, which does not affect the result; 0 for one per
    ///   core.
    package init(asset: Asset, threads: Int = 0) {
        self.asset = asset
        self.threads = threads
    }

    /// Reads the file once and writes the lines to an output, which the caller commits.
    ///
    /// - Parameter progress: Receives the completed fraction, 0…1, and the seconds read from time to time.
    /// - Returns: The damage that was found.
    /// - Throws: `noSuchTrack` if the file has neither video nor audio, and the errors of reading and writing.
    package func run(
        to output: OutputFile, progress: ((Double, Double) -> Void)? = nil
    ) throws(MediaError) -> DamageSummary {
        let hashes = FrameHashes(FrameHashes.tracks(of: try asset.loadNow(.tracks)), to: output)
        guard !hashes.inputs.isEmpty else { throw MediaError(.noSuchTrack, "has neither video nor audio") }
        let pass = Pass(asset, threads: threads)
        pass.join(hashes)
        try pass.run(progress: progress)
        try hashes.finish()
        return DamageSummary(pass.damage)
    }
}

/// The consumer of a pass that writes the hashes of decoded pictures and audio.
///
/// A picture is hashed in the decoder's own pixel format, as raw video holds it. Audio is hashed in the decoder's own sample
/// format with its channels interleaved, in portions of one second: decoders return it in portions of their own, on which no
/// two programs agree. Holes in the audio are not filled; a portion has the time of its first sample.
package final class FrameHashes: PassConsumer {
    /// The tracks, each as it is decoded.
    package let inputs: [PassInput]
    private let tracks: [HashedTrack]
    private let output: OutputFile
    private var hasHeader = false
    /// The text that is not written yet.
    private var text: [UInt8] = []

    /// The length of the text that is written at once.
    private static let block = 1 << 16
    /// The time after which a line no longer waits for those of other tracks, which is ffmpeg's too.
    private static let longestWait = MediaTime(value: 10, timescale: 1)

    /// Creates a consumer; ``finish()`` writes the last lines.
    ///
    /// - Parameters:
    ///   - tracks: The tracks in the order in which the lines number them.
    ///   - output: The output, which the caller commits.
    package init(_ tracks: [AssetTrack], to output: OutputFile) {
        self.output = output
        self.tracks = tracks.enumerated().map { HashedTrack($1, number: $0) }
        inputs = tracks.map {
            PassInput($0, $0.mediaType == .audio ? .audio(AudioSettings()) : .video(VideoSettings()))
        }
    }

    /// Returns the tracks that are hashed: video without cover pictures, then audio.
    package static func tracks(of all: [AssetTrack]) -> [AssetTrack] {
        all.filter { $0.mediaType == .video && !$0.isAttachedPicture } + all.filter { $0.mediaType == .audio }
    }

    package func take(_ samples: DeliveredSamples<Never>, of track: AssetTrack) throws(MediaError) -> Bool {
        guard case .samples(let buffer) = samples, let hashed = tracks.first(where: { $0.track == track }) else {
            return true
        }
        try hashed.append(buffer)
        while let next = nextTrack(isLast: false) { try write(next) }
        return true
    }

    /// Writes what is left when the pass is over.
    package func finish() throws(MediaError) {
        for track in tracks { track.finish() }
        while let next = nextTrack(isLast: true) { try write(next) }
        try writeHeader()
        try output.write(contentsOf: text)
        text = []
    }

    /// Returns the track with the line that is next, by time and then by number; `nil` if an earlier one may follow.
    private func nextTrack(isLast: Bool) -> HashedTrack? {
        let waiting = tracks.filter { !$0.lines.isEmpty }
        guard
            let next = waiting.min(by: { first, second in
                (first.lines.first?.time ?? .zero, first.number) < (second.lines.first?.time ?? .zero, second.number)
            }), let time = next.lines.first?.time
        else { return nil }
        if isLast || waiting.count == tracks.count { return next }
        return tracks.contains { ($0.lastTime ?? time) - time > Self.longestWait } ? next : nil
    }

    private func write(_ track: HashedTrack) throws(MediaError) {
        try writeHeader()
        guard let line = track.lines.popFirst() else { return }
        text += line.text.utf8
        guard text.count >= Self.block else { return }
        try output.write(contentsOf: text)
        text.removeAll(keepingCapacity: true)
    }

    private func writeHeader() throws(MediaError) {
        guard !hasHeader else { return }
        hasHeader = true
        var lines = ["#format: frame checksums", "#version: 2", "#hash: MD5"]
        for track in tracks { lines += track.header }
        lines.append("#stream#, dts,        pts, duration,     size, hash")
        text += lines.map { $0 + "\n" }.joined().utf8
    }
}
