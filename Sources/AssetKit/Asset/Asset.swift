import ContainerFacts
import LibAV
import MediaBase
import Network
package import SystemCalls
public import SystemPackage
import Threading

/// A media file, or a stream that can be read like a file: `AVURLAsset`.
///
/// Creating an asset opens nothing. The first request for a property loads all of them, once:
///
/// ```swift
/// let asset = Asset(path: "interview.mov")
/// let (duration, tracks) = try await (asset.load(.duration), asset.load(.tracks))
/// ```
///
/// An asset may be used from any thread. Formats are recognised by their content. Only the named file is opened, unless
/// ``Options/allowsNestedFiles`` is set.
public final class Asset: Sendable {
    /// The origin of the media: a file, a composition, or the rendering of a composition.
    let backing: any AssetBacking
    let options: Options
    /// The place of the job that uses the asset in a ``SharedReading``; `nil` if it has none.
    let seat: (any ReadingSeat)?
    /// The record of what is read of the source; `nil` for none.
    let record: ReadingRecord?
    /// The packets that were read, by all jobs that share the reading.
    let packets: PacketCounts
    private let state = Mutex(State())
    private let loading = Mutex(())
    private let cancellation = Cancellation()

    private struct State {
        var result: Result<AssetContents, MediaError>?
        var isLoading = false
        /// The file whose header was read, kept for the first reader; a stream can have no other.
        var file: InputFile?
        /// Indicates whether the file is shorter than its header declares; `nil` if ``file`` tells it.
        var isCutOff: Bool?
        /// True if the source can be read only once.
        var isStream = false
        /// The contents of a pipe that had to be read to its end first; the source is reopened from here.
        var spool: SpoolFile?
        var scan: PacketScan?
        /// The tables of the tracks' samples that were made for cursors, by track index.
        var sampleTables: [Int: SampleTable] = [:]
        /// Returns the size of the source in bytes, or the number of bytes received so far from a stream.
        var countedBytes: (@Sendable () -> Int)?
        /// The number of callers that are waiting for loading and still want it.
        var interested = 0
    }

    private init(source: InputSource, options: Options) {
        backing = source
        self.options = options
        seat = nil
        record = options.recording.record
        packets = PacketCounts()
    }

    /// Creates an asset for a job that takes part in a shared reading of another asset, which is loaded.
    init(_ other: Asset, seat: any ReadingSeat) {
        backing = other.backing
        options = other.options
        self.seat = seat
        record = other.record
        packets = other.packets
        // The file that is open stays with the reading.
        var known = other.state.withLock { $0 }
        known.isCutOff = known.isCutOff ?? known.file?.isCutOff
        known.file = nil
        state.withLock { [known] in $0 = known }
    }

    /// Returns the same asset with exact durations and timing, for which all packets are read when it is loaded.
    package func withPreciseTiming() -> Asset { Asset(precise: self) }

    /// Returns the same asset for the job that another one belongs to, with that one's place in a shared reading.
    package func inPlace(of other: Asset) -> Asset { other.seat.map { Asset(self, seat: $0) } ?? self }

    private init(precise other: Asset) {
        backing = other.backing
        var options = other.options
        options.isPrecise = true
        self.options = options
        seat = nil
        record = other.record
        packets = other.packets
        let spool = other.state.withLock { $0.spool }
        state.withLock { $0.spool = spool }
    }

    /// Creates an asset without a file of its own, whose contents are already known.
    init(_ backing: any AssetBacking, _ contents: AssetContents) {
        self.backing = backing
        options = Options()
        seat = nil
        record = nil
        packets = PacketCounts()
        state.withLock { $0.result = .success(contents) }
    }

    /// Creates an asset for a file.
    ///
    /// The bytes of the path are used unchanged, even if they are not valid UTF-8 or look like a protocol.
    public convenience init(path: FilePath, options: Options = Options()) {
        self.init(source: .path(path), options: options)
    }

    /// Creates an asset for a file, given its path as text.
    public convenience init(path: String, options: Options = Options()) {
        self.init(path: FilePath(path), options: options)
    }

    /// Creates an asset for a file beneath a folder, given its path relative to that folder.
    ///
    /// A path that leads out of the folder is refused whenever the file is opened.
    package convenience init(path: FilePath, beneath folder: OpenFolder, options: Options = Options()) {
        self.init(source: .beneath(folder, path), options: options)
    }

    /// Creates an asset for a descriptor that is open for reading.
    ///
    /// The caller keeps ownership of the descriptor, which must outlive the asset's readers.
    public convenience init(descriptor: FileDescriptor, options: Options = Options()) {
        self.init(source: .descriptor(descriptor), options: options)
    }

    /// Creates an asset for bytes that are read by code of the caller's own.
    ///
    /// - Parameters:
    ///   - source: The source of the bytes.
    ///   - name: The asset's name in messages.
    ///   - options: The options for opening it. No other file can be opened from it.
    public convenience init(source: any ByteSource, name: String = "source", options: Options = Options()) {
        self.init(source: .bytes(NamedBytes(source, name: name)), options: options)
    }

