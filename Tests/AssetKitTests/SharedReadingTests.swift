import Foundation
import TestSupport
import Testing
import Threading

@testable import AssetKit

/// Jobs that share one reading get what they get alone.
@Suite struct SharedReadingTests {
    /// The times and a hash of what an output delivers.
    private struct Run: Equatable, Sendable {
        var times: [MediaTime] = []
        var hash = 0

        mutating func add(_ buffer: SampleBuffer) {
            times.append(buffer.presentationTime)
            var hasher = Hasher()
            hasher.combine(hash)
            switch buffer.content {
            case .picture(let picture):
                for plane in 0..<picture.planeCount { hasher.combine(picture.packedPlane(plane)) }
            case .sound(let sound):
                hasher.combine(sound.withBytes { span in span.withUnsafeBytes { Array($0) } })
            case .stored(let sample):
                hasher.combine(sample.withBytes { span in span.withUnsafeBytes { Array($0) } })
            }
            hash = hasher.finalize()
        }
    }

    /// Reads the outputs of a job in turn, those that are behind first.
    private static func read(_ asset: Asset, _ settings: [(MediaType, TrackOutput.Settings)]) throws -> [Run] {
        let reader = try AssetReader(asset: asset)
        reader.joinsSharedReading = true
        reader.decodesAudioInChunks = true
        let outputs = try settings.map { type, settings in
            TrackOutput(track: try Media.track(asset, type), settings: settings)
        }
        for output in outputs { try reader.add(output) }
        try reader.startReading()
        var runs = outputs.map { _ in Run() }
        var open = Set(outputs.indices)
        while let next = open.min(by: { (runs[$0].times.last ?? .zero) < (runs[$1].times.last ?? .zero) }) {
            if let buffer = try outputs[next].nextSampleBuffer() { runs[next].add(buffer) } else { open.remove(next) }
        }
        return runs
    }

    private static let jobs: [[(MediaType, TrackOutput.Settings)]] = [
        [(.video, .video(VideoSettings())), (.audio, .audio(AudioSettings()))],
        [(.audio, .audio(AudioSettings()))],
        [(.video, .video(VideoSettings(pixelFormat: .gray, dimensions: Dimensions(width: 64, height: 36))))],
        [(.video, .stored), (.audio, .stored)],
        // Another form of audio is not shared.
        [(.audio, .audio(AudioSettings(sampleFormat: .int16)))],
    ]

    @Test(arguments: ["av.mp4", "h264-aac.mkv", "mpegts-10s.ts", "late-audio.mp4", "prores.mov"])
    func everyJobGetsWhatItGetsAlone(_ name: String) throws {
        let asset = try Media.asset(name)
        let types = Set(try asset.loadNow(.tracks).map(\.mediaType))
        let jobs = Self.jobs.filter { $0.allSatisfy { types.contains($0.0) } }
        let alone = try jobs.map { try Self.read(try Media.asset(name), $0) }
        let reading = SharedReading(asset)
        let seats = jobs.map { _ in reading.makeSeat() }
        let results = Mutex<[Int: Result<[Run], any Error>]>([:])
        let running = Monitor(jobs.count)
        for (number, (job, seat)) in zip(jobs, seats).enumerated() {
            try WorkerThread {
                let result = Result { try Self.read(seat.asset, job) }
                seat.leave()
                results.withLock { $0[number] = result }
                running.update { $0 -= 1 }
            }.detach()
        }
        reading.run()
        running.wait { $0 == 0 ? () : nil }
        for number in jobs.indices {
            let shared = try results.withLock { try $0[number]?.get() }
            #expect(shared == alone[number], "job \(number)")
            #expect(alone[number].allSatisfy { !$0.times.isEmpty })
        }
        // Only the job whose form of audio is not shared has read for itself.
        #expect(asset.packetsDelivered > 0)
        let ownAudio = types.contains(.audio) ? alone[jobs.count - 1][0].times.count : 0
        #expect((asset.prerollPackets > 0) == (ownAudio > 0))
    }

    @Test func jobThatLeavesHoldsUpNobody() throws {
        let asset = try Media.asset("av.mp4")
        let reading = SharedReading(asset)
        let (early, whole, never) = (reading.makeSeat(), reading.makeSeat(), reading.makeSeat())
        let frames = Mutex(0)
        let running = Monitor(2)
        try WorkerThread {
            _ = try? Self.readFirst(early.asset)
            early.leave()
            running.update { $0 -= 1 }
        }.detach()
        try WorkerThread {
            let runs = try? Self.read(whole.asset, [(.video, .video(VideoSettings()))])
            whole.leave()
            frames.withLock { $0 = runs?[0].times.count ?? 0 }
            running.update { $0 -= 1 }
        }.detach()
        never.leave()
        reading.run()
        running.wait { $0 == 0 ? () : nil }
        let alone = try Self.read(try Media.asset("av.mp4"), [(.video, .video(VideoSettings()))])
        #expect(frames.withLock { $0 } == alone[0].times.count)
    }

    private static func readFirst(_ asset: Asset) throws {
        let reader = try AssetReader(asset: asset)
        reader.joinsSharedReading = true
        let output = TrackOutput(track: try Media.track(asset, .video), videoSettings: VideoSettings())
        try reader.add(output)
        try reader.startReading()
        _ = try output.nextSampleBuffer()
    }

    @Test(arguments: ["av.mp4", "late-video.mp4", "vfr.mp4", "truncated.mp4", "mpegts-10s.ts"])
    func passingFramesAreThoseOfTheGenerator(_ name: String) throws {
        let asset = try Media.asset(name)
        let end = try asset.loadNow(.duration).seconds
        let times = stride(from: -0.05, through: end + 0.3, by: 0.13).map {
            MediaTime(value: Int64($0 * 1000), timescale: 1000)
        }
        let generator = ImageGenerator(asset: try Media.asset(name))
        generator.configuration.requestedTimeToleranceBefore = .zero
        generator.configuration.requestedTimeToleranceAfter = .zero
        let wanted = times.map { time in Result { try generator.generateNow(at: time) } }
        let reading = SharedReading(asset)
        let seat = reading.makeSeat()
        let found = Mutex<[Int: Result<ImageGenerator.GeneratedImage, MediaError>]>([:])
        let running = Monitor(1)
        try WorkerThread {
            let passing = ImageGenerator(asset: seat.asset)
            try? passing.passingFrames(at: times) { place, frame throws(MediaError) in
                let image = frame.flatMap { frame in
                    Result { () throws(MediaError) in try frame.image(at: times[place], passing.configuration) }
                }
                found.withLock { $0[place] = image }
            }
            seat.leave()
            running.update { $0 -= 1 }
        }.detach()
        reading.run()
        running.wait { $0 == 0 ? () : nil }
        for (place, wanted) in wanted.enumerated() {
            let found = found.withLock { $0[place] }
            switch (wanted, found) {
            case (.success(let wanted), .success(let found)?):
                #expect(found.actualTime == wanted.actualTime, "\(times[place].seconds)")
                let isSame = found.image.bytes == wanted.image.bytes
                #expect(isSame)
                #expect(found.isKeyframe == wanted.isKeyframe)
            case (.failure(let wanted), .failure(let found)?):
                #expect((wanted as? MediaError)?.code == found.code, "\(times[place].seconds)")
            default: Issue.record("at \(times[place].seconds): \(wanted) and \(String(describing: found))")
            }
        }
    }
}
