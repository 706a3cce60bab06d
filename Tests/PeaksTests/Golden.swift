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
