import ContainerFacts
import FileOutput
import ISOMedia
import LibAV
import MatroskaMedia
import MediaBase
import SystemPackage
import Threading

/// The part of a writer that its inputs share: the container, the queued packets, and the first error.
///
/// The thread that adds a packet also writes every packet that is due, under one lock.
final class MuxSession: Sendable {
    private let state: Mutex<State>
    private let target: WriterTarget
    private let muxer: MuxerFile
    private let cancelled = Atomic(false)
    /// The time at which writing fails with `timedOut`: the deadline of the asset that is read.
    ///
    /// It also limits cases in which little input yields much output, such as silence.
    let deadline = Mutex<ContinuousClock.Instant?>(nil)
    private let fileType: MediaFileType
    private let header: FileHeader

    private struct State {
        var queue = InterleavingQueue()
        var lanes: [Lane] = []
        /// Cuts the movie into fragments; `nil` for a whole file and before the header is written.
        var fragments: FragmentWriter?
        var isHeaderWritten = false
        var isClosed = false
        var error: MediaError?
        /// The total size of all packets added so far, in bytes; they may wait in a temporary file for a long time.
        var addedBytes = 0
        /// The metadata that is missing from the finished file.
        var leftOut: [MetadataLeftOut] = []
    }

    /// The track of one input.
    struct Lane: Sendable {
        /// The input's metadata and other properties of the track.
        let track: TrackHeader
        /// The format of the samples; `nil` before the first sample.
        var stream: WrittenStream?
        var isFinished = false
        /// The stream index in the container; `nil` before the header is written, and for a track without samples.
        var index: Int?
        /// The time at which the first packet is decoded, and that at which the track is presented from; `nil` before it.
        var first: (decode: MediaTime, presentation: MediaTime)?
        /// The part of the presentation that the samples cover.
        var presented: (start: MediaTime, end: MediaTime)?
        /// The comments of a stream in Ogg or FLAC, of which the muxer writes a placeholder.
        var comments: VorbisComments.Written?
    }

    /// The metadata and options of the container as a whole.
    struct FileHeader: Sendable {
        var metadata: [MetadataItem] = []
        var chapters: [Chapter] = []
        /// Indicates whether the index of QuickTime and MPEG-4 files precedes the media.
        var isIndexFirst = true
        /// Verifies the complete file before it gets its final name; an error prevents that.
        ///
        /// The path is `nil` for fragments and segments.
        var verification: (@Sendable (FilePath?) throws(MediaError) -> Void)?
    }

    init(target: WriterTarget, fileType: MediaFileType, header: FileHeader, tracks: [TrackHeader]) throws(MediaError) {
        let file: FileDescriptor?
        switch target {
        case .whole(let output):
            guard output.readablePath != nil else {
                throw MediaError(.unsupported, "media is not written to standard output", path: output.path.string)
            }
            file = output.descriptor
        case .fragments:
            guard fileType.isISO else {
                throw MediaError(
                    .unsupported, "\(fileType) files have no fragments; choose mp4, m4a or mov",
                    path: target.path.string)
            }
            file = nil
        }
        self.target = target
        self.fileType = fileType
        self.header = header
        let allowance = target.allowance
        muxer = try MuxerFile(writingTo: file, isSeekable: file != nil, format: fileType.muxer) { growth in
            allowance?.take(Int(clamping: growth)) ?? true
        }
        var queue = InterleavingQueue()
        queue.open(lanes: tracks.count)
        state = Mutex(State(queue: queue, lanes: tracks.map { Lane(track: $0) }))
    }

    /// True if the container stores the codecs' headers in its own header.
    var usesGlobalHeaders: Bool { muxer.wantsGlobalHeaders }

    /// The first error; `nil` if none occurred.
    var error: MediaError? { state.withLock { $0.error } }

    /// The metadata that is missing from the file; empty before the file is complete.
    var leftOut: [MetadataLeftOut] { state.withLock { $0.leftOut } }

