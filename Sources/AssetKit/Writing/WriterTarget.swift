import FileOutput
import MediaBase
import SystemPackage
import Threading

/// The place to which a writer writes.
enum WriterTarget: Sendable {
    /// A file that becomes visible when it is complete.
    case whole(OutputFile)
    /// A receiver of the fragments of a movie; the path names the output in errors.
    case fragments(any SegmentReceiver, FragmentWriter.Rules, path: FilePath, allowance: OutputAllowance?)

    /// The path of the output for errors.
    var path: FilePath {
        switch self {
        case .whole(let output): output.path
        case .fragments(_, _, let path, _): path
        }
    }

    /// The number of bytes that may be written; `nil` for no limit.
    var allowance: OutputAllowance? {
        switch self {
        case .whole(let output): output.allowance
        case .fragments(_, _, _, let allowance): allowance
        }
    }

    /// True for segments of a stream.
    var isSegmented: Bool {
        if case .fragments(_, let rules, _, _) = self { rules.isSegmented } else { false }
    }

    /// Removes the output unless it is complete.
    func discard() {
        switch self {
        case .whole(let output): output.discard()
        case .fragments(let receiver, _, _, _): receiver.discard()
        }
    }
}

/// Receives the parts of a fragmented movie, in order, from one thread at a time.
protocol SegmentReceiver: Sendable {
    /// Takes the next part.
    func receive(_ segment: AssetSegment) throws(MediaError)
    /// Completes the output after the last part.
    func finish() throws(MediaError)
    /// Removes the output, as far as possible.
    func discard()
}

/// A file that has its final name from its first fragment on.
struct GrowingFile: SegmentReceiver {
    let output: OutputFile

    func receive(_ segment: AssetSegment) throws(MediaError) {
        try output.write(contentsOf: segment.data)
        if segment.kind == .media { try output.publish() }
    }

    func finish() throws(MediaError) { try output.commit() }
    func discard() { output.discard() }
}

/// A sink that receives each part as soon as it is complete.
struct FragmentStream: SegmentReceiver {
    let sink: any ByteSink

    func receive(_ segment: AssetSegment) throws(MediaError) { try sink.write(segment.data) }
    func finish() throws(MediaError) { try sink.finish() }
    func discard() { sink.discard() }
}

/// A function that receives each segment.
struct SegmentCallback: SegmentReceiver {
    let body: @Sendable (AssetSegment) throws(MediaError) -> Void

    func receive(_ segment: AssetSegment) throws(MediaError) { try body(segment) }
    func finish() throws(MediaError) {}
    func discard() {}
}

/// Keeps everything that a writer writes in memory: a ``ByteSink``.
///
/// ```swift
/// let memory = MemorySink()
/// let writer = try AssetWriter(sink: memory, fileType: .m4a)
/// // ... after finishWriting():
/// let asset = Asset(bytes: memory.bytes, name: "narration")
/// ```
public final class MemorySink: ByteSink {
    private let state = Mutex<(bytes: [UInt8], isFinished: Bool)>(([], false))

    /// Creates an empty sink.
    public init() {}

    /// The bytes that were written so far; empty after writing failed or was cancelled.
    public var bytes: [UInt8] { state.withLock(\.bytes) }

    /// True once all bytes were written.
    public var isFinished: Bool { state.withLock(\.isFinished) }

    /// Appends bytes.
    ///
    /// - Parameter bytes: The bytes to append.
    public func write(_ bytes: [UInt8]) { state.withLock { $0.bytes += bytes } }

    /// Marks the bytes as complete.
    public func finish() { state.withLock { $0.isFinished = true } }

    /// Removes all bytes.
    public func discard() { state.withLock { $0 = ([], false) } }
}
