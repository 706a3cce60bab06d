import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite struct AssetTests {
    /// The error code of loading an asset, by path.
    private func code(_ path: String) -> MediaError.Code? {
        errorCode { try Asset(path: FilePath(path)).loadNow(.tracks) }
    }

    @Test func failuresSayWhatKindTheyAre() throws {
        let folder = try TemporaryFolder()
        #expect(code(folder.path("missing.mp4")) == .notFound)
        #expect(code(folder.path) == .notAFile)
        #expect(try code(Fixtures.path("empty.mp4")) == .unknownFormat)
        #expect(try code(Fixtures.path("text.mp4")) == .unknownFormat)
        #expect(try code(Fixtures.path("hls-list.mp4")) == .nestedFileRefused)
        #expect(try code(Fixtures.path("concat-list.wav")) == .nestedFileRefused)
        #expect(try code(Fixtures.path("truncated-header.mp4")) == .damaged)
        #expect(try code(Fixtures.path("av.mp4") + "/inside") == .notFound)
    }

    @Test(.enabled(if: getuid() != 0)) func unreadableFiles() throws {
        let folder = try TemporaryFolder()
        let path = try folder.copy(fixture: "av.mp4")
        chmod(path, 0)
        #expect(code(path) == .permissionDenied)
    }

    @Test func errorsNameTheFile() async throws {
        let asset = Asset(path: "/no/such/file.mov")
        do throws(MediaError) {
            _ = try await asset.load(.duration)
            Issue.record("loaded")
        } catch {
            #expect(error.path == "/no/such/file.mov")
            #expect(!error.message.contains("\n"))
        }
    }

    @Test func statusFollowsLoading() async throws {
        let asset = try Media.asset("av.mp4")
        guard case .unknown = asset.status(of: .duration) else {
            throw TestSupportError("\(asset.status(of: .duration))")
        }
        let duration = try await asset.load(.duration)
        guard case .loaded(let known) = asset.status(of: .duration) else { throw TestSupportError("not loaded") }
        #expect(known == duration)
        guard case .loaded(let tracks) = asset.status(of: .tracks) else { throw TestSupportError("not loaded") }
        #expect(tracks.count == 2)
        let missing = Asset(path: "/no/such/file.mov")
        _ = try? await missing.load(.tracks)
        guard case .failed(let error) = missing.status(of: .tracks) else { throw TestSupportError("not failed") }
        #expect(error.code == .notFound)
    }

    @Test func manyTasksLoadAtOnce() async throws {
        let asset = try Media.asset("many-tracks.mkv")
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<100 {
                group.addTask {
                    index.isMultiple(of: 2) ? try await asset.load(.tracks).count : try asset.loadNow(.tracks).count
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == [Int](repeating: 5, count: 100))
    }

    @Test func durationsAreTheContainers() throws {
        // sox made 144033 samples at 48 kHz; 75 frames at 25 a second.
        #expect(try Media.asset("pcm-s16-stereo.wav").loadNow(.duration) == .samples(144_033, at: 48_000))
        #expect(try Media.asset("aac.m4a").loadNow(.duration) == .samples(144_033, at: 48_000))
        #expect(try Media.asset("video-only.mp4").loadNow(.duration) == MediaTime(value: 3, timescale: 1))
        #expect(try Media.asset("h264-bframes.mp4").loadNow(.duration) == MediaTime(value: 3, timescale: 1))
    }

    @Test func preciseTimingCountsAllPackets() throws {
        // 75 pictures at 25 a second, by golden/frames/mpegts-10s.ts.v0.tsv.
        let track = try Media.track(Media.asset("mpegts-10s.ts", isPrecise: true), .video)
        #expect(track.sampleCount == 75)
        #expect(track.timeRange.start == FrameTableStart.mpegts)
        #expect(track.timeRange.duration == MediaTime(value: 3, timescale: 1))
    }

    /// When the first picture of the transport stream is shown, by its golden table.
    private enum FrameTableStart {
        static var mpegts: MediaTime? { try? FrameTable("mpegts-10s.ts").frames.first?.time }
    }
}

// MARK: - Cancelling

extension AssetTests {
    @Test func cancellingBeforeLoading() async throws {
        let asset = try Media.asset("av.mp4")
        asset.cancelLoading()
        asset.cancelLoading()
        #expect(errorCode { try asset.loadNow(.tracks) } == .cancelled)
        guard case .cancelled = asset.status(of: .tracks) else { throw TestSupportError("not cancelled") }
    }

    /// A pipe that delivers the beginning of a fixture and then nothing, until it is closed.
    private func silentPipe(_ bytes: some Sequence<UInt8> & Sendable) throws -> (
        reading: FileDescriptor, writing: FileDescriptor
    ) {
        let (reading, writing) = try FileDescriptor.pipe()
        try writing.writeAll(bytes)
        return (reading, writing)
    }

    @Test(arguments: [0, 54, 4000]) func cancellingASilentPipe(_ count: Int) throws {
        let (reading, writing) = try silentPipe(Fixtures.bytes("pcm-s16-stereo.wav").prefix(count))
        defer { for end in [reading, writing] { try? end.close() } }
        let asset = Asset(descriptor: reading)
        let loading = Background { errorCode { try asset.loadNow(.tracks) } }
        usleep(250_000)
        guard case .loading = asset.status(of: .tracks) else { throw TestSupportError("not loading") }
        let begun = Date()
        asset.cancelLoading()
        #expect(try loading.value(within: 5) == .cancelled)
        #expect(Date().timeIntervalSince(begun) < 1)
        guard case .cancelled = asset.status(of: .tracks) else { throw TestSupportError("not cancelled") }
    }

    @Test func cancellingAFIFOThatNobodyWritesTo() throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.path("fifo"), 0o600) == 0)
        let asset = Asset(path: FilePath(folder.path("fifo")))
        let loading = Background { errorCode { try asset.loadNow(.tracks) } }
        usleep(250_000)
        asset.cancelLoading()
        #expect(try loading.value(within: 5) == .cancelled)
    }

    @Test func cancellingOneOfTwoTasksLeavesTheOther() async throws {
        let bytes = try Fixtures.bytes("pcm-s16-mono.wav")
        let (reading, writing) = try silentPipe(bytes.prefix(1000))
        defer { try? reading.close() }
        let asset = Asset(descriptor: reading)
        let unwanted = Task { try await asset.load(.tracks).count }
        let wanted = Task { try await asset.load(.tracks).count }
        try await Task.sleep(for: .milliseconds(200))
        unwanted.cancel()
        try await Task.sleep(for: .milliseconds(200))
        let feeding = Background {
            // The reader closes nothing: all that fits the pipe is enough for the header.
            try writing.writeAll(bytes.dropFirst(1000).prefix(60_000))
            try writing.close()
        }
        #expect(try await wanted.value == 1)
        try feeding.value()
    }

    @Test func cancellingTheOnlyTaskCancelsLoading() async throws {
        let (reading, writing) = try silentPipe(Fixtures.bytes("pcm-s16-mono.wav").prefix(1000))
        defer { for end in [reading, writing] { try? end.close() } }
        let asset = Asset(descriptor: reading)
        let task = Task { () -> MediaError.Code? in
            do { _ = try await asset.load(.tracks) } catch { return (error as? MediaError)?.code }
            return nil
        }
        try await Task.sleep(for: .milliseconds(200))
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test func cancellingAfterLoadingHarmsNoReader() async throws {
        let asset = try Media.asset("av.mp4")
        let output = TrackOutput(
            track: try Media.track(asset, .audio), audioSettings: AudioSettings(sampleFormat: .int16))
        let reader = try Media.start(output, of: asset)
        #expect(try output.nextSampleBuffer() != nil)
        asset.cancelLoading()
        let task = Task { try await asset.load(.tracks).count }
        task.cancel()
        #expect(try await task.value == 2)
        _ = try output.remaining()
        #expect(reader.status == .completed)
        let second = TrackOutput(track: try Media.track(asset, .video))
        #expect(try Media.all(second, of: asset).count == 75)
    }
}

