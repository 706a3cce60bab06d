import AssetKit
import Foundation
import MediaBase
import Synchronization
import SystemPackage
import TestSupport
import Testing

@Suite struct ExportSessionTests {
    private func export(
        _ fixture: String, _ preset: ExportSession.Preset, to name: String,
        _ change: (ExportSession) -> Void = { _ in }
    ) async throws -> Written {
        let file = try Written(name)
        let session = ExportSession(asset: try Media.asset(fixture), preset: preset)
        change(session)
        let type = try #require(MediaFileType(pathExtension: String(name.split(separator: ".").last ?? "")))
        try await session.export(to: FilePath(file.path), as: type)
        #expect(session.state == .completed)
        return file
    }

    /// Codec and size by ffprobe's word; the fixture has pictures of 160 by 90 and sound.
    @Test(arguments: [
        (ExportSession.Preset.lowQuality, "o.mp4", "h264,160,90", "aac"),
        (.size640x480, "o.mov", "h264,160,90", "aac"),
        (.proRes422LPCM, "o.mov", "prores,160,90", "pcm_s24le"), (.passthrough, "o.mkv", "h264,160,90", "aac"),
    ])
    func presetsMakeWhatTheySay(
        preset: ExportSession.Preset, name: String, video: String, audio: String
    ) async throws {
        let file = try await export("av.mp4", preset, to: name)
        #expect(try file.probe("v:0", "stream=codec_name,width,height") == [video])
        #expect(try file.probe("a:0", "stream=codec_name") == [audio])
    }

    @Test func soundAloneHasNoPictures() async throws {
        let file = try await export("av.mp4", .appleM4A, to: "o.m4a")
        #expect(try file.probe("v", "stream=codec_name").joined().isEmpty)
        #expect(try file.probe("a:0", "stream=codec_name") == ["aac"])
    }

    @Test func aRangeAndMetadataAreWritten() async throws {
        let file = try await export("av.mp4", .highestQuality, to: "o.mov") { session in
            session.timeRange = MediaTimeRange(
                start: MediaTime(value: 1, timescale: 2), duration: MediaTime(value: 1, timescale: 1))
            session.metadata = [
                MetadataItem(keySpace: .quickTimeUserData, name: "title", value: .text("A part"))
            ]
        }
        #expect(try file.probe("v:0", "stream=duration").first.flatMap(Double.init) == 1)
        #expect(try FFmpeg.probe(["-show_entries", "format_tags=title", "-of", "csv=p=0", file.path]) == ["A part"])
    }

    @Test func presetsKnowWhatTheyCanMake() async throws {
        let sound = try await ExportSession.compatiblePresets(for: Media.asset("aac.m4a"))
        #expect(sound == [.appleM4A, .passthrough])
        let film = try await ExportSession.compatiblePresets(for: Media.asset("av.mp4"))
        #expect(film == ExportSession.Preset.allCases)
        let silent = try await ExportSession.compatiblePresets(for: Media.asset("video-only.mp4"))
        #expect(!silent.contains(.appleM4A) && silent.contains(.proRes422LPCM))
        let session = ExportSession(asset: try Media.asset("av.mp4"), preset: .passthrough)
        let types = try await session.supportedFileTypes()
        #expect(types.contains(.mov) && types.contains(.mkv) && !types.contains(.wav) && !types.contains(.webm))
    }

    @Test func statesEndWithTheLast() async throws {
        let file = try Written("o.mov")
        let session = ExportSession(asset: try Media.asset("mpegts-10s.ts"), preset: .mediumQuality)
        #expect(session.state == .pending)
        async let done: Void = session.export(to: FilePath(file.path), as: .mov)
        var states: [ExportSession.State] = []
        for await state in session.states(updateInterval: .milliseconds(5)) { states.append(state) }
        try await done
        #expect(states.last == .completed)
        let parts = states.compactMap { if case .exporting(let part) = $0 { part } else { nil } }
        #expect(parts == parts.sorted() && parts.allSatisfy { (0...1).contains($0) })
        await #expect(throws: MediaError.self) { try await session.export(to: FilePath(file.path), as: .mov) }
    }

