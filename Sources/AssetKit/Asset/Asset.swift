package import FileOutput
import LibAV
import MediaBase
package import SystemCalls
public import SystemPackage
import Threading

/// A media file, or a stream that can be read like one: `AVURLAsset`.
///
/// Making an asset opens nothing. Its properties are loaded together, once, when the first of them is asked for:
///
/// ```swift
/// let asset = Asset(path: "interview.mov")
/// let (duration, tracks) = try await (asset.load(.duration), asset.load(.tracks))
/// ```
///
/// An asset may be used from any thread. Formats are recognised by content. Nothing but the named file is opened
/// unless ``Options/allowsNestedFiles`` says so.
public final class Asset: Sendable {
    /// How an asset is opened.
    public struct Options: Sendable, Hashable {
        /// Whether all packets are read (not decoded) so that durations, counts and random access are exact: what
        /// AVFoundation calls precise duration and timing.
        ///
        /// Otherwise the header's word is taken, which is exact for
        /// MP4, QuickTime, Matroska with cues, WAV and FLAC, and an estimate for TS, PS, ADTS and raw streams.
        public var isPrecise = false
        /// Whether a playlist or a reference in the file may make other files be opened; never the network, nor a device.
        public var allowsNestedFiles = false
        /// How the sound is stored in a file that is nothing but samples; `nil` where the format is recognised.
        public var rawSound: RawSound?
        /// What the file may ask for, and until when it is read.
        public var limits = MediaLimits()

        /// Whether what comes through a pipe is first read to its end, into a temporary file without a name, so that it can
        /// be read more than once and its length be told; MP4 and MP3 are in any case.
        package var spoolsPipe = false

        /// The header's word, and the named file alone.
        public init() {}
    }

    /// What is opened; `nil` for a composition.
    let source: InputSource?
    /// What is read where that is no file.
    let composition: Composition?
    /// How a composition's tracks become one of each kind, where that is what is read.
    let rendering: Rendering?
    let options: Options
    private let state = Mutex(State())
    private let loading = Mutex(())
    private let cancellation = Cancellation()

    private struct State {
        var result: Result<AssetContents, MediaError>?
        var isLoading = false
        /// The file whose header was read, kept for the first reader; the only one a stream can have.
        var file: InputFile?
        /// Whether the source can be read only once.
        var isStream = false
        /// What came through a pipe, where all of it had to be read first: opened from there again.
        var spool: SpoolFile?
        var scan: PacketScan?
        /// Tells how many bytes the source has, or how many of a stream have come.
        var countedBytes: (@Sendable () -> Int)?
        /// How many callers wait for loading and still want it.
        var interested = 0
    }

    private init(source: InputSource, options: Options) {
        self.source = source
        self.options = options
        composition = nil
        rendering = nil
    }

    /// An asset that is made of a composition, of which everything is known.
    init(_ rendering: Rendering, _ contents: AssetContents) {
        source = nil
        options = Options()
        composition = nil
        self.rendering = rendering
        state.withLock { $0.result = .success(contents) }
    }

    /// An asset that is put together from others, as the composition is now.
    ///
    /// Its sources are opened as they are read, and must not change until then.
    public init(composition: Composition) {
        source = nil
        options = Options()
        self.composition = composition
        rendering = nil
        state.withLock { $0.result = .success(AssetContents(composition)) }
    }

    /// An asset on a file; the path's bytes are used as they are, also where they are not UTF-8 or look like a protocol.
    public convenience init(path: FilePath, options: Options = Options()) {
        self.init(source: .path(path), options: options)
    }

    /// An asset on a file below a folder, by its path from there; what leads out of the folder is refused, whenever it is
    /// opened.
    package convenience init(path: FilePath, beneath folder: OpenFolder, options: Options = Options()) {
        self.init(source: .beneath(folder, path), options: options)
    }

    /// An asset on a descriptor that is open for reading, stays the caller's, and must outlive the asset's readers.
    public convenience init(descriptor: FileDescriptor, options: Options = Options()) {
        self.init(source: .descriptor(descriptor), options: options)
    }

    /// An asset on the process's standard input; where that is a pipe, it can be read once, in order.
    public static func standardInput(options: Options = Options()) -> Asset {
        Asset(source: .standardInput, options: options)
    }

    /// How the asset is named to a person: its path repaired to valid UTF-8, `-`, or `composition`.
    public var displayName: String { source?.displayName ?? "composition" }
}

// MARK: - Loading

