import FileOutput
import LibAV
import MatroskaMedia
import MediaBase
import SystemPackage
import Threading

/// The part of a writer that its inputs share: the container, the packets that wait for each other, and what went wrong.
///
/// Whoever adds a packet writes what can be written, under one lock.
final class MuxSession: Sendable {
    private let state: Mutex<State>
    private let output: OutputFile
    private let muxer: MuxerFile
    private let cancelled = Atomic(false)
    /// When writing ends with `timedOut`: that of what is read for it, where much may be made of little, such as silence.
    let deadline = Mutex<ContinuousClock.Instant?>(nil)
    private let fileType: MediaFileType
    private let header: FileHeader

    private struct State {
        var queue = InterleavingQueue()
        var lanes: [Lane] = []
        var isHeaderWritten = false
        var isClosed = false
        var error: MediaError?
        /// Bytes of all packets so far, which may wait in a temporary file for a long time.
        var addedBytes = 0
        /// The metadata that the finished file does not hold.
        var leftOut: [MetadataLeftOut] = []
    }

    /// One input's track.
    struct Lane: Sendable {
        /// What the input says of its track.
        let track: TrackHeader
        /// What its samples are; `nil` before the first one.
        var stream: WrittenStream?
        var isFinished = false
        /// Its place in the container; `nil` before the header is written, and for a track without samples.
        var index: Int?
        /// Which part of the presentation its samples are.
        var presented: (start: MediaTime, end: MediaTime)?
    }

    /// What the container says of itself as a whole.
    struct FileHeader: Sendable {
        var metadata: [MetadataItem] = []
        var chapters: [Chapter] = []
        /// Whether the index of QuickTime and MPEG-4 files comes first.
        var isIndexFirst = true
        /// Looks at the complete file before it is put in place; what it throws keeps that from happening.
        var verification: (@Sendable (FilePath) throws(MediaError) -> Void)?
    }

    init(output: OutputFile, fileType: MediaFileType, header: FileHeader, tracks: [TrackHeader]) throws(MediaError) {
        guard output.readablePath != nil else {
            throw MediaError(.unsupported, "media is not written to standard output", path: output.path.string)
        }
        self.output = output
        self.fileType = fileType
        self.header = header
        muxer = try MuxerFile(writingTo: output.descriptor, isSeekable: true, format: fileType.muxer) { growth in
            output.allowance?.take(Int(clamping: growth)) ?? true
        }
        var queue = InterleavingQueue()
        queue.open(lanes: tracks.count)
        state = Mutex(State(queue: queue, lanes: tracks.map { Lane(track: $0) }))
    }

    /// Whether the codecs' headers go into the container's.
    var usesGlobalHeaders: Bool { muxer.wantsGlobalHeaders }

    /// What went wrong first; `nil` as long as nothing did.
    var error: MediaError? { state.withLock { $0.error } }

    /// The metadata that the file does not hold; empty before it is complete.
    var leftOut: [MetadataLeftOut] { state.withLock { $0.leftOut } }

    /// Throws where nothing can be written any more.
    func check() throws(MediaError) {
        if cancelled.load(ordering: .relaxed) { throw MediaError(.cancelled, "cancelled", path: output.path.string) }
        if let error { throw error }
        if let late = MediaLimits.error(after: deadline.withLock { $0 }) { throw fail(late) }
    }

    /// An error with the file that it is about.
    func located(_ error: MediaError) -> MediaError { error.at(path: output.path.string) }

    /// Keeps the first failure, and gives back what callers are to be told.
    func fail(_ error: MediaError) -> MediaError {
        let named = located(error)
        guard named.code != .cancelled else { return named }
        return state.withLock { state in
            state.error = state.error ?? named
            return named
        }
    }
}

// MARK: - What inputs say

extension MuxSession {
    /// Says how an input's samples are coded.
    func begin(_ stream: WrittenStream, lane: Int) throws(MediaError) {
        try working { state throws(MediaError) in
            state.lanes[lane].stream = stream
            try write(&state)
        }
    }

    /// Takes a packet of an input.
    func add(_ packet: consuming Packet, lane: Int) throws(MediaError) {
        let shared = CompressedSample(packet)
        try working { state throws(MediaError) in
            guard let timeBase = state.lanes[lane].stream?.timeBase else { return }
            state.addedBytes += shared.packet.size
            if let allowance = output.allowance, !allowance.holds(state.addedBytes) { throw allowance.error }
            try state.queue.add(shared.packet.shared(), lane: lane, timeBase: timeBase)
            try write(&state)
        }
    }

