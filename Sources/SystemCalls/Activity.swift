internal import CSystemCalls
import Glibc
package import SystemPackage

/// The latest step of a process in its work on a file, in memory that another process can read after it has crashed: mmap(2).
///
/// A supervisor creates it and sends ``descriptor`` to its worker, which maps it by ``init(adopting:)`` and notes what it
/// does after ``record()``; the supervisor reads ``latest``.
///
/// Unchecked because the memory is shared without a lock: one process writes, and the other takes any mixture of two notes.
package struct Activity: @unchecked Sendable {
    /// A step in the work on a file.
    package enum Step: Int64, Sendable {
        /// Nothing that was noted.
        case none
        /// Reading packets.
        case reading
        /// Decoding a packet.
        case decoding
        /// Encoding a frame.
        case encoding
    }

    /// A step and the place in the file.
    package struct Note: Sendable {
        /// The step.
        package var step = Step.none
        /// The index of the track; `nil` if the step concerns none.
        package var track: Int?
        /// The presentation time in seconds; `nil` if it is not known.
        package var seconds: Double?
    }

    // Four numbers: the step, the track, the time in its units, the duration of a unit as the bits of a Double.
    private let memory: UnsafeMutablePointer<Int64>
    private static let count = 4
    private static let unknown = Int64.min
    nonisolated(unsafe) private static var own: UnsafeMutablePointer<Int64>?

    /// The memory, for the process that notes its activity; owned by the activity until ``release()``.
    package let descriptor: FileDescriptor

    /// Creates memory for the notes of another process; `nil` if there is none.
    package init?() {
        let memory = csc_make_shared_memory(Int64(Self.bytes))
        guard memory >= 0 else { return nil }
        self.init(adopting: FileDescriptor(rawValue: memory))
    }

    /// Maps the memory of an activity, and takes over its descriptor; `nil` if it is not one.
    package init?(adopting descriptor: FileDescriptor) {
        // Access beyond the end of a shorter file is a signal.
        guard let size = try? descriptor.stat().size, size >= Self.bytes,
            let memory = mmap(nil, Self.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.rawValue, 0),
            memory != MAP_FAILED
        else {
            try? descriptor.close()
            return nil
        }
        self.memory = memory.bindMemory(to: Int64.self, capacity: Self.count)
        self.descriptor = descriptor
    }

    private static var bytes: Int { count * MemoryLayout<Int64>.stride }

    /// Returns the memory to the system; nobody may use the activity after that.
    package func release() {
        munmap(memory, Self.bytes)
        try? descriptor.close()
    }

    /// Lets this process note its activity from now on; call it before the process starts threads.
    package func record() { Self.own = memory }

    /// The latest note.
    package var latest: Note {
        guard let step = Step(rawValue: memory[0]), step != .none else { return Note() }
        var note = Note(step: step)
        if memory[1] >= 0 { note.track = Int(memory[1]) }
        let unit = Double(bitPattern: UInt64(bitPattern: memory[3]))
        if memory[2] != Self.unknown, unit.isFinite { note.seconds = Double(memory[2]) * unit }
        return note
    }

    /// Notes a step of this process, if another one wants to know.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - track: The index of the track; negative for none.
    ///   - time: The presentation time in units of `unit` seconds; `nil` if it is not known.
    @inline(__always)
    package static func note(_ step: Step, track: Int = -1, time: Int64? = nil, unit: Double = 0) {
        guard let own else { return }
        own[0] = step.rawValue
        own[1] = Int64(track)
        own[2] = time ?? unknown
        own[3] = Int64(bitPattern: unit.bitPattern)
    }
}
