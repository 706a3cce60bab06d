/// How far a job that writes media has come.
package struct JobProgress: Sendable {
    /// From 0 to 1; 0 where the end is not known.
    package var fraction: Double
    /// Seconds of the source that were done.
    package var seconds: Double
}
