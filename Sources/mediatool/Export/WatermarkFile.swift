import MediaBase
import MediaJobs
import Pictures
import SystemCalls
import SystemPackage

/// Reads the picture of a watermark.
enum WatermarkFile {
    /// Larger files are no watermarks.
    private static let mostBytes = 64 << 20

    /// The picture in a PNG file.
    ///
    /// - Throws: what opening and reading throw, `limitExceeded` where it is too large, and what decoding throws.
    static func read(_ path: FilePath) throws(MediaError) -> Bitmap {
        var bytes: [UInt8] = []
        do {
            let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
            try file.closeAfter {
                while bytes.count <= mostBytes, case let more = try readSome(from: file, atMost: 1 << 20), !more.isEmpty
                {
                    bytes += more
                }
            }
        } catch let error as Errno {
            throw MediaError(error, "read", path: path)
        } catch {
            throw MediaError(.inputOutput, "cannot be read: \(error)", path: path.string)
        }
        guard bytes.count <= mostBytes else {
            throw MediaError(.limitExceeded, "is too large for a watermark", path: path.string)
        }
        do throws(MediaError) { return try PNGFile.decode(bytes) } catch { throw error.at(path: path.string) }
    }
}
