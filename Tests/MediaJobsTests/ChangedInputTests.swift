import AssetKit
import Foundation
import MediaBase
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import MediaJobs

/// Files that become shorter while they are read: no output is made of what is left.
@Suite struct ChangedInputTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Some megabytes of pictures, each one by itself, and of sound.
    private func film(_ name: String) throws -> FilePath {
        let path = folder.path(name)
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=6", "-f", "lavfi", "-i",
            "anoisesrc=sample_rate=48000:duration=6", "-c:v", "mjpeg", "-q:v", "2", "-c:a", "pcm_s16le", path,
        ])
        return FilePath(path)
    }

    private func truncate(_ path: FilePath) { #expect(Foundation.truncate(path.string, 1000) == 0) }

    private func expectChanged(_ names: [String], _ work: () throws -> Void) throws {
        #expect { try work() } throws: { error in
            let error = error as? MediaError
            return error?.code == .changed && error?.message.contains("shorter") == true
        }
        #expect(try folder.names() == names)
    }

    @Test(arguments: ["a.mov", "a.mkv", "a.avi"]) func aProxyIsNotMade(name: String) throws {
        let film = try film(name)
        try expectChanged([name]) {
            let request = TranscodeRequest(preset: .proxy(ProxyPreset.all[0]))
            _ = try TranscodeJob(request, .media(Asset(path: film))).run(
                to: FilePath(folder.path("proxy.mov")), outputs: OutputFileSet(force: false, inputs: [])
            ) { _ in truncate(film) }
        }
    }

    @Test(arguments: [true, false]) func nothingIsExported(copies: Bool) throws {
        let film = try film("a.mov")
        let request = TranscodeRequest(preset: .export(copies ? .passthrough : nil))
        try expectChanged(["a.mov"]) {
            _ = try TranscodeJob(request, .media(Asset(path: film))).run(
                to: FilePath(folder.path("out.mov")), outputs: OutputFileSet(force: false, inputs: [])
            ) { _ in truncate(film) }
        }
    }

    /// PCM is read straight from the file, all else by libavformat.
    @Test(arguments: [("a.wav", "pcm_s16le"), ("a.flac", "flac"), ("a.mka", "pcm_s24le")])
    func noPeaksAreMeasured(name: String, codec: String) throws {
        let path = FilePath(folder.path(name))
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "anoisesrc=sample_rate=48000:duration=120", "-c:a", codec, path.string,
        ])
        var options = WaveformOptions()
        options.threads = 1
        try expectChanged([name]) {
            _ = try WaveformJob(asset: Asset(path: path), options: options).run(
                [WaveformOutput(path: FilePath(folder.path("a.dat")), format: .dat)],
                into: OutputFileSet(force: false, inputs: [])
            ) { _, _ in truncate(path) }
        }
    }

    @Test func aReaderFails() throws {
        let film = try film("a.mov")
        let asset = Asset(path: film)
        let reader = try AssetReader(asset: asset)
        let output = TrackOutput(track: try asset.loadNow(.tracks)[0])
        try reader.add(output)
        try reader.startReading()
        #expect(try output.nextSampleBuffer() != nil)
        truncate(film)
        #expect { while try output.nextSampleBuffer() != nil {} } throws: { ($0 as? MediaError)?.code == .changed }
        #expect(reader.status == .failed && reader.error?.code == .changed)
    }

    /// Images that were made before are right; of the others none is.
    @Test func imagesAfterItAreNotMade() throws {
        let film = try film("a.mov")
        var request = ThumbsRequest(times: .count(40))
        request.threads = 1
        let names = try ThumbsNameTemplate(parsing: Array(folder.path("{index}.png").utf8))
        let job = ThumbsJob(request, output: ThumbsOutput(images: .files(names)))
        #expect {
            let input = ThumbsJob.Input(
                path: film, isStandardInput: false, options: Asset.Options(), asset: nil
            ) { Asset(path: film, options: $0) }
            let report = try job.run(on: input, outputs: OutputFileSet(force: false, inputs: [])) { _ in
                truncate(film)
            }
            let codes = report.images.compactMap { image -> MediaError.Code? in
                if case .failure(let error) = image.result { error.code } else { nil }
            }
            #expect(codes.count > 30 && codes.allSatisfy { $0 == .changed })
            throw MediaError(.changed, "")
        } throws: { ($0 as? MediaError)?.code == .changed }
    }

    /// A file that grows is read as far as it went when it was opened, or further.
    @Test func aFileMayGrow() throws {
        let film = try film("a.mkv")
        let asset = Asset(path: film)
        let reader = try AssetReader(asset: asset)
        let output = TrackOutput(track: try asset.loadNow(.tracks)[0])
        try reader.add(output)
        try reader.startReading()
        #expect(try output.nextSampleBuffer() != nil)
        let handle = try FileHandle(forWritingTo: URL(filePath: film.string))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(count: 4096))
        try handle.close()
        var count = 1
        while try output.nextSampleBuffer() != nil { count += 1 }
        #expect(count == 150)
    }
}
