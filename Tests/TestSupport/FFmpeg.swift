/// The reference programs, asked while the tests run.
///
/// Lossy decoders sum floats in an order that depends on the processor, so that their values are compared with what
/// ffmpeg gives on the same machine; recorded hashes serve for all that is exact.
public enum FFmpeg {
    /// The interleaved PCM of audio track `track` in one of ffmpeg's raw forms, such as `s16le` or `f32le`.
    ///
    /// It is not filled with silence as an edit list wants; where it is cut at the end depends on ffmpeg's version.
    ///
    /// - Parameter isWhole: Of MP4 and QuickTime files, all that the decoder gives, of which `golden/pcm.tsv` says how
    ///   much is heard.
    public static func pcm(
        _ path: String, track: Int = 0, format: String = "s16le", isWhole: Bool = false
    ) throws -> [UInt8] {
        let isMovie = [".mp4", ".m4a", ".mov"].contains { path.hasSuffix($0) }
        let whole = isWhole && isMovie ? ["-ignore_editlist", "1", "-flags2", "+skip_manual"] : []
        return try run(whole + ["-i", path, "-map", "0:a:\(track)", "-f", format, "-"])
    }

    /// Runs ffmpeg with only its errors shown, and gives what it writes to standard output.
    public static func run(_ arguments: [String]) throws -> [UInt8] {
        let result = try Program.run("ffmpeg", ["-v", "error", "-nostdin"] + arguments)
        guard result.status == 0 else { throw TestSupportError("ffmpeg: \(result.error)") }
        return result.bytes
    }

    /// The options that tag a file's frames with colours, after further filters; their samples stay as they are.
    ///
    /// From version 7 on the options of an output alone, such as `-colorspace`, convert or do nothing, and full range is
    /// converted where `-color_range` does not ask for it too.
    public static func colorTags(
        after filters: String = "", matrix: String? = nil, primaries: String? = nil, transfer: String? = nil,
        range: String? = nil
    ) -> [String] {
        // The filter knows two curves by the standards alone that they come from.
        let curve = transfer.map { ["gamma22": "bt470m", "gamma28": "bt470bg"][$0] ?? $0 }
        let tags = [("colorspace", matrix), ("color_primaries", primaries), ("color_trc", curve), ("range", range)]
        let settings = tags.compactMap { name, value in value.map { name + "=" + $0 } }.joined(separator: ":")
        let filter = ["-vf", (filters.isEmpty ? "" : filters + ",") + "setparams=" + settings]
        return filter + (range.map { ["-color_range", $0] } ?? [])
    }

    /// Runs ffprobe with only its errors shown, and gives the lines it prints.
    public static func probe(_ arguments: [String]) throws -> [String] {
        let result = try Program.run("ffprobe", ["-v", "error"] + arguments)
        guard result.status == 0 else { throw TestSupportError("ffprobe: \(result.error)") }
        return result.output.split(separator: "\n").map(String.init)
    }
}
