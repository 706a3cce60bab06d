/// The only error type that this package throws: what failed, on which file, and what to try.
///
/// ```swift
/// do {
///     let asset = try await Asset(path: "interview.mov").load(.tracks)
/// } catch let error as MediaError where error.code == .notFound {
///     print(error.message)
/// }
/// ```
///
/// Any other error (a libav status, an `errno`) is converted to this type at the boundary of the layer in which it
/// occurred; ``cause`` keeps the original. "Try again" and "end of file" are never reported as errors.
public struct MediaError: Error, Sendable, Hashable {
    /// The kind of failure, on which callers base their decisions.
    public var code: Code

    /// A sentence without a final full stop that states what failed and, if possible, what to try.
    public var message: String

    /// The file concerned, repaired to valid UTF-8 for display; `nil` if there is none.
    public var path: String?

    /// The lower layer's message (a libav status with its call, an `errno`), for a log; `nil` if there is none.
    public var cause: String?

    /// The comparisons with the source that failed; empty except for ``Code-swift.struct/verificationFailed``.
    public var failedChecks: [FailedCheck] = []

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: A sentence for the user; line breaks are replaced by spaces.
    ///   - path: The file concerned, as displayed to the user.
    ///   - cause: The lower layer's message.
    public init(_ code: Code, _ message: String, path: String? = nil, cause: String? = nil) {
        self.code = code
        self.message = String(message.map { $0.isNewline ? " " : $0 })
        self.path = path
        self.cause = cause
    }

    /// Returns the same error with `path` filled in if it had none.
    public func at(path: String) -> MediaError {
        var copy = self
        copy.path = copy.path ?? path
        return copy
    }
}

extension MediaError {
    /// A property of a copy that differs from its source.
    public struct FailedCheck: Sendable, Hashable, Codable {
        /// The property that was compared, such as `frameTimes`.
        public var name: String
        /// The index of the source's track; `nil` for the file as a whole.
        public var trackIndex: Int?
        /// The value in the source, or one derived from it.
        public var wanted: String
        /// The value in the copy.
        public var found: String

        /// Creates an entry from its parts.
        public init(name: String, trackIndex: Int? = nil, wanted: String, found: String) {
            self.name = name
            self.trackIndex = trackIndex
            self.wanted = wanted
            self.found = found
        }

        /// A clause such as "its dates of track 1 are not the source's: wanted 2008, found none".
        public var text: String {
            let place = trackIndex.map { " of track \($0)" } ?? ""
            return "its \(name)\(place) \(name.hasSuffix("s") ? "are" : "is") not the source's: wanted \(wanted), "
                + "found \(found)"
        }
    }
}

extension MediaError: CustomStringConvertible {
    /// A single line: the path, then the message, then the cause in brackets.
    public var description: String {
        let place = path.map { "\($0): " } ?? ""
        let reason = cause.map { " (\($0))" } ?? ""
        return place + message + reason
    }
}

extension MediaError {
    /// The kind of a failure, distinguished by the action that a caller should take.
    ///
    /// The raw value appears in JSON as `code`.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The stable name, in lowerCamelCase.
        public let rawValue: String

        /// Creates a code from its stable name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The raw value.
        public var description: String { rawValue }

        /// The file or folder does not exist.
        public static let notFound = Code(rawValue: "notFound")
        /// The system refused access.
        public static let permissionDenied = Code(rawValue: "permissionDenied")
        /// The path refers to something that cannot be read as a file, such as a folder.
        public static let notAFile = Code(rawValue: "notAFile")
        /// The content is empty or is not a known media format.
        public static let unknownFormat = Code(rawValue: "unknownFormat")
        /// The format is known, but the content contradicts it.
        public static let damaged = Code(rawValue: "damaged")
        /// The codec, conversion or feature is not supported by this build.
        public static let unsupported = Code(rawValue: "unsupported")
        /// The asset has no track of the requested kind.
        public static let noSuchTrack = Code(rawValue: "noSuchTrack")
        /// The time is outside the track's presentation.
        public static let outOfRange = Code(rawValue: "outOfRange")
        /// A call or an option is invalid, or is used in the wrong order.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// The output failed verification and was not kept.
        public static let verificationFailed = Code(rawValue: "verificationFailed")
        /// A limit on size, number or depth was exceeded.
        public static let limitExceeded = Code(rawValue: "limitExceeded")
        /// The output would exceed ``MediaLimits/outputBytes``.
        public static let outputLimit = Code(rawValue: "outputLimit")
        /// The input was changed while it was being read.
        public static let changed = Code(rawValue: "changed")
        /// The input refers to another file, which was not allowed.
        public static let nestedFileRefused = Code(rawValue: "nestedFileRefused")
        /// The output already exists and replacing it was not requested.
        public static let alreadyExists = Code(rawValue: "alreadyExists")
        /// The system failed to read or write: a full disk, a broken pipe, a bad sector.
        public static let inputOutput = Code(rawValue: "inputOutput")
        /// Memory or another resource is exhausted.
        public static let outOfResources = Code(rawValue: "outOfResources")
        /// The work was cancelled.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The work took longer than ``MediaLimits/deadline`` allows.
        public static let timedOut = Code(rawValue: "timedOut")
        /// The process that read the file died: see MediaJobPool, and the sandbox of `mediatool`.
        public static let crashed = Code(rawValue: "crashed")
        /// The process that read the file needed more memory than was allowed.
        public static let memoryLimit = Code(rawValue: "memoryLimit")
        /// A libav call failed in a way that no other code describes.
        public static let libraryFailure = Code(rawValue: "libraryFailure")
    }
}

/// The JSON of an error in the reports of commands: `code`, `message`, and `failedChecks` if there are any.
package struct ErrorReport: Encodable, Sendable {
    /// The error's code.
    package let code: String
    /// The error's message.
    package let message: String
    private let failedChecks: [MediaError.FailedCheck]?

    /// Creates the report of an error, without its path, which stands beside it.
    package init(_ error: MediaError) {
        code = error.code.rawValue
        message = error.message
        failedChecks = error.failedChecks.isEmpty ? nil : error.failedChecks
    }
}
