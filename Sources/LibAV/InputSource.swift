import Glibc
package import MediaBase
package import SystemCalls
package import SystemPackage
import Threading

/// The source from which an asset is opened.
package enum InputSource: Sendable, Hashable {
    /// A file by its path, whose bytes are used unchanged and are never interpreted as a protocol.
    case path(FilePath)
    /// A file by its path below a folder; a path that leads out of the folder is refused at every opening.
    case beneath(OpenFolder, FilePath)
    /// A descriptor that stays open and that the caller must close.
    case descriptor(FileDescriptor)
    /// The process's standard input.
    case standardInput
    /// Bytes that are read by the user's own code.
    case bytes(NamedBytes)

    /// The name of the source for users, repaired to valid UTF-8.
    package var displayName: String {
        switch self {
        case .path(let path): path.string
        case .beneath(let folder, let path): folder.path.pushing(path).string
        case .descriptor(let descriptor): "descriptor \(descriptor.rawValue)"
        case .standardInput: "-"
        case .bytes(let bytes): bytes.name
        }
    }

    /// The path of the file; `nil` if the source has none.
    package var path: FilePath? {
        switch self {
        case .path(let path): path
        case .beneath(let folder, let path): folder.path.pushing(path)
        case .descriptor, .standardInput, .bytes: nil
        }
    }

    /// Opens the source for reading.
    ///
    /// - Parameters:
    ///   - deadline: The time at which reading ends; `nil` for never.
    ///   - record: The record of what is read; `nil` for none.
    func open(deadline: ContinuousClock.Instant? = nil, record: ReadingRecord? = nil) throws(MediaError) -> InputIO {
        switch self {
        case .path(let path):
            return try Self.adopt(deadline, record) {
                // Otherwise, opening a FIFO would wait for a writer, and nothing could interrupt that.
                try openForReading(path)
            }
        case .beneath(let folder, let path): return try Self.adopt(deadline, record) { try folder.open(path) }
        case .descriptor(let descriptor): return try Self.adopt(descriptor, closes: false, deadline, record)
        case .standardInput: return try Self.adopt(.standardInput, closes: false, deadline, record)
        case .bytes(let bytes):
            let opened = try bytes.open(until: deadline, record: record)
            guard opened.size != 0 else { throw MediaError(.unknownFormat, "is empty") }
            return try InputIO(opened.bytes, size: opened.size, deadline: deadline, record: record)
        }
    }

    /// Adopts a descriptor that is opened in non-blocking mode, and switches it to blocking mode.
    private static func adopt(
        _ deadline: ContinuousClock.Instant?, _ record: ReadingRecord?, _ open: () throws -> FileDescriptor
    ) throws(MediaError) -> InputIO {
        let descriptor: FileDescriptor
        do {
            descriptor = try open()
        } catch let errno as Errno {
            throw MediaError(opening: errno)
        } catch {
            throw MediaError(.inputOutput, "cannot open the file", cause: "\(error)")
        }
        setWaits(true, for: descriptor)
        return try adopt(descriptor, closes: true, deadline, record)
    }

    private static func adopt(
        _ descriptor: FileDescriptor, closes: Bool, _ deadline: ContinuousClock.Instant?, _ record: ReadingRecord?
    ) throws(MediaError) -> InputIO {
        var status = stat()
        guard fstat(descriptor.rawValue, &status) == 0 else {
            let error = Errno(rawValue: errno)
            if closes { try? descriptor.close() }
            throw MediaError(opening: error)
        }
        let kind = status.st_mode & S_IFMT
        // fstat does not report the size of a block device; seeking to its end does.
        var size: Int64? = kind == S_IFREG ? Int64(status.st_size) : nil
        if kind == S_IFBLK { size = Int64(lseek(descriptor.rawValue, 0, SEEK_END)) }
        let io = try InputIO(.descriptor(descriptor, closes: closes), size: size, deadline: deadline, record: record)
        guard kind != S_IFDIR else { throw MediaError(.notAFile, "is a folder, not a media file") }
        guard size != 0 else { throw MediaError(.unknownFormat, "is empty") }
        return io
    }
}