extension Asset {
    /// What is known of the asset, opened and read first where that was not done yet.
    ///
    /// Callers wait for each other; the second finds what the first read.
    package func loadContents() throws(MediaError) { _ = try contents() }

    func contents() throws(MediaError) -> AssetContents {
        if let result = state.withLock({ $0.result }) { return try result.get() }
        let interest = Interest(in: self)
        defer { interest.end() }
        return try contentsWhileWanted()
    }

    /// The contents for a caller who has said that it is interested.
    func contentsWhileWanted() throws(MediaError) -> AssetContents {
        if let result = state.withLock({ $0.result }) { return try result.get() }
        return try loading.withLock { _ throws(MediaError) in
            if let result = state.withLock({ $0.result }) { return try result.get() }
            state.withLock { $0.isLoading = true }
            let result = Result { () throws(MediaError) in try read() }
            return try state.withLock { state in
                // Who cancelled before the end was known has to be told so: its file is no use any more.
                let isLate = cancellation.isCancelled
                let final = isLate ? .failure(MediaError(.cancelled, "cancelled", path: displayName)) : result
                state.result = final
                state.isLoading = false
                return final
            }.get()
        }
    }

    /// One caller's wish to have the asset loaded; loading is cancelled when the last one withdraws.
    final class Interest: Sendable {
        private let asset: Asset
        private let isOver = Atomic(false)

        init(in asset: Asset) {
            self.asset = asset
            asset.state.withLock { $0.interested += 1 }
        }

        /// Has no more need of it.
        func end() { leave(cancelling: false) }

        /// Wants it no more; cancels loading where nobody else waits for it.
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
            // Now, because a pipe that was read to its end is opened again from there.
            state.withLock {
                $0.isStream = isStream
                $0.spool = spool
                $0.countedBytes = countedBytes
            }
            var contents = try AssetContents(file, scan: nil)
            guard options.isPrecise, file.isSeekable else {
                file.apply(contents.edits, contents.times)
                state.withLock { $0.file = file }
                return contents
            }
            file.times = contents.times
            let scan = try PacketScan(file, origin: contents.mediaOrigin(ofStream:))
            contents = try AssetContents(file, scan: scan, programOrigins: contents.programOrigins)
            state.withLock { $0.scan = scan }
            return contents
        } catch {
            throw error.at(path: displayName)
        }
    }

    private var openedSource: InputSource {
        get throws(MediaError) {
            if let spool = state.withLock({ $0.spool }) { return .descriptor(spool.descriptor) }
            guard let source else {
                throw MediaError(.unsupported, "is put together from several files and cannot be read as one")
            }
            return source
        }
    }

    private func open(_ cancellation: Cancellation) throws(MediaError) -> InputFile {
        try InputFile(
            opening: try openedSource, rawSound: options.rawSound, allowsNested: options.allowsNestedFiles,
            spoolsPipe: options.spoolsPipe, limits: options.limits, cancellation: cancellation,
            describedBy: StreamFacts.read)
    }

    /// An open file at its beginning that belongs to the caller alone.
    ///
    /// The first caller gets the one whose header was read; later ones open the source again.
    /// - Parameter cancellation: Ends the reading of the file.
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
            file.apply(contents.edits, contents.times)
            return file
        } catch {
            throw error.at(path: displayName)
        }
    }

    /// Closes the file that is kept for a first reader, which then opens it again; not that of a stream.
    package func letGoOfFile() { state.withLock { if !$0.isStream { $0.file = nil } } }

    /// A second opening for looking up packets.
    ///
    /// - Parameters:
    ///   - contents: What is known of the asset, by which packets get their times.
    ///   - readsAhead: Whether the streams' parameters are learnt, without which some demuxers do not tell times.
    func openForLookUp(_ contents: AssetContents?, readsAhead: Bool) throws(MediaError) -> InputFile {
        do {
            let file = try InputFile(
                opening: try openedSource, rawSound: options.rawSound, allowsNested: options.allowsNestedFiles,
                readsAhead: readsAhead, limits: options.limits, describedBy: StreamFacts.read)
            file.apply(contents?.edits ?? [:], contents?.times ?? [:])
            return file
        } catch {
            throw error.at(path: displayName)
        }
    }

    /// Bytes of the source, apart from any reader; `nil` for a stream, and where they cannot be read.
    func sourceBytes(at position: UInt64, count: Int) -> [UInt8]? {
        let kept = state.withLock { $0.file }
        guard canBeReadAgain, let file = try? kept ?? openForLookUp(nil, readsAhead: false) else { return nil }
        return try? file.bytes(at: position, count: count)
    }

    /// Whether the first stored pictures may be such as cannot be decoded, as where a recording begins anywhere in a stream.
    package func mayBeginUndecodable() throws(MediaError) -> Bool {
        guard composition == nil else { return false }
        return try !contents().format.hasTrueSyncSamples
    }

    /// Whether the source can be opened once more.
    var canBeReadAgain: Bool { state.withLock { !$0.isStream } }

    /// Whether the asset can be read only once, in order; known once its contents are.
    var isStream: Bool { state.withLock { $0.isStream } }

    /// Tells how many bytes the source has, or how many of a stream have come; `nil` before its contents are known.
    var countedBytes: (@Sendable () -> Int)? { state.withLock { $0.countedBytes } }

    /// Whether ``packetScan(_:)`` costs nothing any more.
    var hasPacketScan: Bool { state.withLock { $0.scan != nil } }

    /// All packets' places, from a scan that is made once for the asset.
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

    /// What reading all packets shows of each track, by its ``AssetTrack/index``; a track without packets is left out.
    ///
    /// Nothing is decoded. The file is read once, with ``Options/isPrecise`` together with loading. A stream that can
    /// be read only once is then at its end.
    public func packetStatistics() throws(MediaError) -> [Int: PacketStatistics] {
        try packetScan(Cancellation()).streams.mapValues(\.statistics)
    }

    /// Whether the file is shorter than its header says, as far as that shows without reading packets.
    ///
    /// Known as long as no reader has taken the file that was opened first.
    package func isCutOff() throws(MediaError) -> Bool {
        _ = try contents()
        return state.withLock { $0.file }?.isCutOff ?? false
    }

    /// How many bytes before the media were passed over, because they are none of it.
    package func skippedBytes() throws(MediaError) -> Int64 { try contents().skippedBytes }

    /// Whether reading all packets, as for ``packetStatistics()``, showed that the container breaks off before its end.
    package func isTruncated() throws(MediaError) -> Bool { try packetScan(Cancellation()).isTruncated }

    /// Ends loading that is under way; it and all later loading fail with ``MediaError/Code-swift.struct/cancelled``.
    ///
    /// From any thread, any number of times. Properties that were loaded stay so, and readers go on.
    public func cancelLoading() {
        state.withLock { if $0.result == nil { cancellation.cancel() } }
    }

    var loadState: (result: Result<AssetContents, MediaError>?, isLoading: Bool) {
        state.withLock { ($0.result, $0.isLoading) }
    }
}

