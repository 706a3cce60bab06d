internal import FileOutput
package import MediaBase
internal import SystemCalls
package import SystemPackage

/// An OpenTimelineIO file, recognised by its content or its name.
package struct TimelineFile: Sendable {
    /// The contents of the file.
    let bytes: [UInt8]
    /// The folder that relative media paths start from; empty for the current one.
    let folder: FilePath

    /// The number of bytes by which a file is recognised.
    private static let prefixBytes = 4096

    /// Reads the file at a path; `nil` if it is not a regular file, cannot be opened, or is not a timeline.
    ///
    /// A file whose name ends with `.otio` is a timeline regardless of its contents.
    ///
    /// - Parameter requiresSchema: True to accept other JSON files only if they start with OpenTimelineIO's schema.
    /// - Throws: `limitExceeded` if the file is too large, and reading errors.
    package init?(
        path: FilePath, requiresSchema: Bool = false, until deadline: ContinuousClock.Instant? = nil
    ) throws(MediaError) {
        guard let status = try? Stat(path), status.type == .regular,
            let file = try? FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
        else { return nil }
        defer { try? file.close() }
        let folder = path.removingLastComponent()
        try self.init(
            reading: file, path: path, folder: folder,
            isNamed: path.extension?.lowercased() == "otio", requiresSchema: requiresSchema, until: deadline)
    }

    /// Reads a timeline from standard input; leaves the input unread and returns `nil` if it is not a timeline.
    ///
    /// Relative media paths start from the current folder.
    ///
    /// - Parameters:
    ///   - standardInput: The descriptor of standard input.
    ///   - requiresSchema: True to accept JSON only if it starts with OpenTimelineIO's schema.
    ///   - deadline: The time until which a silent pipe is waited for; `nil` for no limit.
    package init?(
        standardInput: FileDescriptor, requiresSchema: Bool = false, until deadline: ContinuousClock.Instant? = nil
    ) throws(MediaError) {
        if let place = try? standardInput.seek(offset: 0, from: .current) {
            defer { _ = try? standardInput.seek(offset: place, from: .start) }
            // Read from the start of the file, as for media and peaks files.
            _ = try? standardInput.seek(offset: 0, from: .start)
            try self.init(
                reading: standardInput, path: "-", folder: "", isNamed: false, requiresSchema: requiresSchema,
                until: deadline)
        } else {
            let prefix = peekPipe(standardInput, atMost: Self.prefixBytes, until: deadline)
            guard Self.isTimeline(prefix, requiresSchema: requiresSchema) else { return nil }
            try self.init(
                reading: standardInput, path: "-", folder: "", isNamed: false, requiresSchema: requiresSchema,
                until: deadline)
        }
    }

    private init?(
        reading file: FileDescriptor, path: FilePath, folder: FilePath, isNamed: Bool,
        requiresSchema: Bool, until deadline: ContinuousClock.Instant?
    ) throws(MediaError) {
        func some(_ count: Int) throws(MediaError) -> [UInt8] {
            _ = waitForInput(file, until: deadline)
            if let late = MediaLimits.error(after: deadline) { throw late.at(path: path.string) }
            do throws(Errno) {
                return try readSome(from: file, atMost: count)
            } catch {
                throw MediaError(error, "read", path: path)
            }
        }
        var bytes = try some(Self.prefixBytes)
        guard isNamed || Self.isTimeline(bytes, requiresSchema: requiresSchema) else { return nil }
        while bytes.count <= TimelineReader.maximumBytes, case let more = try some(1 << 20), !more.isEmpty {
            bytes += more
        }
        self.bytes = bytes
        self.folder = folder
        guard bytes.count <= TimelineReader.maximumBytes else {
            throw MediaError(
                .limitExceeded, "the timeline has more than \(TimelineReader.maximumBytes >> 20) MB", path: path.string)
        }
    }

    /// Returns whether a file starts like a JSON object, which no media file does.
    ///
    /// - Parameter requiresSchema: True to require the name of OpenTimelineIO's schema as well.
    private static func isTimeline(_ prefix: [UInt8], requiresSchema: Bool) -> Bool {
        guard !requiresSchema || prefix.firstRange(of: Array("\"OTIO_SCHEMA\"".utf8)) != nil else { return false }
        let text = prefix.starts(with: [0xEF, 0xBB, 0xBF]) ? prefix.dropFirst(3) : prefix[...]
        return text.first { ![0x20, 0x0A, 0x0D, 0x09].contains($0) } == UInt8(ascii: "{")
    }
}
