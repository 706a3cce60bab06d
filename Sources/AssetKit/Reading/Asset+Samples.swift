import LibAV
public import MediaBase
import Threading

extension Asset {
    /// Opens one track for reading, and returns its samples as an asynchronous sequence.
    ///
    /// ```swift
    /// for try await buffer in try await asset.samples(of: track, as: .audio(AudioSettings(sampleFormat: .int16))) { … }
    /// ```
    /// - Parameters:
    ///   - track: A track of the asset.
    ///   - settings: The form in which samples are delivered.
    ///   - range: The part of the presentation to read, as in ``AssetReader/timeRange``.
    /// - Throws: Errors from ``AssetReader/add(_:)`` and ``AssetReader/startReading()``.
    public func samples(
        of track: AssetTrack, as settings: TrackOutput.Settings,
        in range: MediaTimeRange = MediaTimeRange(start: .zero, duration: .positiveInfinity)
    ) async throws(MediaError) -> TrackOutput.SampleBufferSequence {
        let cancellation = Cancellation()
        return try await offload(onCancel: { cancellation.cancel() }) { () throws(MediaError) in
            try self.samplesNow(of: track, as: settings, in: range, cancellation: cancellation).sampleBuffers
        }
    }

    /// Opens one track for reading on the calling thread, and returns the output from which to take its samples.
    ///
    /// The parameters and errors are those of ``samples(of:as:in:)``.
    public func samplesNow(
        of track: AssetTrack, as settings: TrackOutput.Settings,
        in range: MediaTimeRange = MediaTimeRange(start: .zero, duration: .positiveInfinity)
    ) throws(MediaError) -> TrackOutput {
        try samplesNow(of: track, as: settings, in: range, threads: 0)
    }

    /// Opens one track for reading with a number of codec threads; 0 for one per core.
    package func samplesNow(
        of track: AssetTrack, as settings: TrackOutput.Settings,
        in range: MediaTimeRange = MediaTimeRange(start: .zero, duration: .positiveInfinity), threads: Int
    ) throws(MediaError) -> TrackOutput {
        try samplesNow(of: track, as: settings, in: range, threads: threads, cancellation: Cancellation())
    }

    func samplesNow(
        of track: AssetTrack, as settings: TrackOutput.Settings, in range: MediaTimeRange, threads: Int = 0,
        cancellation: Cancellation
    ) throws(MediaError) -> TrackOutput {
        let reader = try AssetReader(asset: self, cancellation: cancellation)
        reader.timeRange = range
        reader.threadsPerOutput = threads
        let output = TrackOutput(track: track, settings: settings)
        try reader.add(output)
        try reader.startReading()
        return output
    }
}