    /// Creates an asset for a file in memory.
    public convenience init(bytes: [UInt8], options: Options = Options()) {
        self.init(source: ArrayByteSource(bytes), name: "memory", options: options)
    }

    /// Creates an asset for the process's standard input; a pipe can be read only once, sequentially.
    public static func standardInput(options: Options = Options()) -> Asset {
        Asset(source: .standardInput, options: options)
    }

    /// The asset's name for display: its path repaired to valid UTF-8, `-`, or `composition`.
    public var displayName: String { backing.input?.displayName ?? "composition" }
}

// MARK: - Loading

extension Asset {
    /// Opens and reads the asset if this has not been done yet.
    ///
    /// Concurrent callers wait for each other; later ones get the result of the first.
    package func loadContents() throws(MediaError) { _ = try contents() }

    func contents() throws(MediaError) -> AssetContents {
        if let result = state.withLock({ $0.result }) { return try result.get() }
        let interest = Interest(in: self)
        defer { interest.end() }
        return try contentsWhileWanted()
    }

    /// Returns the contents for a caller that has registered its interest.
    func contentsWhileWanted() throws(MediaError) -> AssetContents {
        if let result = state.withLock({ $0.result }) { return try result.get() }
        return try loading.withLock { _ throws(MediaError) in
            if let result = state.withLock({ $0.result }) { return try result.get() }
            state.withLock { $0.isLoading = true }
            let result = Result { () throws(MediaError) in try read() }
            return try state.withLock { state in
                // If loading was cancelled before its outcome was known, report that: the file can no longer be used.
                let isLate = cancellation.isCancelled
                let final = isLate ? .failure(MediaError(.cancelled, "cancelled", path: displayName)) : result
                state.result = final
                state.isLoading = false
                return final
            }.get()
        }
    }

    /// A caller's interest in loading the asset; loading is cancelled when the last caller withdraws.
    final class Interest: Sendable {
        private let asset: Asset
        private let isOver = Atomic(false)

        init(in asset: Asset) {
            self.asset = asset
            asset.state.withLock { $0.interested += 1 }
        }

        /// Ends the interest without cancelling anything.
        func end() { leave(cancelling: false) }

        /// Ends the interest, and cancels loading if no other caller is waiting for it.
        func withdraw() { leave(cancelling: true) }

        private func leave(cancelling: Bool) {
            guard !isOver.exchange(true, ordering: .relaxed) else { return }
            asset.state.withLock { state in
                state.interested -= 1
                if cancelling, state.interested == 0, state.result == nil { asset.cancellation.cancel() }
            }
        }
    }

    private func read() throws(MediaError) -> AssetContents {
        do {
            let file = try open(cancellation)
            let (isStream, spool, countedBytes) = (!file.isSeekable, file.spool, file.inputBytes)
            // Record this first: a pipe that was read to its end is reopened from its spool file.
            state.withLock {
                $0.isStream = isStream
                $0.spool = spool
                $0.countedBytes = countedBytes
            }
            var contents = try AssetContents(file, scan: nil)
            guard file.isSeekable, options.isPrecise || SystemClock.seemsToJump(in: file) else {
                contents.apply(to: file)
                // The end of a stream that can be read only once is not known anyway.
                if isStream { file.followClock() }
                state.withLock { $0.file = file }
                return contents
            }
            let scan = try readPrecisely(file, &contents, cancellation)
            state.withLock { $0.scan = scan }
            return contents
        } catch {
            throw error.at(path: displayName)
        }
    }

    /// The record for an opening of ``openedSource``, which is not the source any more once that was a pipe.
    private var recordOfReading: ReadingRecord? { isSpooled ? nil : record }

    /// The source to open: the file itself, or the one with the contents of a pipe.
    var openedSource: InputSource {
        get throws(MediaError) {
            if let spool = state.withLock({ $0.spool }) { return .descriptor(spool.descriptor) }
            guard let source = backing.input else {
                throw MediaError(.unsupported, "is put together from several files and cannot be read as one")
            }
            return source
        }
    }

    func open(_ cancellation: Cancellation) throws(MediaError) -> InputFile {
        try InputFile(
            opening: try openedSource, rawSound: options.rawSound, allowsNested: options.allowsNestedFiles,
            spoolsPipe: options.spoolsPipe, limits: options.limits, cancellation: cancellation,
            recordedBy: recordOfReading, locatedBy: HeaderRanges.announce, describedBy: StreamFacts.read)
    }

    /// Returns an open file, positioned at its start, for the caller's exclusive use.
    ///
    /// The first caller gets the file whose header was read; for later callers the source is opened again.
    /// - Parameter cancellation: Cancels reading from the file.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for the second reader of a pipe.
    func takeFile(_ cancellation: Cancellation) throws(MediaError) -> InputFile {
        let contents = try contents()
        let (file, isStream) = state.withLock { ($0.file.take(), $0.isStream) }
        if let file {
            cancellation.bind(file)
            return file
        }
        guard !isStream else {
            throw MediaError(.invalidArgument, "a stream can be read only once", path: displayName)
        }
        do {
            let file = try open(cancellation)
            contents.apply(to: file)
            return file
        } catch {
            throw error.at(path: displayName)
        }
    }

