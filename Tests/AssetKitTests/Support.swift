import AssetKit
import Foundation
import SystemPackage
import TestSupport

/// Short ways to open what the tests read.
enum Media {
    static func asset(_ fixture: String, isPrecise: Bool = false) throws -> Asset {
        var options = Asset.Options()
        options.isPrecise = isPrecise
        return Asset(path: FilePath(try Fixtures.path(fixture)), options: options)
    }

    /// The `place`th track of a kind; cover pictures do not count, as in the golden tables.
    static func track(_ asset: Asset, _ type: MediaType, _ place: Int = 0) throws -> AssetTrack {
        let tracks = try asset.loadNow(.tracks).filter { $0.mediaType == type && !$0.isAttachedPicture }
        guard tracks.indices.contains(place) else { throw TestSupportError("no \(type) track \(place)") }
        return tracks[place]
    }

    /// A started reader of one output.
    static func start(_ output: TrackOutput, of asset: Asset, in range: MediaTimeRange? = nil) throws -> AssetReader {
        let reader = try AssetReader(asset: asset)
        if let range { reader.timeRange = range }
        try reader.add(output)
        try reader.startReading()
        return reader
    }

    /// Everything that one output delivers.
    static func all(_ output: TrackOutput, of asset: Asset, in range: MediaTimeRange? = nil) throws -> [SampleBuffer] {
        let reader = try start(output, of: asset, in: range)
        let buffers = try output.remaining()
        withExtendedLifetime(reader) {}
        return buffers
    }
}

extension TrackOutput {
    /// All buffers that are still to come.
    func remaining() throws -> [SampleBuffer] {
        var buffers: [SampleBuffer] = []
        while let buffer = try nextSampleBuffer() { buffers.append(buffer) }
        return buffers
    }
}

extension MediaTime {
    /// The exact time of a golden table's rational.
    init(_ rational: (numerator: Int64, denominator: Int64)) {
        self.init(value: rational.numerator, timescale: Int32(clamping: rational.denominator))
    }

    static func samples(_ count: Int, at rate: Int) -> MediaTime {
        MediaTime(value: Int64(count), timescale: Int32(clamping: rate))
    }
}

/// Runs work on a thread of its own and hands over what it returned.
final class Background<Value: Sendable>: @unchecked Sendable {
    private let done = DispatchSemaphore(value: 0)
    private var result: Result<Value, any Error>?

    init(_ work: @escaping @Sendable () throws -> Value) {
        Thread.detachNewThread {
            self.result = Result { try work() }
            self.done.signal()
        }
    }

    /// What the work returned; throws where it takes longer than `seconds`.
    func value(within seconds: Double = 60) throws -> Value {
        guard done.wait(timeout: .now() + seconds) == .success, let result else {
            throw TestSupportError("not done within \(seconds) s")
        }
        return try result.get()
    }
}

/// The code of the error that `body` throws, or `nil` where it throws none.
func errorCode(_ body: () throws -> some Any) -> MediaError.Code? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? MediaError)?.code ?? MediaError.Code(rawValue: "other: \(error)")
    }
}
