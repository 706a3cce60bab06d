import AssetKit
import Foundation
import TestSupport
import Testing

/// Compositors of the user's own: data of instructions, required tracks, frames that are finished later, cancellation.
@Suite struct VideoCompositingTests {
    private func time(_ value: Int64, _ scale: Int32 = 25) -> MediaTime { MediaTime(value: value, timescale: scale) }

    private struct Look: Sendable { let adds: Int }

    /// What a compositor was asked, from any thread.
    private final class Log: @unchecked Sendable {
        private let lock = NSLock()
        private var list: [(time: MediaTime, tracks: [Int])] = []
        private var running = 0
        private(set) var most = 0
        private(set) var cancellations = 0

        var requests: [(time: MediaTime, tracks: [Int])] { lock.withLock { list.sorted { $0.time < $1.time } } }
        var isCancelled: Bool { lock.withLock { cancellations > 0 } }

        func begin(_ request: AsynchronousVideoCompositionRequest) {
            lock.withLock {
                list.append((request.time, request.sourceTrackIDs))
                running += 1
                most = max(most, running)
            }
        }
        func end() { lock.withLock { running -= 1 } }
        func cancel() { lock.withLock { cancellations += 1 } }
    }

    /// Draws the number of the first required track's frame, plus what the instruction adds, in a later moment.
    private struct Later: VideoCompositing {
        let log: Log
        let pool: PixelBufferPool

        func startRequest(_ request: AsynchronousVideoCompositionRequest) {
            log.begin(request)
            // The later ones first. Not in a task, because tests block the threads of tasks.
            let delay = DispatchTimeInterval.milliseconds(request.time.value % 2 == 0 ? 15 : 1)
            DispatchQueue.global().asyncAfter(deadline: .now() + delay) {
                log.end()
                do throws(MediaError) {
                    request.finish(with: try picture(request))
                } catch {
                    request.finish(with: error)
                }
                // Only the first answer counts.
                request.finish(with: MediaError(.damaged, "twice"))
            }
        }

        private func picture(_ request: AsynchronousVideoCompositionRequest) throws(MediaError) -> PixelBuffer {
            guard let look = request.instruction.userData as? Look, let id = request.sourceTrackIDs.first,
                let source = request.sourceFrame(byTrackID: id)
            else { throw MediaError(.invalidArgument, "there is nothing to draw") }
            let number = Numbered.number(of: source) + look.adds
            return try pool.makePixelBuffer { plane, bytes, stride in
                for place in 0..<bytes.byteCount {
                    let bit = place % stride / 16
                    let value: UInt8 = plane > 0 ? 128 : bit < 12 && number >> bit & 1 == 1 ? 235 : 16
                    bytes.storeBytes(of: value, toByteOffset: place, as: UInt8.self)
                }
            }
        }
    }

    /// Never finishes a request until it is cancelled.
    private struct Never: VideoCompositing {
        let log: Log
        func startRequest(_ request: AsynchronousVideoCompositionRequest) { log.begin(request) }
        func cancelAllPendingVideoCompositionRequests() { log.cancel() }
    }

    private func twoTracks(in folder: TemporaryFolder) throws -> (Asset, [Int], [Numbered]) {
        let sources = [
            try Numbered("a.mp4", in: folder, source: 1, rate: "25", count: 40),
            try Numbered("b.mp4", in: folder, source: 2, rate: "25", count: 40),
        ]
        var composition = Composition()
        var ids: [Int] = []
        for source in sources {
            let id = try composition.addTrack(mediaType: .video)
            try composition.insertTimeRange(
                MediaTimeRange(start: .zero, end: time(30)), of: source.track, in: source.asset, at: .zero, into: id)
            ids.append(id)
        }
        return (Asset(composition: composition), ids, sources)
    }

