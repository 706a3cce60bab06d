import LibAV
public import MediaBase
import Threading

// Several time ranges, one after the other.

/// Opens an asset once more to read a time range as the first reader does.
struct RangeOpener: Sendable {
    let asset: Asset
    let cancellation: Cancellation
    let threads: Int
    let decodesInChunks: Bool

    /// Starts reading a time range into an output that no reader has.
    func start(_ output: TrackOutput, in range: MediaTimeRange) throws(MediaError) {
        let reader = try AssetReader(asset: asset, cancellation: cancellation)
        reader.timeRange = range
        reader.threadsPerOutput = threads
        reader.decodesAudioInChunks = decodesInChunks
        try reader.add(output)
        try reader.startReading()
    }
}

/// The further time ranges that an output reads.
struct FurtherRanges {
    var ranges: ArraySlice<MediaTimeRange>
    /// The output that reads the current range; `nil` before the first one and between two.
    var output: TrackOutput?
}

extension TrackOutput {
    /// Indicates whether further time ranges may be read by ``reset(forReadingTimeRanges:)``; set it before reading
    /// starts.
    ///
    /// False by default. If true, the reader is not completed before ``markConfigurationAsFinal()``. Setting it later
    /// fails the reader.
    public var supportsRandomAccess: Bool {
        get { state.withLock { $0.supportsRandomAccess } }
        set {
            let session = state.withLock { state in
                if state.session == nil { state.supportsRandomAccess = newValue }
                return state.session
            }
            if let session { _ = session.fail(.setTooLate("supportsRandomAccess", before: "reading starts")) }
        }
    }

    /// Makes the output deliver further time ranges, once it has returned `nil`.
    ///
    /// The ranges need not lie in the reader's ``AssetReader/timeRange``, nor after those that were read before. They
    /// are read one after the other, each as by a reader of its own, for which the file is opened again. After the last
    /// one, the output returns `nil` again.
    /// - Parameter ranges: The time ranges on the presentation's time line, in rising order and without overlap.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` if the ranges are in another order or overlap, if
    ///   ``supportsRandomAccess`` is false, before the output has returned `nil`, and after
    ///   ``markConfigurationAsFinal()``. ``MediaError/Code-swift.struct/unsupported`` for an asset that can be read only
    ///   once. The reader's failure if it has failed or was cancelled.
    public func reset(forReadingTimeRanges ranges: [MediaTimeRange]) throws(MediaError) {
        let isFinal = state.withLock { $0.isConfigurationFinal }
        try read.use { read throws(MediaError) in
            try checkReset(ranges, read, isFinal: isFinal)
            read.further = FurtherRanges(ranges: ranges[...])
        }
    }

    /// Throws the errors of ``reset(forReadingTimeRanges:)``.
    func checkReset(_ ranges: [MediaTimeRange], isFinal: Bool) throws(MediaError) {
        try read.use { read throws(MediaError) in try checkReset(ranges, read, isFinal: isFinal) }
    }

    private func checkReset(_ ranges: [MediaTimeRange], _ read: Read, isFinal: Bool) throws(MediaError) {
        let areInOrder = zip(ranges, ranges.dropFirst()).allSatisfy { $0.end <= $1.start }
        guard areInOrder, ranges.allSatisfy({ $0.isValid && $0.start.isNumeric }) else {
            throw MediaError(.invalidArgument, "the time ranges are not valid, or not in rising order without overlap")
        }
        guard supportsRandomAccess, !isFinal else {
            throw MediaError(
                .invalidArgument,
                isFinal
                    ? "the output's configuration was marked as final"
                    : "the output reads one time range; set supportsRandomAccess before reading starts to read more")
        }
        guard let session = read.session, let opener = read.opener, read.isOver, read.further == nil else {
            throw MediaError(
                .invalidArgument, "further time ranges are read after the output has returned nil for those before")
        }
        if let failure = session.failure { throw failure }
        guard !opener.asset.isStream else {
            throw MediaError(.unsupported, "can be read only once", path: opener.asset.displayName)
        }
    }

    /// Declares that no further time ranges follow, so that the reader can be completed.
    ///
    /// May be called at any time and any number of times, but like reading only by one thread at a time; samples that are
    /// still to come are delivered.
    public func markConfigurationAsFinal() {
        state.withLock { $0.isConfigurationFinal = true }
        try? read.use { read in
            guard let session = read.session, read.isOver, read.further == nil else { return }
            end(&read, session)
        }
    }

    /// Ends a pass; the output itself ends where no further time ranges can follow.
    func end(_ read: inout Read, _ session: DemuxSession) {
        (read.isOver, read.further) = (true, nil)
        let mayGoOn = state.withLock { $0.supportsRandomAccess && !$0.isConfigurationFinal }
        guard !mayGoOn else { return session.outputPaused(read.id) }
        guard !read.hasEnded else { return }
        read.hasEnded = true
        session.outputEnded(read.id)
    }

    /// Returns the next value of the further time ranges; `nil` after the last one.
    func next<Value>(
        ofRanges read: inout Read, _ session: DemuxSession, _ next: (TrackOutput) throws(MediaError) -> Value?
    ) throws(MediaError) -> Value? {
        do throws(MediaError) {
            while true {
                if let output = read.further?.output {
                    if let value = try next(output) { return value }
                    session.add(output.damage, track: track.index) { $0 }
                    read.further?.output = nil
                }
                guard let range = read.further?.ranges.popFirst() else {
                    end(&read, session)
                    return nil
                }
                let output = another()
                try read.opener?.start(output, in: range)
                read.further?.output = output
            }
        } catch {
            throw session.fail(error)
        }
    }
}