// MARK: - Streams

extension AssetTests {
    @Test func aPipeIsReadOnce() throws {
        let bytes = try Fixtures.bytes("h264-aac.mkv")
        let (reading, writing) = try FileDescriptor.pipe()
        defer { try? reading.close() }
        let feeding = Background {
            try writing.writeAll(bytes)
            try writing.close()
        }
        let asset = Asset(descriptor: reading)
        let output = TrackOutput(track: try Media.track(asset, .video), videoSettings: VideoSettings())
        let first = try Media.all(output, of: asset)
        #expect(try first.map(\.presentationTime) == FrameTable("h264-aac.mkv").frames.map(\.time))
        try feeding.value()
        let again = TrackOutput(track: try Media.track(asset, .video))
        let reader = try AssetReader(asset: asset)
        try reader.add(again)
        #expect(errorCode { try reader.startReading() } == .invalidArgument)
        #expect(reader.status == .failed)
        // The descriptor is the caller's, and still open.
        #expect(fcntl(reading.rawValue, F_GETFD) >= 0)
    }

    @Test func aSecondReaderOfAPipeTakesNothingFromTheFirst() throws {
        let bytes = try Fixtures.bytes("pcm-s16-stereo.wav")
        let (reading, writing) = try FileDescriptor.pipe()
        defer { try? reading.close() }
        let feeding = Background {
            try writing.writeAll(bytes)
            try writing.close()
        }
        let asset = Asset(descriptor: reading)
        let track = try Media.track(asset, .audio)
        let output = TrackOutput(track: track, audioSettings: AudioSettings(sampleFormat: .int16))
        let reader = try Media.start(output, of: asset)
        _ = try output.nextSampleBuffer()
        let second = try AssetReader(asset: asset)
        try second.add(TrackOutput(track: track))
        #expect(errorCode { try second.startReading() } == .invalidArgument)
        let rest = try output.remaining()
        #expect(rest.last?.timeRange.end == .samples(144_033, at: 48_000))
        #expect(reader.status == .completed)
        try feeding.value()
    }

    @Test func aFileByDescriptorCanBeReadTwice() throws {
        let descriptor = try FileDescriptor.open(FilePath(Fixtures.path("aac.m4a")), .readOnly)
        defer { try? descriptor.close() }
        let asset = Asset(descriptor: descriptor)
        for _ in 0..<2 {
            let output = TrackOutput(
                track: try Media.track(asset, .audio), audioSettings: AudioSettings(sampleFormat: .int16))
            #expect(try PlacedSound(Media.all(output, of: asset), format: .int16).count == 144_033)
        }
        #expect(try descriptor.seek(offset: 0, from: .current) == 0)
    }
}
