import Foundation

/// The display matrix of a movie, written into its boxes: ffmpeg's options for it differ from version to version.
public enum DisplayMatrix {
    /// Turns the first track of a movie clockwise by 90 degrees.
    ///
    /// - Parameter height: The height of its pictures as they are coded: the upright ones are as wide.
    public static func turn(_ path: String, height: Int32) throws {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        guard let header = bytes.firstRange(of: Array("tkhd".utf8)), bytes.count >= header.upperBound + 76 else {
            throw TestSupportError("the movie has no track header")
        }
        // ISO/IEC 14496-12, 8.3.2, version 0: 4 bytes of version and flags, 20 of times and number, 16 up to the matrix.
        let one: Int32 = 1 << 16
        for (place, value) in [0, one, 0, -one, 0, 0, height * one, 0, 1 << 30].enumerated() {
            let start = header.upperBound + 40 + 4 * place
            bytes.replaceSubrange(start..<start + 4, with: withUnsafeBytes(of: value.bigEndian, Array.init))
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }
}