    @Test func framesAreFinishedInAnyOrder() throws {
        let folder = try TemporaryFolder()
        let (asset, ids, sources) = try twoTracks(in: folder)
        let log = Log()
        var parts = [(0, 10), (10, 20), (20, 30)].map {
            VideoComposition.Instruction(timeRange: MediaTimeRange(start: time($0.0), end: time($0.1)))
        }
        (parts[0].userData, parts[0].requiredSourceTrackIDs) = (Look(adds: 3), [ids[1]])
        (parts[1].userData, parts[1].passthroughTrackID) = (Look(adds: 0), ids[0])
        parts[2].userData = Look(adds: 5)
        var video = VideoComposition(renderSize: Numbered.size, frameDuration: time(1), instructions: parts)
        video.compositor = Later(
            log: log, pool: try PixelBufferPool(dimensions: Numbered.size, pixelFormat: .yuv420p))
        let output = try VideoCompositionOutput(
            tracks: asset.loadNow(.tracks), videoSettings: VideoSettings(pixelFormat: .yuv420p),
            videoComposition: video)
        let reader = try AssetReader(asset: asset)
        try reader.add(output)
        try reader.startReading()
        func expected(_ index: Int) -> Int? {
            switch index {
            case ..<10: sources[1].number(at: time(Int64(index))).map { $0 + 3 }
            case ..<20: sources[0].number(at: time(Int64(index)))
            default: sources[0].number(at: time(Int64(index))).map { $0 + 5 }
            }
        }
        for index in 0..<30 {
            let frame = try #require(try output.nextSampleBuffer())
            #expect(frame.presentationTime == time(Int64(index)))
            #expect(frame.pixelBuffer.map { Numbered.number(of: $0) } == expected(index))
        }
        #expect(try output.nextSampleBuffer() == nil)
        // Frames that are passed through are not asked for; the others come with the tracks that they need.
        let asked = Array(0..<10) + Array(20..<30)
        #expect(log.requests.map(\.time) == asked.map { time(Int64($0)) })
        #expect(log.requests.map(\.tracks) == Array(repeating: [ids[1]], count: 10) + Array(repeating: ids, count: 10))
        #expect(log.most > 1 && log.most <= 16)
        // Images are made by the same compositor.
        let generator = ImageGenerator(asset: asset)
        generator.videoComposition = video
        for index in [4, 14, 24] {
            let image = try generator.generateNow(at: time(Int64(index))).image
            #expect(Numbered.number(of: (0..<Numbered.size.width).map { image[$0, 20].green }) == expected(index))
        }
    }

    @Test func cancellingEndsRequestsThatNobodyFinishes() throws {
        let folder = try TemporaryFolder()
        let (asset, _, _) = try twoTracks(in: folder)
        let log = Log()
        let whole = VideoComposition.Instruction(timeRange: MediaTimeRange(start: .zero, end: time(30)))
        var video = VideoComposition(renderSize: Numbered.size, frameDuration: time(1), instructions: [whole])
        video.compositor = Never(log: log)
        let output = try VideoCompositionOutput(tracks: asset.loadNow(.tracks), videoComposition: video)
        let reader = try AssetReader(asset: asset)
        try reader.add(output)
        try reader.startReading()
        let waiting = Background { errorCode { try output.nextSampleBuffer() } }
        while log.requests.isEmpty { Thread.sleep(forTimeInterval: 0.01) }
        reader.cancelReading()
        #expect(try waiting.value() == .cancelled)
        #expect(log.isCancelled && reader.status == .cancelled)
        let generator = ImageGenerator(asset: asset)
        generator.videoComposition = video
        let count = log.requests.count
        let image = Background { errorCode { try generator.generateNow(at: .zero) } }
        while log.requests.count == count { Thread.sleep(forTimeInterval: 0.01) }
        generator.cancelAllImageGeneration()
        #expect(try image.value() == .cancelled)
    }

    @Test func anErrorOfACompositorEndsReading() throws {
        let folder = try TemporaryFolder()
        let (asset, _, _) = try twoTracks(in: folder)
        // Without data, the compositor has nothing to draw.
        let whole = VideoComposition.Instruction(timeRange: MediaTimeRange(start: .zero, end: time(30)))
        var video = VideoComposition(renderSize: Numbered.size, frameDuration: time(1), instructions: [whole])
        video.compositor = Later(
            log: Log(), pool: try PixelBufferPool(dimensions: Numbered.size, pixelFormat: .yuv420p))
        let output = try VideoCompositionOutput(tracks: asset.loadNow(.tracks), videoComposition: video)
        let reader = try AssetReader(asset: asset)
        try reader.add(output)
        try reader.startReading()
        #expect(errorCode { try output.nextSampleBuffer() } == .invalidArgument)
        #expect(reader.status == .failed && reader.error?.message == "there is nothing to draw")
        #expect(errorCode { try output.nextSampleBuffer() } == .invalidArgument)
    }
}
