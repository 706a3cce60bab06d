import CFFmpeg
import Glibc
package import MediaBase
import Threading

/// A libav return code: 0 or greater for success, negative (`AVERROR`) for failure.
package struct AVStatus: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The value that the C function returned.
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// True if the call failed, which includes ``again`` and ``endOfFile``; check for those first.
    package var isFailure: Bool { rawValue < 0 }

    /// More input is needed before output is available: `AVERROR(EAGAIN)`.
    package static let again = AVStatus(rawValue: shim_error_again)
    /// No more data follows: `AVERROR_EOF`.
    package static let endOfFile = AVStatus(rawValue: shim_error_eof)
    /// The interrupt callback requested a stop: `AVERROR_EXIT`.
    package static let exit = AVStatus(rawValue: shim_error_exit)
    /// The data violates its format: `AVERROR_INVALIDDATA`.
    package static let invalidData = AVStatus(rawValue: shim_error_invalid_data)
    /// Memory allocation failed: `AVERROR(ENOMEM)`.
    package static let noMemory = AVStatus(rawValue: shim_error_no_memory)
    /// The system failed to read or write: `AVERROR(EIO)`.
    package static let inputOutput = AVStatus(rawValue: shim_error_input_output)
    /// The package's own `io_open` callback refused a nested file: `AVERROR(EPERM)`.
    package static let notPermitted = AVStatus(rawValue: shim_error_not_permitted)
    /// The input does not support the operation: `AVERROR(ENOSYS)`.
    package static let noSystemCall = AVStatus(rawValue: shim_error_no_system_call)

    /// The library rejected an argument as invalid: `AVERROR(EINVAL)`.
    package static let invalidArgument = AVStatus(rawValue: shim_error_invalid_argument)

    /// libav's message for the code (`av_strerror`).
    package var description: String {
        var text = [CChar](repeating: 0, count: 128)
        av_strerror(rawValue, &text, text.count)
        return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }
}

// The only place that converts a libav status to the package's error.

extension MediaError {
    /// Creates the error for a failed libav call.
    ///
    /// - Parameters:
    ///   - status: The status that the call returned.
    ///   - call: The name of the C function, for the error's cause.
    ///   - doing: The attempted action, in words that complete "cannot …".
    package init(_ status: AVStatus, call: String, doing: String) {
        let logged = LibraryLog.takeLastLine().map { ": \($0)" } ?? ""
        let cause = "\(call): \(status)\(logged)"
        let limits: [(name: MediaLimits.Name, what: String)] = [
            (.streams, "more tracks"), (.pixels, "larger pictures"),
        ]
        if let (_, limit) = zip(LibraryLog.limitWords, limits).first(where: { logged.contains($0.0) }) {
            self.init(
                .limitExceeded, "has \(limit.what) than the limit \(limit.name.rawValue) allows; raise that to read it",
                cause: cause)
            return
        }
        switch status {
        case .exit:
            self.init(.cancelled, "cancelled")
        case .notPermitted:
            self.init(
                .nestedFileRefused, "cannot \(doing): the file refers to another file; allow nested files to follow it",
                cause: cause)
        case .invalidData, .endOfFile:
            self.init(.damaged, "cannot \(doing): the data is damaged or cut short", cause: cause)
        case .noMemory:
            self.init(.outOfResources, "cannot \(doing): out of memory", cause: cause)
        case .inputOutput:
            self.init(.inputOutput, "cannot \(doing): reading failed in the system", cause: cause)
        case AVStatus(rawValue: shim_error_decoder_not_found), AVStatus(rawValue: shim_error_patch_welcome),
            .noSystemCall:
            self.init(.unsupported, "cannot \(doing): this build of FFmpeg cannot do it", cause: cause)
        default:
            self.init(.libraryFailure, "cannot \(doing)", cause: cause)
        }
    }
}

extension AVStatus {
    /// Throws the mapped error if the result is a failure; otherwise returns the result.
    @discardableResult
    package static func check(
        _ result: Int32, _ call: String, doing: @autoclosure () -> String
    ) throws(MediaError) -> Int32 {
        guard result < 0 else { return result }
        throw MediaError(AVStatus(rawValue: result), call: call, doing: doing())
    }
}

/// libav's log, kept in memory as the last line of each thread instead of being printed.
///
/// Often only the log describes an error well. libav logs on the calling thread or on a codec's own threads. Lines from
/// codec threads belong to no particular call and are never read.
package enum LibraryLog {
    private static let lines = Mutex<[UInt: String]>([:])

    /// The maximum number of remembered threads; at this limit the table is cleared, so that codec threads cannot grow
    /// it.
    private static let limit = 64

    /// The log messages that report an exceeded limit, for which libav has no status of its own.
    static let limitWords = ["exceeds max_streams", "exceeds specified max pixel count"]

    /// Redirects libav's messages from standard error to memory; called once before libav is first used.
    package static func install() { _ = installed }

    private static let installed: Void = {
        shim_set_log_sink { _, line in
            guard let line else { return }
            LibraryLog.record(String(cString: line))
        }
    }()

    private static func record(_ line: String) {
        let text = String(line.drop { $0.isWhitespace }.prefix { !$0.isNewline })
        guard !text.isEmpty else { return }
        let thread = UInt(pthread_self())
        lines.withLock { lines in
            if lines.count >= limit { lines.removeAll(keepingCapacity: true) }
            // Later lines only report consequences of the exceeded limit.
            if let kept = lines[thread], limitWords.contains(where: { kept.contains($0) }) { return }
            lines[thread] = withoutAddresses(text)
        }
    }

    /// Removes and returns this thread's last log line, or its line about an exceeded limit if there is one.
    package static func takeLastLine() -> String? {
        let thread = UInt(pthread_self())
        return lines.withLock { $0.removeValue(forKey: thread) }
    }

    /// Removes the addresses from `[h264 @ 0x55…] text`, so that the same failure produces the same text in every run.
    private static func withoutAddresses(_ line: String) -> String {
        guard let at = line.firstRange(of: " @ 0x"), let close = line[at.upperBound...].firstIndex(of: "]") else {
            return line
        }
        return String(line[..<at.lowerBound] + line[close...])
    }
}

/// Returns what libav allocated.
///
/// - Throws: ``MediaError/Code-swift.struct/outOfResources`` if there was no memory.
func allocated<Pointer>(_ pointer: Pointer?) throws(MediaError) -> Pointer {
    guard let pointer else { throw MediaError(.outOfResources, "out of memory") }
    return pointer
}
