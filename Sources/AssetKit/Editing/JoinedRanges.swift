import LibAV
import MediaBase

/// The time ranges of an output that joins the samples of several tracks.
///
/// Each track's output reads one range at a time, so that all of them are at the same one.
struct JoinedRanges {
    /// The range that is read; `nil` for the reader's own.
    private(set) var current: MediaTimeRange?
    private var further: ArraySlice<MediaTimeRange> = []
    /// True once `nil` was returned for all ranges so far.
    private var isOver = false
    private var isFinal = false

    /// Plans further ranges, with the errors of ``TrackOutput/reset(forReadingTimeRanges:)``.
    mutating func reset(_ ranges: [MediaTimeRange], of outputs: [TrackOutput]) throws(MediaError) {
        for output in outputs { try output.checkReset(ranges, isFinal: isFinal) }
        guard isOver else {
            throw MediaError(
                .invalidArgument, "further time ranges are read after the output has returned nil for those before")
        }
        further = ranges[...]
        isOver = false
    }

    /// Goes on to the next range, once all tracks have ended in the one before; returns false if there is none.
    mutating func next(of outputs: [TrackOutput]) throws(MediaError) -> Bool {
        guard let range = further.popFirst() else {
            isOver = true
            if isFinal { for output in outputs { output.markConfigurationAsFinal() } }
            return false
        }
        current = range
        for output in outputs { try output.reset(forReadingTimeRanges: [range]) }
        return true
    }

    /// Declares that no ranges follow the planned ones, for which the tracks' outputs must not be final yet.
    mutating func markAsFinal(_ outputs: [TrackOutput]) {
        isFinal = true
        if further.isEmpty { for output in outputs { output.markConfigurationAsFinal() } }
    }
}

extension [TrackOutput] {
    /// Indicates whether all outputs may read further time ranges.
    var supportRandomAccess: Bool {
        get { allSatisfy(\.supportsRandomAccess) }
        nonmutating set { for output in self { output.supportsRandomAccess = newValue } }
    }
}
