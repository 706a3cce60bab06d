import Foundation

/// A byte stream of H.264 whose frames are stored as two fields each, which no encoder at hand makes.
///
/// Frames of 16 by 32 pixels: each field is one macroblock without any compression (`I_PCM`), so that its luma is known:
/// the upper field of frame `n` has ``luma(of:)``, the lower one four more. Written after ITU-T H.264, 7.3.
public enum FieldPictures {
    /// The luma of a frame's upper field.
    public static func luma(of frame: Int) -> UInt8 { UInt8(truncatingIfNeeded: 16 + 8 * frame) }

    /// The stream, with a sync sample in front; up to 16 frames.
    public static func stream(frames: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for frame in 0..<frames {
            for isLower in [false, true] {
                bytes += [0, 0, 0, 1, 0x09, 0xF0]
                if frame == 0, !isLower { bytes += sequence + picture }
                bytes += field(of: frame, isLower: isLower)
            }
        }
        return bytes
    }

    private struct Bits {
        var bits: [UInt8] = []

        mutating func put(_ count: Int, _ value: Int) {
            for place in (0..<count).reversed() { bits.append(UInt8(value >> place & 1)) }
        }

        /// Exp-Golomb codes (9.1).
        mutating func put(codes values: Int...) {
            for value in values {
                let length = Int.bitWidth - (value + 1).leadingZeroBitCount
                put(2 * length - 1, value + 1)
            }
        }

        mutating func align() { while bits.count % 8 != 0 { bits.append(0) } }

        mutating func unit(_ header: UInt8) -> [UInt8] {
            bits.append(1)
            align()
            return [0, 0, 0, 1, header]
                + stride(from: 0, to: bits.count, by: 8).map { start in
                    bits[start..<start + 8].reduce(0) { $0 << 1 | $1 }
                }
        }
    }

    private static var sequence: [UInt8] {
        var bits = Bits()
        // Main profile, level 3.
        bits.put(24, 77 << 16 | 30)
        // ID, frame_num of four bits, order of decoding, one reference.
        bits.put(codes: 0, 0, 2, 1)
        bits.put(1, 0)
        // One macroblock wide and one pair of them high; neither frames only nor mixed within a picture.
        bits.put(codes: 0, 0)
        bits.put(5, 0b00100)
        return bits.unit(0x67)
    }

    private static var picture: [UInt8] {
        var bits = Bits()
        bits.put(codes: 0, 0)
        bits.put(2, 0)
        bits.put(codes: 0, 0, 0)
        bits.put(3, 0)
        bits.put(codes: 0, 0, 0)
        bits.put(3, 0)
        return bits.unit(0x68)
    }

    private static func field(of frame: Int, isLower: Bool) -> [UInt8] {
        let isSync = frame == 0 && !isLower
        var bits = Bits()
        bits.put(codes: 0, 7, 0)
        bits.put(4, frame % 16)
        bits.put(2, isLower ? 3 : 2)
        if isSync { bits.put(codes: 0) }
        bits.put(isSync ? 2 : 1, 0)
        bits.put(codes: 0, 25)
        bits.align()
        let luma = Int(luma(of: frame)) + (isLower ? 4 : 0)
        for place in 0..<384 { bits.put(8, place < 256 ? luma : 128) }
        return bits.unit(isSync ? 0x65 : 0x61)
    }
}
