package import MediaBase

/// A range as it was asked for, in exact times.
package struct RequestedRange: Encodable, Sendable {
    /// The first moment; `nil` where none was asked for.
    package var start: MediaTime?
    /// The first moment that is not wanted; `nil` for the end.
    package var end: MediaTime?
}