extension Asset {
    /// What the asset may ask for; of a composition, what its first source may.
    var limits: MediaLimits { (rendering?.asset.composition ?? composition)?.firstSource?.limits ?? options.limits }

    /// When reading ends, and all that is made of what was read; `nil` for never.
    package var deadline: ContinuousClock.Instant? { limits.deadline }

    /// Gives the bytes that outputs made of the asset may have together: ``MediaLimits/outputBytes``, or what goes with
    /// the size of its files and with how much has come through a pipe.
    ///
    /// - Parameter copying: Whether stored samples are copied, which makes no file much larger.
    /// - Returns: `nil` where there is no limit, because nested files may be of any size.
    /// - Throws: what loading the asset throws.
    package func outputAllowance(copying: Bool = false) throws(MediaError) -> OutputAllowance? {
        if let bytes = limits.outputBytes { return OutputAllowance { bytes } }
        guard let inputBytes = try inputBytes() else { return nil }
        return OutputAllowance {
            MediaLimits.standardOutputBytes(forInputOf: inputBytes(), copying: copying)
        }
    }

    /// Tells how many bytes the asset's files have, each counted as often as it is used; `nil` where that cannot be told.
    private func inputBytes() throws(MediaError) -> (@Sendable () -> Int)? {
        guard let composition = rendering?.asset.composition ?? composition else {
            _ = try contents()
            return options.allowsNestedFiles ? nil : countedBytes
        }
        var total = 0
        for source in composition.tracks.lazy.flatMap(\.segments).compactMap(\.asset) {
            guard let bytes = try source.inputBytes() else { return nil }
            let (sum, overflow) = total.addingReportingOverflow(bytes())
            total = overflow ? .max : sum
        }
        let bytes = total
        return { bytes }
    }
}

extension Composition {
    /// The first asset that media is taken from; `nil` where there are only gaps.
    fileprivate var firstSource: Asset? { tracks.lazy.flatMap(\.segments).compactMap(\.asset).first }
}
