internal import FileOutput
package import MediaBase
internal import SystemCalls
package import SystemPackage

/// Reads whole files that are no media: policies, timelines, peaks files.
package struct WholeFile {
    /// The words for an error about the size, such as "a policy".
    private let purpose: String
    private let maximumBytes: Int
    private let deadline: ContinuousClock.Instant?
    /// Returns true if a file that starts so is wanted.
    private let isWanted: ([UInt8]) -> Bool

    /// The number of bytes by which a file is recognised.
    private static let prefixBytes = 4096

    /// Creates a reader of files.
    ///
    /// - Parameters:
    ///   - purpose: The words for the error about the size, such as "a policy".
    ///   - maximumBytes: The maximum size.
    ///   - deadline: The time until which the writer of a pipe is waited for; `nil` for no limit.
    ///   - isWanted: Returns true if a file is wanted that starts with these bytes, which are 4096 at most.
    package init(
        as purpose: String, atMost maximumBytes: Int, until deadline: ContinuousClock.Instant?,
        where isWanted: @escaping ([UInt8]) -> Bool = { _ in true }
    ) {
        self.purpose = purpose
        self.maximumBytes = maximumBytes
        self.deadline = deadline
        self.isWanted = isWanted
    }

    /// Returns the contents of the file or FIFO at a path; none if it is not wanted.
    ///
    /// - Throws: The errors of opening and reading, `timedOut`, and `limitExceeded` if the file is too large.
    package func read(_ path: FilePath) throws(MediaError) -> [UInt8] {
        let file: FileDescriptor
        do throws(Errno) {
            file = try openForReading(path)
        } catch {
            throw MediaError(error, "read", path: path)
        }
        defer { try? file.close() }
        return try read(file, path: path) ?? []
    }

    /// Returns the contents of the regular file at a path; `nil` if it is another kind of file, cannot be opened or is
    /// not wanted.
    ///
    /// A FIFO is not opened: its writer would take closing it for the end.
    /// - Throws: The errors of reading, `timedOut`, and `limitExceeded` if the file is too large.
    package func readRegular(_ path: FilePath) throws(MediaError) -> [UInt8]? {
        guard let status = try? Stat(path), status.type == .regular, let file = try? openForReading(path) else {
            return nil
        }
        defer { try? file.close() }
        return try read(file, path: path)
    }

    /// Returns the contents of standard input; leaves it unread and returns `nil` if they are not wanted.
    ///
    /// A file is read from its start, as media are. The first bytes of a pipe are examined without removing them.
    /// - Throws: The errors of reading, `timedOut`, and `limitExceeded` if there is too much.
    package func readStandardInput(_ file: FileDescriptor) throws(MediaError) -> [UInt8]? {
        if let place = try? file.seek(offset: 0, from: .current) {
            defer { _ = try? file.seek(offset: place, from: .start) }
            guard (try? file.seek(offset: 0, from: .start)) != nil else { return nil }
            return try read(file, path: "-")
        }
        guard isWanted(peekPipe(file, atMost: Self.prefixBytes, until: deadline)) else { return nil }
        return try read(file, path: "-")
    }

    private func read(_ file: FileDescriptor, path: FilePath) throws(MediaError) -> [UInt8]? {
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
        guard isWanted(bytes) else { return nil }
        while bytes.count <= maximumBytes, case let more = try some(1 << 20), !more.isEmpty { bytes += more }
        guard bytes.count <= maximumBytes else {
            throw MediaError(
                .limitExceeded, "is too large for \(purpose), which has at most \(maximumBytes >> 20) MB",
                path: path.string)
        }
        return bytes
    }
}