    /// Throws if writing was cancelled, has failed or has passed its deadline.
    func check() throws(MediaError) {
        if cancelled.load(ordering: .relaxed) { throw MediaError(.cancelled, "cancelled", path: target.path.string) }
        if let error { throw error }
        if let late = MediaLimits.error(after: deadline.withLock { $0 }) { throw fail(late) }
    }

    /// Returns the error with the path of the output file.
    func located(_ error: MediaError) -> MediaError { error.at(path: target.path.string) }

    /// Records the first failure and returns the error to throw to the caller.
    func fail(_ error: MediaError) -> MediaError {
        let named = located(error)
        guard named.code != .cancelled else { return named }
        state.withLock { $0.error = $0.error ?? named }
        return named
    }
}

// MARK: - Calls from inputs

extension MuxSession {
    /// Sets the format of an input's samples.
    func begin(_ stream: WrittenStream, lane: Int) throws(MediaError) {
        try working { state throws(MediaError) in
            state.lanes[lane].stream = stream
            try write(&state)
        }
    }

    /// Adds a packet of an input and writes all packets that are due.
    func add(_ packet: consuming Packet, lane: Int) throws(MediaError) {
        let shared = CompressedSample(packet)
        try working { state throws(MediaError) in
            guard let stream = state.lanes[lane].stream else { return }
            let timeBase = stream.timeBase
            state.addedBytes += shared.packet.size
            if state.lanes[lane].first == nil, let ticks = shared.packet.dts ?? shared.packet.pts {
                let first = (
                    MediaTime(ticks: ticks, timeBase: timeBase),
                    MediaTime(ticks: shared.packet.pts ?? ticks, timeBase: timeBase) + stream.priming
                )
                state.lanes[lane].first = first
                state.fragments?.begin(lane: lane, with: first)
            }
            if let allowance = target.allowance, !allowance.holds(state.addedBytes) { throw allowance.error }
            try state.queue.add(shared.packet.shared(), lane: lane, timeBase: timeBase)
            try write(&state)
        }
    }

    /// Marks an input as finished and records the part of the presentation that it covers.
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

    /// Replaces an error of the muxer with its cause: the exceeded size limit or the system's error.
    private func named(_ error: MediaError) -> MediaError {
        if error.code != .cancelled, muxer.isOverLimit, let allowance = target.allowance { return allowance.error }
        guard error.code != .cancelled, let errno = muxer.writeFailure else { return error }
        return MediaError(errno, "write", path: target.path)
    }

    /// Writes the header as soon as possible, then all packets that are due.
    private func write(_ state: inout State) throws(MediaError) {
        if !state.isHeaderWritten {
            guard state.lanes.allSatisfy({ $0.stream != nil || $0.isFinished }),
                state.lanes.contains(where: { $0.stream != nil })
            else { return }
            try writeHeader(&state.lanes)
            state.isHeaderWritten = true
            if case .fragments(let receiver, let rules, _, _) = target {
                var writer = FragmentWriter(
                    muxer, lanes: state.lanes, edits: movieEdits(state.lanes), rules: rules, receiver: receiver)
                for (place, lane) in state.lanes.enumerated() {
                    if let first = lane.first { writer.begin(lane: place, with: first) }
                }
                state.fragments = writer
            }
        }
        while let (lane, sample) = try state.queue.next() {
            guard let index = state.lanes[lane].index, let stream = state.lanes[lane].stream else { continue }
            if state.fragments != nil {
                try state.fragments?.add(sample, lane: lane)
                // At once, because another track leads from here on.
                try endDrainedLanes(&state)
            } else {
                try muxer.write(sample.packet, stream: index, timeBase: stream.timeBase)
            }
        }
        try endDrainedLanes(&state)
    }

    /// Tells the writer of fragments which tracks have no more packets.
    private func endDrainedLanes(_ state: inout State) throws(MediaError) {
        guard state.fragments != nil else { return }
        for lane in state.lanes.indices where state.queue.isDrained(lane: lane) {
            try state.fragments?.end(lane: lane, at: state.lanes[lane].presented?.end)
        }
    }

