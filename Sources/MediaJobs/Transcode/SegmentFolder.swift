internal import AssetKit
internal import FileOutput
internal import MediaBase
internal import SystemCalls
package import SystemPackage
internal import Threading

/// A folder with the segments of a movie and the playlists that name them, put in place together.
package final class SegmentFolder: Sendable {
    private let folder: FilePath
    private let outputs: OutputFileSet
    /// The playlists, which are begun first so that existing ones are refused before any work is done.
    private let (multivariant, media): (OutputFile, OutputFile)
    private let state = Mutex(State())

    private struct State {
        var playlist = HLSPlaylist(initialization: Name.header)
        /// The header and the segments, in order.
        var parts: [SegmentParts.Part] = []
    }

    /// The names of the files that are not segments.
    private enum Name {
        static let header = "init.mp4"
        static let media = "media.m3u8"
        static let multivariant = "index.m3u8"
    }

    /// Returns the paths of the files in a folder; a part in braces stands for a number.
    package static func patterns(in folder: FilePath) -> [FilePath] {
        [Name.multivariant, Name.media, Name.header, "{number}.m4s"].map { folder.appending($0) }
    }

    /// Creates a folder without segments.
    ///
    /// - Parameters:
    ///   - folder: The path of the folder, which is made if it is missing.
    ///   - outputs: The set of the run; the files share its rules.
    /// - Throws: `alreadyExists` if a playlist exists that may not be replaced, and errors of the system.
    init(_ folder: FilePath, outputs: OutputFileSet) throws(MediaError) {
        self.folder = folder
        self.outputs = outputs.setForAnotherJob(isWhole: true)
        multivariant = try self.outputs.beginInFolder(folder.appending(Name.multivariant))
        media = try self.outputs.beginInFolder(folder.appending(Name.media))
    }

    deinit { outputs.discard() }

    /// Writes the file of a segment.
    func receive(_ segment: AssetSegment) throws(MediaError) {
        let number = state.withLock { $0.playlist.segments.count + 1 }
        let digits = String(number)
        let isHeader = segment.kind == .initialization
        let name = isHeader ? Name.header : String(repeating: "0", count: max(0, 5 - digits.count)) + digits + ".m4s"
        let path = folder.appending(name)
        let file = try outputs.beginInFolder(path)
        do throws(MediaError) { try file.complete(with: segment.data) } catch { throw error.at(path: path.string) }
        state.withLock { state in
            state.playlist.append(name, segment)
            let start = state.parts.last.map { $0.range.upperBound } ?? 0
            state.parts.append(.init(path: file.readablePath, range: start..<start + UInt64(segment.data.count)))
        }
    }

    /// The movie that the files are together.
    var movie: SegmentParts { SegmentParts(parts: state.withLock(\.parts)) }

    /// The segments, as the playlist lists them.
    var segments: [HLSPlaylist.Segment] { state.withLock(\.playlist.segments) }

    /// Writes the playlists.
    ///
    /// - Parameter tracks: The tracks of the movie.
    func writePlaylists(_ tracks: [AssetTrack]) throws(MediaError) {
        let playlist = state.withLock { state in
            state.playlist.isComplete = true
            return state.playlist
        }
        try media.complete(with: Array(playlist.text.utf8))
        try multivariant.complete(with: Array(playlist.multivariantText(uri: Name.media, tracks: tracks).utf8))
    }

    /// Puts all files in place.
    ///
    /// - Throws: `alreadyExists` if a file has one of the names by now; no file is put in place then.
    func putInPlace() throws(MediaError) { try outputs.commit() }
}

/// The bytes of a movie that lies in several files, one after the other.
struct SegmentParts: ByteSource {
    /// A file and the bytes of the movie that it holds.
    struct Part: Sendable {
        /// The path; `nil` for a file that cannot be read.
        var path: FilePath?
        var range: Range<UInt64>
    }

    let parts: [Part]

    var size: UInt64? { parts.last?.range.upperBound ?? 0 }

    func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
        var bytes: [UInt8] = []
        // The first part that ends after the offset.
        var (low, high) = (0, parts.count)
        while low < high {
            let middle = (low + high) / 2
            if parts[middle].range.upperBound <= offset { low = middle + 1 } else { high = middle }
        }
        while low < parts.count, bytes.count < count {
            let part = parts[low]
            guard let path = part.path else { throw MediaError(.inputOutput, "a segment cannot be read again") }
            let start = offset + UInt64(bytes.count) - part.range.lowerBound
            let more = try failing("read", path) { () throws(Errno) in
                let file = try openForReading(path)
                defer { try? file.close() }
                return try SystemCalls.read(
                    from: file, at: Int64(clamping: start),
                    atMost: min(
                        count - bytes.count, Int(clamping: part.range.upperBound - part.range.lowerBound - start)))
            }
            guard !more.isEmpty else { break }
            bytes += more
            if part.range.lowerBound + start + UInt64(more.count) >= part.range.upperBound { low += 1 }
        }
        return bytes
    }
}
