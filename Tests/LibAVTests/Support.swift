import Foundation
import LibAV
import MediaBase
import SystemPackage
import TestSupport

/// Short ways to open and decode what the tests read.
enum Media {
    static func file(_ fixture: String) throws -> InputFile {
        try InputFile(opening: .path(FilePath(Fixtures.path(fixture))))
    }

    /// Calls `body` with every decoded frame of a stream, in order.
    static func frames(_ file: InputFile, stream: Int = 0, threads: Int = 1, _ body: (borrowing Frame) throws -> Void)
        throws
    {
        var decoder = try Decoder.open(file, stream: stream, threads: threads)
        func drain() throws {
            while case .frame(let frame) = try decoder.receive() { try body(frame) }
        }
        while let packet = try file.readPacket() {
            guard packet.streamIndex == stream else { continue }
            try decoder.send(packet)
            try drain()
        }
        try decoder.finish()
        try drain()
    }

    /// The interleaved bytes of a fixture's sound in another form.
    static func sound(_ fixture: String, through converter: consuming SampleConverter) throws -> [UInt8] {
        var bytes: [UInt8] = []
        func add(_ frame: borrowing Frame) {
            frame.withSamples(plane: 0, in: 0..<frame.sampleCount) { span in
                bytes += span.withUnsafeBytes { Array($0) }
            }
        }
        try frames(file(fixture)) { add(try converter.convert($0)) }
        if let rest = try converter.drain() { add(rest) }
        return bytes
    }
}

/// Runs work on a thread of its own and hands over what it returned.
final class Background<Value: Sendable>: @unchecked Sendable {
    private let done = DispatchSemaphore(value: 0)
    private var result: Result<Value, any Error>?

    init(_ work: @escaping @Sendable () throws -> Value) {
        Thread.detachNewThread {
            self.result = Result { try work() }
            self.done.signal()
        }
    }

    /// What the work returned; throws where it takes longer than `seconds`.
    func value(within seconds: Double) throws -> Value {
        guard done.wait(timeout: .now() + seconds) == .success, let result else {
            throw TestSupportError("not done within \(seconds) s")
        }
        return try result.get()
    }
}

extension InputFile {
    /// The next packet, where there has to be one.
    func nextPacket() throws -> Packet {
        guard let packet = try readPacket() else { throw TestSupportError("no packet") }
        return packet
    }
}

/// The error that `body` throws, or `nil` where it throws none.
func mediaError(_ body: () throws -> some Any) -> MediaError? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? MediaError) ?? MediaError(MediaError.Code(rawValue: "other"), "\(error)")
    }
}