    /// Says that an input has no more packets, and which part of the presentation it has filled.
    func finish(lane: Int, presented: (start: MediaTime, end: MediaTime)?) throws(MediaError) {
        try working { state throws(MediaError) in
            state.lanes[lane].isFinished = true
            state.lanes[lane].presented = presented
            state.queue.finish(lane: lane)
            try write(&state)
        }
    }

    private func working(_ body: (inout State) throws(MediaError) -> Void) throws(MediaError) {
        try check()
        do throws(MediaError) {
            try state.withLock { state throws(MediaError) in
                guard !state.isClosed else { throw MediaError(.cancelled, "cancelled") }
                try body(&state)
            }
        } catch {
            throw fail(named(error))
        }
    }

    /// Gives the system's reason where it could not write.
    private func named(_ error: MediaError) -> MediaError {
        if error.code != .cancelled, muxer.isOverLimit, let allowance = output.allowance { return allowance.error }
        guard error.code != .cancelled, let errno = muxer.writeFailure else { return error }
        return MediaError(errno, "write", path: output.path)
    }

    /// Writes the header when it can be, and then all packets whose turn it is.
    private func write(_ state: inout State) throws(MediaError) {
        if !state.isHeaderWritten {
            guard state.lanes.allSatisfy({ $0.stream != nil || $0.isFinished }),
                state.lanes.contains(where: { $0.stream != nil })
            else { return }
            try writeHeader(&state.lanes)
            state.isHeaderWritten = true
        }
        while let (lane, sample) = try state.queue.next() {
            guard let index = state.lanes[lane].index, let stream = state.lanes[lane].stream else { continue }
            try muxer.write(sample.packet, stream: index, timeBase: stream.timeBase)
        }
    }

    private func writeHeader(_ lanes: inout [Lane]) throws(MediaError) {
        for place in lanes.indices {
            guard let stream = lanes[place].stream else { continue }
            lanes[place].index = try muxer.add(lanes[place].track.description(of: stream, in: fileType))
        }
        // In QuickTime and MPEG-4 files it is written afterwards: libavformat makes text of all values.
        if !fileType.isISO {
            try muxer.setMetadata(MetadataWriting.entries(ofWholeFile(lanes)))
            for case (true, .data(let picture)) in header.metadata.map({ ($0.isArtwork, $0.value) }) {
                _ = try muxer.addCover(picture, ofStream: 0)
            }
        }
        try muxer.setChapters(header.chapters)
        try muxer.writeHeader(options: options(for: lanes))
    }

    /// The metadata of the file as a whole; in files of one track alone, with that track's.
    private func ofWholeFile(_ lanes: [Lane]) -> [MetadataItem] {
        guard fileType.maximumTracks == 1, let track = lanes.first?.track else { return header.metadata }
        return header.metadata
            + track.ownItems.filter { item in !header.metadata.contains { $0.identifier == item.identifier } }
    }

    private func options(for lanes: [Lane]) -> [(key: String, value: String)] {
        // AIFF's own chunks take four texts; all else goes into ID3's.
        if fileType == .aiff { return [("write_id3v2", "1")] }
        guard fileType.isISO else { return [] }
        return [("movie_timescale", String(Self.movieTimescale(lanes))), ("movflags", "write_colr")]
    }
}

extension MuxSession {
    /// Ticks a second of a movie: of which each track's tick is a whole number, so that edits are exact.
    ///
    /// Where that takes more than 32 bits, the finest track's: a reader that rounds to the others' ticks finds theirs.
    private static func movieTimescale(_ lanes: [Lane]) -> Int32 {
        // Subtitles need no finer times than the rest, and their clocks go by microseconds.
        let media = lanes.filter { $0.stream.map { $0.parameters.isAudio || $0.parameters.isVideo } ?? false }
        let scales = (media.isEmpty ? lanes : media).compactMap {
            $0.stream.flatMap { Int32(exactly: $0.timeBase.den) }
        }
        return MediaTime.commonTimescale(of: scales) ?? scales.max() ?? 48_000
    }
}

// MARK: - The end

extension MuxSession {
    /// Writes the rest, has the file looked at where that is asked for, and puts it in place.
    func complete() throws(MediaError) {
        try working { state throws(MediaError) in
            guard state.isHeaderWritten else {
                throw MediaError(.invalidArgument, "no samples were appended, so there is nothing to write")
            }
            try muxer.writeTrailer()
            if fileType.isISO { try finishMovie(state.lanes) }
            if fileType.isMatroska { try finishMatroska(state.lanes) }
            try checkCancelled()
            state.leftOut = findLeftOut(state.lanes)
        }
        // Without the lock, so that it can be cancelled meanwhile.
        if let verify = header.verification, let path = output.readablePath {
            do throws(MediaError) { try verify(path) } catch { throw fail(error) }
        }
        try working { state throws(MediaError) in
            do {
                try output.commit()
            } catch let error as MediaError {
                throw error
            } catch {
                throw MediaError(.inputOutput, "cannot write the file", cause: "\(error)")
            }
            state.isClosed = true
        }
    }

