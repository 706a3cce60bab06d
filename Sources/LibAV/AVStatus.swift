import CFFmpeg
import Glibc
package import MediaBase
import Threading

/// What a libav function returned, as a value: 0 or more on success, a negative code on failure (`AVERROR`).
package struct AVStatus: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number that the C function returned.
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Whether the call failed; ``again`` and ``endOfFile`` count, so look for them first.
    package var isFailure: Bool { rawValue < 0 }

    /// More input is wanted before there can be output: `AVERROR(EAGAIN)`.
    package static let again = AVStatus(rawValue: shim_error_again)
    /// Nothing more will come: `AVERROR_EOF`.
    package static let endOfFile = AVStatus(rawValue: shim_error_eof)
    /// The interrupt callback asked to stop: `AVERROR_EXIT`.
    package static let exit = AVStatus(rawValue: shim_error_exit)
    /// The data contradicts its format: `AVERROR_INVALIDDATA`.
    package static let invalidData = AVStatus(rawValue: shim_error_invalid_data)
    /// Memory ran out: `AVERROR(ENOMEM)`.
    package static let noMemory = AVStatus(rawValue: shim_error_no_memory)
    /// The system could not read or write: `AVERROR(EIO)`.
    package static let inputOutput = AVStatus(rawValue: shim_error_input_output)
    /// Our own `io_open` refused a nested file: `AVERROR(EPERM)`.
    package static let notPermitted = AVStatus(rawValue: shim_error_not_permitted)
    /// The operation does not exist for this input: `AVERROR(ENOSYS)`.
    package static let noSystemCall = AVStatus(rawValue: shim_error_no_system_call)

    /// What was asked for makes no sense to the library: `AVERROR(EINVAL)`.
    package static let invalidArgument = AVStatus(rawValue: shim_error_invalid_argument)

    /// libav's own words for the code (`av_strerror`).
    package var description: String {
        var text = [CChar](repeating: 0, count: 128)
        av_strerror(rawValue, &text, text.count)
        return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }
}

// The one place in which a libav status becomes the package's error.

extension MediaError {
    /// The error for a libav call that failed.
    ///
    /// - Parameters:
    ///   - status: What the call returned.
    ///   - call: The C function, for the error's cause.
    ///   - doing: What was being done, in words that complete "cannot …".
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
    /// Throws the mapped error where the status is a failure; returns its number otherwise.
    @discardableResult
    package static func check(
        _ result: Int32, _ call: String, doing: @autoclosure () -> String
    ) throws(MediaError) -> Int32 {
        guard result < 0 else { return result }
        throw MediaError(AVStatus(rawValue: result), call: call, doing: doing())
    }
}

/// libav's log, kept silent and its last line a thread remembered: the best words for an error are often only there.
///
/// libav logs on the thread that calls it, or on a codec's own threads. Lines of the latter belong to no call; nobody
/// asks for them.
package enum LibraryLog {
    private static let lines = Mutex<[UInt: String]>([:])

    /// Threads remembered at most; beyond that the table starts anew, so that codec threads cannot make it grow.
    private static let limit = 64

    /// What libav logs where something is over a limit that it was told; it has no status of its own for that.
    static let limitWords = ["exceeds max_streams", "exceeds specified max pixel count"]

    /// Takes libav's messages from standard error into memory; called once before libav is first used.
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
            // What is logged behind it are its consequences.
            if let kept = lines[thread], limitWords.contains(where: { kept.contains($0) }) { return }
            lines[thread] = withoutAddresses(text)
        }
    }

    /// The last line that libav logged on this thread, or the one about a limit, at most once.
    package static func takeLastLine() -> String? {
        let thread = UInt(pthread_self())
        return lines.withLock { $0.removeValue(forKey: thread) }
    }

    /// Drops the addresses from `[h264 @ 0x55…] text`, so that the same failure reads the same every run.
    private static func withoutAddresses(_ line: String) -> String {
        guard let at = line.firstRange(of: " @ 0x"), let close = line[at.upperBound...].firstIndex(of: "]") else {
            return line
        }
        return String(line[..<at.lowerBound] + line[close...])
    }
}