    /// Closes the file that is kept for the first reader, unless it is a stream; the reader then reopens it.
    package func letGoOfFile() { state.withLock { if !$0.isStream { $0.file = nil } } }

    /// Opens the source again to look up packets.
    ///
    /// - Parameters:
    ///   - contents: The contents whose edits and sample times apply to the packets; `nil` for none.
    ///   - readsAhead: True to read the streams' parameters, without which some demuxers report no times.
    func openForLookUp(_ contents: AssetContents?, readsAhead: Bool) throws(MediaError) -> InputFile {
        do {
            let file = try InputFile(
                opening: try openedSource, rawSound: options.rawSound, allowsNested: options.allowsNestedFiles,
                readsAhead: readsAhead, limits: options.limits, recordedBy: recordOfReading,
                locatedBy: HeaderRanges.announce, describedBy: StreamFacts.read)
            contents?.apply(to: file)
            return file
        } catch {
            throw error.at(path: displayName)
        }
    }

    /// Reads bytes of the source independently of any reader; `nil` for a stream or if reading fails.
    func sourceBytes(at position: UInt64, count: Int) -> [UInt8]? {
        let kept = state.withLock { $0.file }
        guard canBeReadAgain, let file = try? kept ?? openForLookUp(nil, readsAhead: false) else { return nil }
        return try? file.bytes(at: position, count: count)
    }

    /// The entity tag of the source, once its contents are loaded; `nil` if it has none.
    package var entityTag: String? {
        guard case .bytes(let bytes) = backing.input else { return nil }
        return bytes.source.entityTag
    }

    /// True if the source was a pipe, whose contents are in a temporary file.
    var isSpooled: Bool { state.withLock { $0.spool } != nil }

    /// True if the source can be opened again.
    var canBeReadAgain: Bool { state.withLock { !$0.isStream } }

    /// True if the asset can be read only once, sequentially; valid once its contents are loaded.
    var isStream: Bool { state.withLock { $0.isStream } }

    /// Returns the size of the source in bytes, or the number of bytes received so far from a stream.
    ///
    /// It is `nil` before the contents are loaded.
    var countedBytes: (@Sendable () -> Int)? { state.withLock { $0.countedBytes } }

    /// True if the result of ``packetScan(_:)`` is already available.
    var hasPacketScan: Bool { state.withLock { $0.scan != nil } }

    /// Returns the scan of all packets, which is made once per asset.
    func packetScan(_ cancellation: Cancellation) throws(MediaError) -> PacketScan {
        let contents = try contents()
        return try loading.withLock { _ throws(MediaError) in
            if let scan = state.withLock({ $0.scan }) { return scan }
            let scan: PacketScan
            do throws(MediaError) {
                let isStream = !canBeReadAgain
                scan = try PacketScan(
                    isStream ? try takeFile(cancellation) : try open(cancellation),
                    origin: contents.mediaOrigin(ofStream:))
            } catch {
                throw error.at(path: displayName)
            }
            state.withLock { $0.scan = scan }
            return scan
        }
    }

    /// Makes contents the asset's that say more of its tracks than before.
    func settle(_ contents: AssetContents) { state.withLock { $0.result = .success(contents) } }

    /// Returns the table of a track's samples, for which the track is read once.
    func sampleTable(of track: AssetTrack, _ cancellation: Cancellation) throws(MediaError) -> SampleTable {
        let contents = try contents()
        return try loading.withLock { _ throws(MediaError) in
            if let table = state.withLock({ $0.sampleTables[track.index] }) { return table }
            let table: SampleTable
            do throws(MediaError) {
                table = try SampleTable(
                    of: track, in: try takeFile(cancellation), origin: contents.origin(ofStream: track.index))
            } catch {
                throw error.at(path: displayName)
            }
            state.withLock { $0.sampleTables[track.index] = table }
            return table
        }
    }

    /// Checks without reading packets if the file is shorter than its header declares.
    ///
    /// The result is always `false` once a reader has taken the file that was opened first.
    package func isCutOff() throws(MediaError) -> Bool {
        _ = try contents()
        return state.withLock { $0.isCutOff ?? $0.file?.isCutOff } ?? false
    }

    /// Remembers the result of ``isCutOff()``.
    func noteCutOff() { state.withLock { $0.isCutOff = $0.isCutOff ?? $0.file?.isCutOff } }

    /// Cancels loading; it and all later loading fail with ``MediaError/Code-swift.struct/cancelled``.
    ///
    /// May be called from any thread and any number of times. Properties that are already loaded stay available, and
    /// readers continue.
    public func cancelLoading() {
        state.withLock { if $0.result == nil { cancellation.cancel() } }
    }

    var loadState: (result: Result<AssetContents, MediaError>?, isLoading: Bool) {
        state.withLock { ($0.result, $0.isLoading) }
    }
}
