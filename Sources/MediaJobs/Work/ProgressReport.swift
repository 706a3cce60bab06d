internal import JSONText

/// How far the work on the files of a run is, for a program that shows it.
struct ProgressReport: Sendable, Encodable {
    /// The completed fraction of all files, from 0 to 1, each file counting the same.
    var fraction: Double
    /// The seconds since the run began.
    var elapsedSeconds: Double
    /// The seconds that are left at the speed so far; `nil` in the first second, and while nothing is done.
    var secondsLeft: Double?
    /// The number of files.
    var files: Int
    /// The number of files that are over, with those that failed.
    var filesDone: Int
    /// The number of files that failed.
    var filesFailed: Int
    /// The seconds of media of the files that are over.
    var mediaSeconds: Double

    /// The report as a line of JSON without a line break: `{"progress":{"fraction":0.25,…}}`.
    ///
    /// Empty if it cannot be encoded, which no report is.
    var jsonLine: String { (try? OrderedJSONEncoder().string(["progress": self])) ?? "" }
}
