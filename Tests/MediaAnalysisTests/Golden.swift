import Foundation

/// Finds and reads the files of `golden/waveform`.
enum Golden {
    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("golden/waveform")

    static func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
    }

    /// The interleaved PCM that the peaks of `channels` channels were made from.
    static func samples(channels: Int) throws -> [Int16] {
        let bytes = try bytes("\(channels)ch.s16le")
        return stride(from: 0, to: bytes.count, by: 2).map {
            Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
        }
    }

    /// One set of peaks, as named in the folder.
    struct Case: Sendable, CustomStringConvertible {
        var channels: Int
        var isSplit: Bool
        var samplesPerPixel: Int
        var bits: Int

        var description: String {
            "\(channels)ch-\(isSplit ? "split" : "mixed")-\(samplesPerPixel)-\(bits)bit"
        }
    }

    static let cases: [Case] = [1, 2, 6].flatMap { channels in
        [false, true].filter { channels > 1 || !$0 }.flatMap { isSplit in
            [64, 256].flatMap { samplesPerPixel in
                [8, 16].map { bits in
                    Case(channels: channels, isSplit: isSplit, samplesPerPixel: samplesPerPixel, bits: bits)
                }
            }
        }
    }
}

/// A small repeatable generator (SplitMix64), so that a failure can be run again.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
