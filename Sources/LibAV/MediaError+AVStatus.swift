import CFFmpeg
package import MediaBase

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
