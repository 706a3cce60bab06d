package import MediaBase
import Threading

/// A record of what is read of one source: how many bytes, and if asked for, the digest of them all.
///
/// The digest is computed while others read, in whatever parts they do. What continues at the place up to which the source is
/// known is added at once. Parts that come a little too early wait, because several ranges may be on their way; what is
/// known is passed over. ``readRemainder(upTo:_:)`` reads what nobody has read.
///
/// It may be used from any thread. Two are equal if they are the same object.
package final class ReadingRecord: Sendable, Hashable {
    private let state: Mutex<State>

    fileprivate struct State: ~Copyable {
        let algorithm: MessageDigest.Algorithm?
        /// The digest; `nil` before the first byte.
        var digest: MessageDigest?
        var failure: MediaError?
        /// The digest of all bytes once it is finished.
        var result: [UInt8]?
        /// The offset up to which all bytes are part of the digest.
        var position: UInt64 = 0
        /// The parts that begin later, in the order of their offsets.
        var early: [(offset: UInt64, bytes: [UInt8])] = []
        var earlyBytes = 0
        var bytesRead: UInt64 = 0
    }

    /// The maximum number of bytes that wait, which is more than is fetched ahead on the network at once.
    fileprivate static let room = 32 << 20
    /// The number of bytes that are read at once at the end.
    private static let block = 4 << 20

    /// Creates the record of a source of which nothing was read.
    ///
    /// - Parameter algorithm: The algorithm of the digest; `nil` to count bytes only.
    package init(digest algorithm: MessageDigest.Algorithm? = nil) {
        state = Mutex(State(algorithm: algorithm))
    }

    /// The number of bytes that were read of the source, each as often as it was.
    package var bytesRead: UInt64 { state.withLock { $0.bytesRead } }

    /// True if the record has a digest that is not finished.
    package var isDigesting: Bool { state.withLock { $0.algorithm != nil && $0.result == nil } }

    /// The offset up to which all bytes are part of the digest.
    package var position: UInt64 { state.withLock { $0.position } }

    /// Notes bytes that somebody has read of the source.
    package func note(_ bytes: RawSpan, at offset: UInt64) {
        state.withLock { state in
            state.bytesRead += UInt64(bytes.byteCount)
            state.add(bytes, at: offset)
        }
    }

    /// Reads what nobody has read of the source, in order, so that the digest is that of all bytes.
    ///
    /// Does nothing without a digest, and once that is finished.
    ///
    /// - Parameters:
    ///   - size: The number of bytes of the source.
    ///   - read: Returns bytes at an offset: as many as asked for, or fewer, but none only at the end of the source.
    /// - Throws: The errors of `read`, and `changed` if the source ends before its size.
    package func readRemainder(
        upTo size: UInt64, _ read: (_ offset: UInt64, _ count: Int) throws(MediaError) -> [UInt8]
    ) throws(MediaError) {
        guard isDigesting else { return }
        while case let place = position, place < size {
            let bytes = try read(place, Int(min(UInt64(Self.block), size - place)))
            guard !bytes.isEmpty else {
                throw MediaError(.changed, "became shorter while it was read; try again when nobody writes to it")
            }
            // The one who read them may have noted them already, and then they are passed over.
            try state.withLock { state throws(MediaError) in
                state.add(bytes.span.bytes, at: place)
                if let failure = state.failure { throw failure }
            }
        }
    }

    /// Returns the digest of all bytes up to the position; `nil` if bytes are only counted.
    ///
    /// Bytes that are read later are no part of it.
    package func finish() throws(MediaError) -> [UInt8]? {
        try state.withLock { state throws(MediaError) in try state.finish() }
    }

    /// Returns true if both are the same object.
    package static func == (first: ReadingRecord, second: ReadingRecord) -> Bool { first === second }

    /// Hashes the identity.
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ReadingRecord.State {
    /// Adds bytes to the digest, now or when those before them have come.
    mutating func add(_ bytes: RawSpan, at offset: UInt64) {
        guard algorithm != nil, result == nil, failure == nil else { return }
        guard offset <= position else { return keep(bytes, at: offset) }
        append(bytes, at: offset)
        while let next = early.first, next.offset <= position {
            early.removeFirst()
            earlyBytes -= next.bytes.count
            append(next.bytes.span.bytes, at: next.offset)
        }
    }

    /// Adds what of some bytes is not known.
    private mutating func append(_ bytes: RawSpan, at offset: UInt64) {
        let known = position - offset
        guard known < UInt64(bytes.byteCount) else { return }
        begin()
        digest?.update(bytes.extracting(Int(known)..<bytes.byteCount))
        position = offset + UInt64(bytes.byteCount)
    }

    private mutating func begin() {
        guard digest == nil, let algorithm else { return }
        do throws(MediaError) {
            digest = try MessageDigest(algorithm)
        } catch {
            failure = error
        }
    }

    /// Keeps bytes that come too early, unless they come much too early.
    private mutating func keep(_ bytes: RawSpan, at offset: UInt64) {
        guard bytes.byteCount > 0, offset - position <= UInt64(ReadingRecord.room) else { return }
        let place = early.firstIndex { $0.offset >= offset } ?? early.count
        if place < early.count, early[place].offset == offset {
            guard early[place].bytes.count < bytes.byteCount else { return }
            earlyBytes -= early.remove(at: place).bytes.count
        }
        early.insert((offset, bytes.withUnsafeBytes { Array($0) }), at: place)
        earlyBytes += bytes.byteCount
        // The last ones are wanted last.
        while earlyBytes > ReadingRecord.room, let last = early.popLast() { earlyBytes -= last.bytes.count }
    }

    mutating func finish() throws(MediaError) -> [UInt8]? {
        if let failure { throw failure }
        if result == nil {
            begin()
            if let failure { throw failure }
            result = digest.take()?.finish()
            early = []
            earlyBytes = 0
        }
        return result
    }
}

/// A byte source that notes what is read of another one.
package struct RecordedSource: ByteSource {
    private let source: any ByteSource
    private let record: ReadingRecord

    /// Creates a source of another one's bytes.
    package init(_ source: any ByteSource, in record: ReadingRecord) {
        self.source = source
        self.record = record
    }

    /// The number of bytes of the other source.
    package var size: UInt64? { source.size }

    /// Prepares reading the other source.
    package func open() throws(MediaError) { try source.open() }

    /// Reads bytes of the other source, and notes them.
    package func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
        let bytes = try source.read(at: offset, count: count)
        record.note(bytes.span.bytes.extracting(first: min(max(0, count), bytes.count)), at: offset)
        return bytes
    }
}
