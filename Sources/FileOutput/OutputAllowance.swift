package import MediaBase
internal import Synchronization

/// How many bytes the outputs of one job may have together.
///
/// A file of a few bytes can ask for terabytes: years of silence, or the same samples a million times. Safe from any
/// thread.
package final class OutputAllowance: Sendable {
    private let used = Atomic<Int>(0)
    private let limit: @Sendable () -> Int

    /// Allows as many bytes as `limit` says, which may grow while a stream is read.
    package init(_ limit: @escaping @Sendable () -> Int) { self.limit = limit }

    /// Allows what is set, or what goes with inputs of so many bytes.
    package convenience init(_ limits: MediaLimits, forInputOf bytes: Int) {
        let limit = limits.outputBytes ?? MediaLimits.standardOutputBytes(forInputOf: bytes, copying: false)
        self.init { limit }
    }

    /// Takes so many bytes of what is left; `false` where there are fewer.
    package func take(_ count: Int) -> Bool {
        used.wrappingAdd(max(0, count), ordering: .relaxed).newValue <= limit()
    }

    /// Whether an output of so many bytes is within the limit by itself.
    package func holds(_ count: Int) -> Bool { count <= limit() }

    /// The error for what goes beyond.
    package var error: MediaError {
        MediaError(
            .outputLimit,
            "would become larger than the limit \(MediaLimits.Name.outputBytes.text(of: limit())); raise that to write it"
        )
    }
}