    private func writeHeader(_ lanes: inout [Lane]) throws(MediaError) {
        // Players of streams have no use for a track of timecode.
        let hasTimecodeTrack = target.isSegmented || lanes.contains { $0.stream?.description?.handler == "tmcd" }
        for place in lanes.indices {
            guard let stream = lanes[place].stream else { continue }
            var description = lanes[place].track.description(
                of: stream, in: fileType, hasTimecodeTrack: hasTimecodeTrack)
            if fileType.hasComments {
                lanes[place].comments = MetadataWriting.comments(
                    header.metadata, lanes[place].track.ownItems, in: fileType)
                if fileType == .ogg, let comments = lanes[place].comments {
                    description.metadata.append(comments.placeholder)
                }
            }
            lanes[place].index = try muxer.add(description)
        }
        // QuickTime and MPEG-4 metadata is written later, because libavformat turns all values into text.
        if fileType == .flac, let comments = lanes.first?.comments {
            try muxer.setMetadata([comments.placeholder])
        } else if !fileType.isISO, !fileType.hasComments {
            let ofTrack = fileType.maximumTracks == 1 ? lanes.first?.track.ownItems ?? [] : []
            try muxer.setMetadata(MetadataWriting.entries(header.metadata, ofTrack, in: fileType))
        }
        if !fileType.isISO, fileType != .ogg {
            for cover in MetadataWriting.covers(header.metadata) { _ = try muxer.addCover(cover) }
        }
        try muxer.setChapters(header.chapters)
        try muxer.writeHeader(options: options(for: lanes))
    }

    private func options(for lanes: [Lane]) -> [(key: String, value: String)] {
        // AIFF's own chunks hold four texts; all other metadata goes into an ID3 chunk.
        if fileType == .aiff { return [("write_id3v2", "1")] }
        guard fileType.isISO else { return [] }
        var flags = "write_colr"
        if case .fragments(_, let rules, _, _) = target {
            flags += "+frag_custom+delay_moov+default_base_moof" + (rules.isSegmented ? "+skip_trailer" : "")
        }
        return [("movie_timescale", String(MovieHeaderEdits.timescale(of: lanes))), ("movflags", flags)]
    }
}

// MARK: - The end

extension MuxSession {
    /// Writes the remaining packets, verifies the file if requested, and moves it to its final name.
    func complete() throws(MediaError) {
        guard case .whole(let output) = target else { return try completeFragments() }
        try working { state throws(MediaError) in
            try checkHasHeader(state)
            try muxer.writeTrailer()
            if fileType.isISO { try finishMovie(output.descriptor, state.lanes) }
            if fileType.isMatroska { try finishMatroska(output.descriptor, state.lanes) }
            if fileType.hasComments {
                try CommentRewriter(file: output.descriptor).finish(
                    state.lanes.map { ($0.index, $0.comments) }, in: fileType)
            }
            try checkCancelled()
            state.leftOut = findLeftOut(state.lanes, in: output.readablePath.map { Asset(path: $0) })
        }
        // Called without the lock, so that writing can be cancelled during verification.
        if let verify = header.verification, let path = output.readablePath {
            do throws(MediaError) { try verify(path) } catch { throw fail(error) }
        }
        try working { state throws(MediaError) in
            try output.commit()
            state.isClosed = true
        }
    }

    /// Writes the last fragment.
    private func completeFragments() throws(MediaError) {
        try working { state throws(MediaError) in
            try checkHasHeader(state)
            try state.fragments?.finish()
            let header = state.fragments?.header ?? []
            state.leftOut = findLeftOut(state.lanes, in: Asset(bytes: header))
        }
        if let verify = header.verification {
            do throws(MediaError) { try verify(nil) } catch { throw fail(error) }
        }
        try working { state throws(MediaError) in
            try state.fragments?.complete()
            state.isClosed = true
        }
    }

