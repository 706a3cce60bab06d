import Isolation
import MediaBase
import MediaJobs
import Threading

/// A worker's connection to the process that prints.
struct Supervision: Sendable {
    /// Something that a worker sends while it works on a file.
    enum Notice {
        /// Bytes for standard output.
        case output([UInt8])
        /// Text for standard error.
        case message(String)
        /// The fraction done, and the speed.
        case progress(Double, String)
    }

    private static let shared = Mutex<Supervision?>(nil)

    /// The connection of this process; `nil` if it prints itself.
    static var current: Supervision? { shared.withLock(\.self) }

    private let link: WorkerLink

    /// Sends what this process prints over a link from now on.
    static func begin(_ link: WorkerLink, _ progress: Progress) {
        guard current == nil else { return }
        let supervision = Supervision(link: link)
        shared.withLock { $0 = supervision }
        progress.forward { supervision.send(.progress($0, $1)) }
    }

    /// Sends a notice.
    func send(_ notice: Notice) {
        var writer = MessageWriter()
        switch notice {
        case .output(let bytes):
            writer.write(0)
            writer.write(bytes)
        case .message(let text):
            writer.write(1)
            writer.write(text)
        case .progress(let fraction, let speed):
            writer.write(2)
            writer.write(Int(fraction * 1_000_000))
            writer.write(speed)
        }
        link.notify(writer.bytes)
    }
}

extension Supervision.Notice {
    /// Reads a notice, which may be hostile.
    init(_ message: [UInt8]) throws(MessageReader.Invalid) {
        var reader = MessageReader(message)
        switch try reader.number() {
        case 0: self = .output(try reader.bytes())
        case 1: self = .message(try reader.text())
        case 2: self = .progress(Double(try reader.number()) / 1_000_000, try reader.text())
        default: throw MessageReader.Invalid()
        }
    }
}
