import CFFmpeg

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
