/// Video whose pictures carry a number: bars of 16 pixels, a bit each, the lowest at the left.
public enum NumberedPictures {
    /// Their size.
    public static let (width, height) = (192, 48)

    /// Makes a file of them.
    ///
    /// - Parameters:
    ///   - source: A number of the file's own, which is 256ths of the pictures' ones.
    ///   - rate: Pictures a second, as ffmpeg reads it.
    ///   - options: Further options for the file.
    public static func make(
        _ path: String, source: Int, rate: String, count: Int, options: [String] = []
    ) throws {
        let bar = "mod(floor((N+\(source * 256))/pow(2,floor(X/16))),2)"
        let encoding = [
            "-frames:v", "\(count)", "-vf", "format=yuv420p,geq=lum='if(\(bar),235,16)':cb=128:cr=128", "-c:v",
            "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "12", "-threads", "1",
        ]
        let input = ["-f", "lavfi", "-i", "color=c=black:s=\(width)x\(height):r=\(rate)"]
        _ = try FFmpeg.run(input + encoding + options + [path])
    }

    /// The number that a row of luma shows.
    public static func number(of row: some Collection<UInt8>) -> Int {
        let row = Array(row)
        return stride(from: 8, to: min(width, row.count), by: 16).enumerated()
            .reduce(0) { $0 + (row[$1.1] > 128 ? 1 << $1.0 : 0) }
    }

    /// The middle row of each picture of a file in their size, as ffmpeg decodes them.
    ///
    /// - Parameter ignoresEdits: Whether pictures are there whatever the edit list of an MP4 or QuickTime file says.
    public static func rows(_ path: String, ignoresEdits: Bool = false) throws -> [[UInt8]] {
        let pixels = try FFmpeg.run(
            (ignoresEdits ? ["-ignore_editlist", "1"] : []) + [
                "-noautorotate", "-i", path, "-fps_mode", "passthrough", "-pix_fmt", "gray", "-f", "rawvideo", "-",
            ])
        return stride(from: 0, to: pixels.count / (width * height), by: 1).map { frame in
            Array(pixels[(frame * height + height / 2) * width..<(frame * height + height / 2 + 1) * width])
        }
    }
}