    /// Finds the metadata that the complete file does not hold, by reading it as any other file.
    private func findLeftOut(_ lanes: [Lane]) -> [MetadataLeftOut] {
        let ofTracks = lanes.map { $0.index == nil ? [] : $0.track.ownItems }
        guard !header.metadata.isEmpty || ofTracks.contains(where: { !$0.isEmpty }), let path = output.readablePath,
            let made = try? Asset(path: path).contents()
        else { return [] }
        // Some files have one list for the track and for the whole.
        let isOne = fileType.isSoundAlone && made.tracks.count { !$0.isAttachedPicture } == 1 && !fileType.isISO
        let whole = made.metadata + (isOne ? made.tracks.flatMap(\.metadata) : [])
        var leftOut = header.metadata.filter { !$0.isHeld(by: whole) }.map {
            MetadataLeftOut(item: $0, inputIndex: nil, fileType: fileType)
        }
        for (place, lane) in lanes.enumerated() {
            guard let index = lane.index, made.tracks.indices.contains(index) else { continue }
            let found = made.tracks[index].metadata + (isOne ? whole : [])
            leftOut += ofTracks[place].filter { !$0.isHeld(by: found) }.map {
                MetadataLeftOut(item: $0, inputIndex: place, fileType: fileType)
            }
        }
        return leftOut
    }

    private func checkCancelled() throws(MediaError) {
        if cancelled.load(ordering: .relaxed) { throw MediaError(.cancelled, "cancelled") }
    }

    private func finishMatroska(_ lanes: [Lane]) throws(MediaError) {
        var crops: [Int: MatroskaCrop] = [:]
        for lane in lanes {
            guard let index = lane.index, let stream = lane.stream, stream.parameters.isVideo,
                let rectangle = lane.track.cleanAperture?.wholePixels
            else { continue }
            crops[index] = MatroskaCrop(rectangle, pixelAspect: stream.sampleAspectRatio ?? .one)
        }
        do throws(MediaError) {
            try MatroskaFinisher(file: output.descriptor).finish(crops)
        } catch {
            throw error.at(path: output.path.string)
        }
    }

    private func finishMovie(_ lanes: [Lane]) throws(MediaError) {
        var edits: [MovieHeaderRewriter.Track] = []
        for lane in lanes {
            guard let index = lane.index else { continue }
            edits.append(
                MovieHeaderRewriter.Track(
                    index: index, presented: lane.presented, mediaStart: muxer.firstDecodeTime(ofStream: index),
                    cleanAperture: lane.track.cleanAperture, keepsTrackAperture: fileType == .mov,
                    isEnabled: lane.track.isEnabled, language: lane.track.language,
                    name: lane.track.ownItems.first { $0.identifier == "title" }?.value.text,
                    metadata: MetadataWriting.boxes(
                        lane.track.ownItems.filter { $0.identifier != "title" }, in: fileType),
                    creationTime: lane.track.creationTime,
                    dolbyVision: lane.track.dolbyVision, isVideo: lane.stream?.parameters.isVideo ?? false))
        }
        let places = header.metadata.filter(\.isLocation)
        let place = places.first { $0.language == nil } ?? places.first
        let movie = MovieHeaderRewriter.Movie(
            creationTime: header.metadata.first { $0.identifier == "creation_time" }?.value.text,
            location: place.flatMap { place in place.value.text.map { ($0, place.language) } },
            metadata: MetadataWriting.boxes(
                header.metadata.filter { $0.identifier != "creation_time" && $0 != place }, in: fileType),
            isQuickTime: fileType == .mov)
        let finisher = MovieHeaderRewriter(file: output.descriptor, isIndexFirst: header.isIndexFirst, movie: movie) {
            () throws(MediaError) in try self.checkCancelled()
        }
        do throws(MediaError) {
            try finisher.finish(edits)
        } catch {
            throw error.at(path: output.path.string)
        }
    }

    /// Has all writing end soon, without waiting for it.
    func cancel() {
        cancelled.store(true, ordering: .relaxed)
        muxer.cancel()
    }

    /// Ends all writing and removes what there is of the file, unless it is complete; from any thread, any number of
    /// times.
    func discard() {
        cancel()
        // Nobody writes any more when the lock is had, so that the descriptor may be closed.
        state.withLock { state in
            state.isClosed = true
            state.queue.removeAll()
            output.discard()
        }
    }
}
