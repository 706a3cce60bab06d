/// The one error that this package throws: what failed, on which file, and what to try.
///
/// ```swift
/// do {
///     let asset = try await Asset(path: "interview.mov").load(.tracks)
/// } catch let error as MediaError where error.code == .notFound {
///     print(error.message)
/// }
/// ```
///
/// Every other error (a libav status, an `errno`) is turned into this one at the border of the layer in which it
/// arose; the original stays readable in ``cause``. "Try again" and "end of file" are never errors here.
public struct MediaError: Error, Sendable, Hashable {
    /// What kind of failure this is; what a caller decides by.
    public var code: Code

    /// One sentence without a final full stop: what failed, and what to try where there is something to try.
    public var message: String

    /// The file concerned, repaired to valid UTF-8 for display; `nil` where no file is concerned.
    public var path: String?

    /// The lower layer's own words (a libav status with its call, an `errno`), for a log; `nil` where there is none.
    public var cause: String?

    /// What was compared with its source and did not hold; empty for all but
    /// ``Code-swift.struct/verificationFailed``.
    public var failedChecks: [FailedCheck] = []

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: One sentence for a person; line breaks are replaced by blanks.
    ///   - path: The file concerned, as shown to a person.
    ///   - cause: The lower layer's words.
    public init(_ code: Code, _ message: String, path: String? = nil, cause: String? = nil) {
        self.code = code
        self.message = String(message.map { $0.isNewline ? " " : $0 })
        self.path = path
        self.cause = cause
    }

    /// The same error with `path` filled in, where it had none.
    public func at(path: String) -> MediaError {
        var copy = self
        copy.path = copy.path ?? path
        return copy
    }
}

extension MediaError {
    /// Something of a copy that is not as in its source.
    public struct FailedCheck: Sendable, Hashable, Codable {
        /// What was compared, such as `frameTimes`.
        public var name: String
        /// The source's track; `nil` for the file as a whole.
        public var trackIndex: Int?
        /// What the source says, or what follows from it.
        public var wanted: String
        /// What the copy says.
        public var found: String

        /// Makes an entry from its parts.
        public init(name: String, trackIndex: Int? = nil, wanted: String, found: String) {
            self.name = name
            self.trackIndex = trackIndex
            self.wanted = wanted
            self.found = found
        }

        /// One clause, such as "its dates of track 1 are not the source's: wanted 2008, found none".
        public var text: String {
            let place = trackIndex.map { " of track \($0)" } ?? ""
            return "its \(name)\(place) \(name.hasSuffix("s") ? "are" : "is") not the source's: wanted \(wanted), "
                + "found \(found)"
        }
    }
}

extension MediaError: CustomStringConvertible {
    /// One line: the path, then the message, then the cause in brackets.
    public var description: String {
        let place = path.map { "\($0): " } ?? ""
        let reason = cause.map { " (\($0))" } ?? ""
        return place + message + reason
    }
}

extension MediaError {
    /// The kind of a failure, told apart by what a caller should do about it.
    ///
    /// The raw value is what JSON shows as `code`.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The stable name, in lowerCamelCase.
        public let rawValue: String

        /// Makes a code from its stable name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The raw value.
        public var description: String { rawValue }

        /// No such file or folder.
        public static let notFound = Code(rawValue: "notFound")
        /// The system refused access.
        public static let permissionDenied = Code(rawValue: "permissionDenied")
        /// The path leads to something that cannot be read as a file, such as a folder.
        public static let notAFile = Code(rawValue: "notAFile")
        /// The content is no media format that is known, or it is empty.
        public static let unknownFormat = Code(rawValue: "unknownFormat")
        /// The format is known, but the content contradicts it.
        public static let damaged = Code(rawValue: "damaged")
        /// A codec, a conversion or a feature that this build cannot do.
        public static let unsupported = Code(rawValue: "unsupported")
        /// The asset has no track of the kind asked for.
        public static let noSuchTrack = Code(rawValue: "noSuchTrack")
        /// A time outside what the track shows.
        public static let outOfRange = Code(rawValue: "outOfRange")
        /// A call or an option that makes no sense, or comes in the wrong order.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// What was written is not what it should be, and was not kept.
        public static let verificationFailed = Code(rawValue: "verificationFailed")
        /// A limit on size, number or depth was reached.
        public static let limitExceeded = Code(rawValue: "limitExceeded")
        /// What is written would become larger than ``MediaLimits/outputBytes`` allows.
        public static let outputLimit = Code(rawValue: "outputLimit")
        /// The input was changed while it was read.
        public static let changed = Code(rawValue: "changed")
        /// The input refers to another file, and that was not allowed.
        public static let nestedFileRefused = Code(rawValue: "nestedFileRefused")
        /// The output exists already and replacing was not asked for.
        public static let alreadyExists = Code(rawValue: "alreadyExists")
        /// Reading or writing failed in the system: a full disk, a broken pipe, a bad sector.
        public static let inputOutput = Code(rawValue: "inputOutput")
        /// Memory or another resource ran out.
        public static let outOfResources = Code(rawValue: "outOfResources")
        /// The work was cancelled.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The work took longer than ``MediaLimits/deadline`` allows.
        public static let timedOut = Code(rawValue: "timedOut")
        /// A libav call failed in a way that none of the other codes describes.
        public static let libraryFailure = Code(rawValue: "libraryFailure")
    }
}