    private func checkHasHeader(_ state: State) throws(MediaError) {
        guard state.isHeaderWritten else {
            throw MediaError(.invalidArgument, "no samples were appended, so there is nothing to write")
        }
    }

    /// Reads the complete file like any other and returns the metadata that it lacks.
    private func findLeftOut(_ lanes: [Lane], in asset: Asset?) -> [MetadataLeftOut] {
        let tracks = lanes.map { lane in lane.index.map { (index: $0, items: lane.track.ownItems) } }
        return MetadataLeftOut.find(header.metadata, tracks: tracks, in: asset, of: fileType)
    }

    private func checkCancelled() throws(MediaError) {
        if cancelled.load(ordering: .relaxed) { throw MediaError(.cancelled, "cancelled") }
    }

    private func finishMatroska(_ file: FileDescriptor, _ lanes: [Lane]) throws(MediaError) {
        var crops: [Int: MatroskaCrop] = [:]
        for lane in lanes {
            guard let index = lane.index, let stream = lane.stream, stream.parameters.isVideo,
                let rectangle = lane.track.cleanAperture?.wholePixels
            else { continue }
            crops[index] = MatroskaCrop(rectangle, pixelAspect: stream.sampleAspectRatio ?? .one)
        }
        try MatroskaHeaderRewriter(file: file).finish(crops)
    }

    private func finishMovie(_ file: FileDescriptor, _ lanes: [Lane]) throws(MediaError) {
        let finisher = MovieHeaderRewriter(file: file, isIndexFirst: header.isIndexFirst, edits: movieEdits(lanes)) {
            () throws(MediaError) in try self.checkCancelled()
        }
        try finisher.finish()
    }

    /// Returns the edits that complete the movie header of libavformat.
    private func movieEdits(_ lanes: [Lane]) -> MovieHeaderEdits {
        var edits: [MovieHeaderEdits.Track] = []
        for lane in lanes {
            guard let index = lane.index else { continue }
            edits.append(
                MovieHeaderEdits.Track(
                    index: index, presented: lane.presented.map { ($0.start, $0.end) },
                    mediaStart: muxer.firstDecodeTime(ofStream: index),
                    cleanAperture: lane.track.cleanAperture, keepsTrackAperture: fileType == .mov,
                    isEnabled: lane.track.isEnabled, alternateGroup: lane.track.alternateGroup,
                    language: lane.track.language,
                    name: lane.track.ownItems.first { $0.name == "title" }?.value.text,
                    metadata: MetadataWriting.boxes(
                        lane.track.ownItems.filter { $0.name != "title" }, in: fileType),
                    creationTime: lane.track.creationTime,
                    dolbyVision: lane.track.dolbyVision, isVideo: lane.stream?.parameters.isVideo ?? false,
                    description: lane.stream?.description,
                    references: lane.track.references.compactMap { reference in
                        lanes[reference.lane].index.map { (reference.type, $0) }
                    }))
        }
        let places = header.metadata.filter(\.isLocation)
        let place = places.first { $0.language == nil } ?? places.first
        let movie = MovieHeaderEdits.Movie(
            creationTime: header.metadata.first { $0.name == "creation_time" }?.value.text,
            location: place.flatMap { place in place.value.text.map { ($0, place.language) } },
            metadata: MetadataWriting.boxes(
                header.metadata.filter { $0.name != "creation_time" && $0 != place }, in: fileType),
            isQuickTime: fileType == .mov)
        return MovieHeaderEdits(movie: movie, tracks: edits)
    }

    /// Makes all writing end soon, without waiting for it.
    func cancel() {
        cancelled.store(true, ordering: .relaxed)
        muxer.cancel()
    }

    /// Ends all writing and removes the file unless it is complete; may be called from any thread, any number of times.
    func discard() {
        cancel()
        // Once the lock is held no thread writes, so the descriptor may be closed.
        state.withLock { state in
            state.isClosed = true
            state.queue.removeAll()
            target.discard()
        }
    }
}