extension InputSource {
    /// Reads what nobody has read of the source, and returns the digest of all of its bytes.
    ///
    /// - Parameters:
    ///   - record: The record of what was read.
    ///   - deadline: The time at which reading ends; `nil` for never.
    /// - Returns: `nil` if the record only counts bytes.
    /// - Throws: `unsupported` for a stream, which cannot be read again.
    package func completeDigest(
        _ record: ReadingRecord, deadline: ContinuousClock.Instant?
    ) throws(MediaError) -> [UInt8]? {
        let io = try open(deadline: deadline, record: record)
        guard let size = io.length else {
            throw MediaError(.unsupported, "a stream that is read once has no digest; it has to be kept first")
        }
        io.readsAhead = true
        try record.readRemainder(upTo: UInt64(clamping: size)) { offset, count throws(MediaError) in
            if let stop = io.stop { throw stop }
            return try io.bytes(at: offset, count: count)
        }
        return try record.finish()
    }
}

/// A source of bytes with its name for users, compared by identity.
package final class NamedBytes: Sendable, Hashable {
    /// The source.
    package let source: any ByteSource
    /// The name.
    package let name: String
    /// The blocks of the source, which all readers share; `nil` before the first one, and for what is in memory.
    private let cache = Mutex<BlockCache?>(nil)

    /// Gives a source a name.
    package init(_ source: any ByteSource, name: String) {
        self.source = source
        self.name = name
    }

    /// Opens the source, and returns the way to read it and its size.
    ///
    /// The cache is made for the first one, whose record notes what the cache reads.
    fileprivate func open(
        until deadline: ContinuousClock.Instant?, record: ReadingRecord?
    ) throws(MediaError) -> (bytes: InputIO.Bytes, size: Int64?) {
        try open(source, until: deadline)
        guard let size = source.size else { return (.source(source), nil) }
        guard !(source is ArrayByteSource) else { return (.source(source), Int64(clamping: size)) }
        let shared = cache.withLock { cache in
            let recorded: any ByteSource = record.map { RecordedSource(source, in: $0) } ?? source
            let shared = cache ?? BlockCache(recorded, size: size)
            cache = shared
            return shared
        }
        return (.cache(shared), Int64(clamping: size))
    }

    private static let threads = ThreadPool(maximumIdleThreads: 2)

    /// Opens a source, which may take long, but not longer than allowed.
    private func open(_ source: any ByteSource, until deadline: ContinuousClock.Instant?) throws(MediaError) {
        guard let deadline, !(source is ArrayByteSource) else { return try source.open() }
        let outcome = Monitor<Result<Void, MediaError>?>(nil)
        Self.threads.run {
            let result = Result { () throws(MediaError) in try source.open() }
            outcome.update { $0 = result }
        }
        if let result = outcome.wait(atMost: max(.zero, deadline - .now), { $0 }) { return try result.get() }
        if let late = MediaLimits.error(after: deadline) { throw late }
    }

    /// Returns true if both are the same object.
    package static func == (first: NamedBytes, second: NamedBytes) -> Bool { first === second }

    /// Hashes the identity.
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The bytes of an open file, for parsing its structure independently of libavformat.
package struct FileByteSource: ByteSource {
    private let file: InputFile

    /// Creates a source of a file's bytes.
    package init(_ file: InputFile) { self.file = file }

    /// The size of the file in bytes; `nil` for a stream.
    package var size: UInt64? { file.length.flatMap { UInt64(exactly: $0) } }

    /// Reads bytes; fewer at the end of the file.
    package func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
        try file.bytes(at: offset, count: count)
    }
}

extension MediaError {
    /// Creates the error for a file that could not be opened.
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

/// Fixed limits that nothing may exceed; they are checked before memory is allocated.
///
/// `MediaLimits` contains the limits that can be set.
package enum Limits {
    /// The maximum number of pixels in a frame, which is libav's own maximum.
    package static let pixels = 1 << 28
    /// The maximum number of channels in a track, for which libavutil's layouts are designed.
    package static let channels = 512
    /// The maximum sample rate in Hz.
    ///
    /// The highest rate in use is 768 kHz; the lowest, in old formats, is 1 kHz.
    package static let sampleRate = 1 << 24
    /// The maximum number of metadata items in one dictionary.
    package static let metadataItems = 10_000
    /// The maximum size in bytes of a compressed sample that is created here.
    package static let packetBytes = 1 << 30
    /// The maximum number of samples in each channel of an audio frame that is created here.
    package static let samplesInFrame = 1 << 24
}