    @Test func cancellingLeavesNothing() async throws {
        for round in 0..<8 {
            let file = try Written("o.mov")
            let session = ExportSession(asset: try Media.asset("mpegts-10s.ts"), preset: .highestQuality)
            let task = Task { try await session.export(to: FilePath(file.path), as: .mov) }
            try await Task.sleep(for: .milliseconds(round * 15))
            session.cancel()
            let result = await task.result
            if case .success = result { continue }
            #expect(session.state == .cancelled)
            #expect(try file.folder.names() == [])
        }
    }

    @Test func aTypeThatCannotBeMadeIsRefused() async throws {
        let file = try Written("o.wav")
        let session = ExportSession(asset: try Media.asset("av.mp4"), preset: .highestQuality)
        await #expect(throws: MediaError.self) { try await session.export(to: FilePath(file.path), as: .wav) }
        #expect(try file.folder.names() == [])
    }

    /// Within a factor of two of what ProRes and PCM really take.
    @Test func theLengthIsEstimated() async throws {
        let session = ExportSession(asset: try Media.asset("aac.m4a"), preset: .appleM4A)
        let estimate = try #require(try await session.estimatedOutputFileLength())
        let file = try await export("aac.m4a", .appleM4A, to: "o.m4a")
        let real = try file.folder.bytes("o.m4a").count
        #expect(Double(estimate) > Double(real) * 0.5 && Double(estimate) < Double(real) * 2)
    }

    /// Also by another name, and where the file is one of a composition's sources.
    @Test(arguments: [false, true])
    func anExportNeverReplacesWhatItReads(isComposition: Bool) async throws {
        let folder = try TemporaryFolder()
        let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: Fixtures.path("av.mp4"))))
        try folder.write("a.mp4", bytes)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link.mp4"), withDestinationPath: folder.path("a.mp4"))
        try FileManager.default.linkItem(atPath: folder.path("a.mp4"), toPath: folder.path("hard.mp4"))
        for name in ["a.mp4", "link.mp4", "hard.mp4"] {
            var asset = Asset(path: FilePath(folder.path("a.mp4")))
            if isComposition {
                var composition = Composition()
                try composition.insertTimeRange(
                    MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 1)), of: asset, at: .zero)
                asset = Asset(composition: composition)
            }
            let session = ExportSession(asset: asset, preset: .lowQuality)
            let error = await #expect(throws: MediaError.self) {
                try await session.export(to: FilePath(folder.path(name)), as: .mp4, overwrite: true)
            }
            #expect(error?.code == .invalidArgument, "\(name) \(error as Any)")
            #expect(error?.path == folder.path(name))
        }
        #expect(try folder.bytes("a.mp4") == bytes)
        #expect(try folder.names().sorted() == ["a.mp4", "hard.mp4", "link.mp4"])
    }

    @Test func whatIsSetWhileExportingEndsTheExport() async throws {
        let (file, film) = (try Written("o.mov"), try Written("film.mov"))
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=d=20:s=640x360", "-c:v", "mjpeg", "-movflags", "+faststart", film.path,
        ])
        // Still at work when it is changed, however long that takes.
        let source = HalfReleased(try film.folder.bytes("film.mov"))
        let session = ExportSession(asset: Asset(source: source), preset: .highestQuality)
        let export = Task { try await session.export(to: FilePath(file.path), as: .mov) }
        for await state in session.states(updateInterval: .milliseconds(5)) {
            if case .exporting(let progress) = state, progress > 0 { break }
        }
        session.timeRange = MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 1))
        source.release()
        let error = await #expect(throws: MediaError.self) { try await export.value }
        #expect(error?.code == .invalidArgument && error?.message.hasPrefix("timeRange was set too late") == true)
        #expect(try file.folder.names() == [])
    }
}

/// A source whose second half, but for its end, can be read only after it was released; until then, such reads wait.
private final class HalfReleased: ByteSource {
    private let bytes: [UInt8]
    private let isReleased = Atomic(false)

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var size: UInt64? { UInt64(bytes.count) }

    func release() { isReleased.store(true, ordering: .releasing) }

    func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
        let start = Int(offset)
        let waits = start + count > bytes.count / 2 && start < bytes.count * 9 / 10
        while waits, !isReleased.load(ordering: .acquiring) { usleep(1000) }
        return start < bytes.count ? Array(bytes[start...].prefix(count)) : []
    }
}
