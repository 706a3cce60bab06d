public import MediaBase

/// What delivers samples of a reader: one track, or several made one: `AVAssetReaderOutput`.
///
/// ``TrackOutput``, ``AudioMixOutput`` and ``VideoCompositionOutput`` are those that the package has. A type of
/// your own may take its samples from one of them.
public protocol ReaderOutput: Sendable {
    /// The outputs of single tracks that samples are taken from.
    var trackOutputs: [TrackOutput] { get }

    /// The next samples in presentation order; `nil` at the end.
    func nextSampleBuffer() throws(MediaError) -> SampleBuffer?
}

extension TrackOutput: ReaderOutput {
    /// Itself.
    public var trackOutputs: [TrackOutput] { [self] }
}
