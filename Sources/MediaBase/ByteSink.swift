/// A destination of bytes that are written in order: memory, a socket, an upload to an object store.
///
/// It is the counterpart of ``ByteSource`` and corresponds to `write(2)`: each call continues where the one before it
/// ended.
///
/// ```swift
/// final class Upload: ByteSink {
///     let request: Request
///     func write(_ bytes: [UInt8]) throws(MediaError) { try request.send(bytes) }
///     func finish() throws(MediaError) { try request.complete() }
///     func discard() { request.abort() }
/// }
/// let writer = try AssetWriter(sink: Upload(request: request), fileType: .mp4)
/// writer.movieFragmentInterval = MediaTime(value: 2, timescale: 1)
/// ```
///
/// The methods are called from one thread at a time and never on Swift's cooperative threads, so they may block, which
/// slows the writer down to the sink's speed. A sink is used for one output: it receives either one ``finish()`` or one
/// ``discard()`` at the end.
public protocol ByteSink: Sendable {
    /// Writes bytes after those written before.
    ///
    /// - Parameter bytes: The bytes to write, all of them.
    /// - Throws: `MediaError` if they cannot be written, which ends the writing with this error.
    func write(_ bytes: [UInt8]) throws(MediaError)

    /// Ends the output after its last byte; it is then complete.
    ///
    /// - Throws: `MediaError` if the output cannot be completed, which fails the writing with this error.
    func finish() throws(MediaError)

    /// Gives the output up, because writing failed or was cancelled: what was written should be removed.
    func discard()
}
