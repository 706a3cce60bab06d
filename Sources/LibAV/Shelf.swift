import CFFmpeg
import SystemCalls

/// What libav keeps in a structure of its own that may be emptied and used again.
protocol Shelvable {
    /// A new, empty one; `nil` where memory is short.
    static func make() -> UnsafeMutablePointer<Self>?
    /// Lets go of what it refers to.
    static func empty(_ pointer: UnsafeMutablePointer<Self>)
    /// Lets go of it altogether.
    static func free(_ pointer: UnsafeMutablePointer<Self>)
}

extension AVFrame: Shelvable {
    static func make() -> UnsafeMutablePointer<AVFrame>? { av_frame_alloc() }
    static func empty(_ pointer: UnsafeMutablePointer<AVFrame>) { av_frame_unref(pointer) }
    static func free(_ pointer: UnsafeMutablePointer<AVFrame>) {
        var pointer: UnsafeMutablePointer<AVFrame>? = pointer
        av_frame_free(&pointer)
    }
}

extension AVPacket: Shelvable {
    static func make() -> UnsafeMutablePointer<AVPacket>? { av_packet_alloc() }
    static func empty(_ pointer: UnsafeMutablePointer<AVPacket>) { av_packet_unref(pointer) }
    static func free(_ pointer: UnsafeMutablePointer<AVPacket>) {
        var pointer: UnsafeMutablePointer<AVPacket>? = pointer
        av_packet_free(&pointer)
    }
}

/// Keeps empty frames or packets that were let go, on any thread, for those to come.
///
/// libav allocates each with an alignment, which takes the C library longer than all else that is done with a small packet.
final class Shelf<Native: Shelvable>: @unchecked Sendable {
    private let lock = PlainLock()
    /// The lock excludes what would otherwise be looked for at each access.
    @exclusivity(unchecked) private var pointers: [UnsafeMutablePointer<Native>] = []

    /// More are let go: so many are at hand only when a queue has been emptied.
    private static var most: Int { 64 }

    init() {}

    deinit { for pointer in pointers { Native.free(pointer) } }

    /// An empty one, used before or new; `nil` where memory is short.
    func take() -> UnsafeMutablePointer<Native>? {
        lock.lock()
        let kept = pointers.popLast()
        lock.unlock()
        return kept ?? Native.make()
    }

    /// Takes one back, which nobody refers to any more, with all that is in it.
    func put(_ pointer: UnsafeMutablePointer<Native>) {
        Native.empty(pointer)
        lock.lock()
        let hasRoom = pointers.count < Self.most
        if hasRoom { pointers.append(pointer) }
        lock.unlock()
        if !hasRoom { Native.free(pointer) }
    }
}
