package import MediaAnalysis
internal import MediaBase
internal import SystemCalls
package import SystemPackage

/// A peaks file that is read instead of sound, recognised by its content.
package struct PeaksFileInput: Sendable {
    /// What the file holds.
    package let peaks: Peaks
    /// Which of the two forms it has.
    package let format: WaveformOutput.Format

    /// Bytes of a file that are read at most: with its values, a few times as much memory.
    private static let mostBytes = 1 << 30
    /// Bytes by which a file is recognised.
    private static let prefixBytes = 4096

    /// Reads the file at a path; `nil` where it is no peaks file, is no regular file or cannot be opened.
    ///
    /// - Throws: ``MediaError`` `damaged` where it contradicts itself, `limitExceeded` where it is too large.
    package init?(path: FilePath) throws {
        // A FIFO must not even be opened: whoever writes into it would take closing it for the end.
        guard let status = try? Stat(path), status.type == .regular,
            let file = try? FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
        else { return nil }
        defer { try? file.close() }
        try self.init(reading: file, path: path)
    }

    /// Reads standard input where that holds a peaks file, else leaves all of it to be read.
    ///
    /// A file is looked at from its beginning; a pipe's first bytes are looked at without taking them out.
    ///
    /// - Parameters:
    ///   - standardInput: Where it is.
    ///   - deadline: Until when is waited and read; `nil` for as long as it takes.
    /// - Throws: as ``init(path:)``, and `timedOut` where a peaks file has not ended by the deadline.
    package init?(standardInput: FileDescriptor, until deadline: ContinuousClock.Instant? = nil) throws {
        if let place = try? standardInput.seek(offset: 0, from: .current) {
            defer { _ = try? standardInput.seek(offset: place, from: .start) }
            guard (try? standardInput.seek(offset: 0, from: .start)) != nil else { return nil }
            try self.init(reading: standardInput, path: "-", until: deadline)
        } else {
            guard PeakFile.format(ofPrefix: peekPipe(standardInput, atMost: Self.prefixBytes, until: deadline)) != nil
            else {
                return nil
            }
            try self.init(reading: standardInput, path: "-", until: deadline)
        }
    }

    private init?(
        reading file: FileDescriptor, path: FilePath, until deadline: ContinuousClock.Instant? = nil
    ) throws {
        do {
            var bytes = try readSome(from: file, atMost: Self.prefixBytes)
            guard let form = PeakFile.format(ofPrefix: bytes) else { return nil }
            while true {
                guard waitForInput(file, until: deadline) else {
                    throw MediaLimits.error(after: deadline) ?? MediaError(.timedOut, "was not done in time")
                }
                let more = try readSome(from: file, atMost: 1 << 20)
                if more.isEmpty { break }
                bytes += more
                guard bytes.count <= Self.mostBytes else {
                    throw MediaError(.limitExceeded, "the peaks file has more than \(Self.mostBytes) bytes")
                }
            }
            peaks = try PeakFile.decode(bytes)
            format = form == .json ? .json : peaks.bits == 8 ? .peaksjs : .dat
        } catch let error as MediaError {
            throw error.at(path: path.string)
        } catch let error as Errno {
            throw MediaError(error, "read the file", path: path)
        }
    }
}
