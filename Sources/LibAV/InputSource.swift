import Glibc
import MediaBase
package import SystemCalls
package import SystemPackage

/// What an asset is opened from.
package enum InputSource: Sendable, Hashable {
    /// A file by its path; the bytes of the path are used as they are, and no protocol is read into them.
    case path(FilePath)
    /// A file below a folder, by its path from there; what leads out of the folder is refused whenever it is opened.
    case beneath(OpenFolder, FilePath)
    /// A descriptor of the caller's, which stays open and is the caller's to close.
    case descriptor(FileDescriptor)
    /// The process's standard input.
    case standardInput

    /// How the source is named to a person, repaired to valid UTF-8.
    package var displayName: String {
        switch self {
        case .path(let path): path.string
        case .beneath(let folder, let path): folder.path.pushing(path).string
        case .descriptor(let descriptor): "descriptor \(descriptor.rawValue)"
        case .standardInput: "-"
        }
    }

    /// The path of a file; `nil` for what has none.
    package var path: FilePath? {
        switch self {
        case .path(let path): path
        case .beneath(let folder, let path): folder.path.pushing(path)
        case .descriptor, .standardInput: nil
        }
    }

    /// Opens the source for reading.
    ///
    /// - Parameter deadline: When reading ends; `nil` for never.
    func open(deadline: ContinuousClock.Instant? = nil) throws(MediaError) -> InputIO {
        switch self {
        case .path(let path):
            return try Self.adopt(deadline) {
                // Without blocking, because opening a FIFO waits for a writer, and nothing could end that.
                try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
            }
        case .beneath(let folder, let path): return try Self.adopt(deadline) { try folder.open(path) }
        case .descriptor(let descriptor): return try Self.adopt(descriptor, closes: false, deadline: deadline)
        case .standardInput: return try Self.adopt(.standardInput, closes: false, deadline: deadline)
        }
    }

    /// Takes a descriptor that is opened without blocking, and blocks from then on.
    private static func adopt(
        _ deadline: ContinuousClock.Instant?, _ open: () throws -> FileDescriptor
    ) throws(MediaError) -> InputIO {
        let descriptor: FileDescriptor
        do {
            descriptor = try open()
        } catch let errno as Errno {
            throw MediaError(opening: errno)
        } catch {
            throw MediaError(.inputOutput, "cannot open the file", cause: "\(error)")
        }
        let flags = fcntl(descriptor.rawValue, F_GETFL)
        if flags >= 0 { _ = fcntl(descriptor.rawValue, F_SETFL, flags & ~O_NONBLOCK) }
        return try adopt(descriptor, closes: true, deadline: deadline)
    }

    private static func adopt(
        _ descriptor: FileDescriptor, closes: Bool, deadline: ContinuousClock.Instant?
    ) throws(MediaError) -> InputIO {
        var status = stat()
        guard fstat(descriptor.rawValue, &status) == 0 else {
            let error = Errno(rawValue: errno)
            if closes { try? descriptor.close() }
            throw MediaError(opening: error)
        }
        let kind = status.st_mode & S_IFMT
        // A block device has no size of its own in fstat; seeking to its end tells it.
        var size: Int64? = kind == S_IFREG ? Int64(status.st_size) : nil
        if kind == S_IFBLK { size = Int64(lseek(descriptor.rawValue, 0, SEEK_END)) }
        let io = try InputIO(descriptor, closes: closes, size: size, deadline: deadline)
        guard kind != S_IFDIR else { throw MediaError(.notAFile, "is a folder, not a media file") }
        guard size != 0 else { throw MediaError(.unknownFormat, "is empty") }
        return io
    }
}

extension MediaError {
    /// The error of a file that could not be opened.
    package init(opening errno: Errno) {
        let cause = "open: \(errno)"
        switch errno {
        case .noSuchFileOrDirectory, .notDirectory:
            self.init(.notFound, "no such file", cause: cause)
        case .permissionDenied, .notPermitted:
            self.init(.permissionDenied, "may not be read; check its permissions", cause: cause)
        case .improperLink:
            self.init(.nestedFileRefused, "leads out of the folder below which files may be opened", cause: cause)
        case .isDirectory: self.init(.notAFile, "is a folder, not a media file", cause: cause)
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
            self.init(.outOfResources, "too many files are open; use fewer jobs", cause: cause)
        default: self.init(.inputOutput, "cannot be opened: \(errno)", cause: cause)
        }
    }
}

/// What nothing may go beyond, whoever asks for it, checked before memory is taken.
///
/// `MediaLimits` has what can be set.
package enum Limits {
    /// Pixels in one picture: no more are possible in libav.
    package static let pixels = 1 << 28
    /// Channels of one track: what libavutil's layouts are made for.
    package static let channels = 512
    /// Samples a second; the highest rate in use is 768 kHz, the lowest of old formats 1 kHz.
    package static let sampleRate = 1 << 24
    /// Metadata items in one dictionary.
    package static let metadataItems = 10_000
    /// Bytes of one compressed sample that is made here.
    package static let packetBytes = 1 << 30
    /// Samples in each channel of one run of sound that is made here.
    package static let samplesInFrame = 1 << 24
}
