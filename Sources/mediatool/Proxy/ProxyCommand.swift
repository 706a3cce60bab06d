import ArgumentParser
import AssetKit
import EmbeddedFiles
import MediaBase
import MediaJobs
import SystemPackage

/// `mediatool proxy`: small editing copies of video files.
struct ProxyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy",
        abstract: "Writes a small editing copy of a video, in which every picture and sample keeps its place.",
        discussion: """
            Frame count, the time of every picture, duration, sound tracks, start timecode, shape, clean aperture, \
            rotation, colours, languages, names and dates are compared with the source after writing. A proxy \
            whose frames, times, timecode or shape differ is not kept: the exit code is then 2. Other differences are \
            warnings. Subtitles and data tracks are left out; --json says which.

            Presets:
            \(ProxyPreset.all.map { "  \($0.name): \($0.summary)" }.joined(separator: "\n"))

            Examples:
              mediatool proxy interview.mov -o interview-proxy.mov
              mediatool proxy *.mov -o 'proxies/{stem}.mov' --preset prores-proxy --jobs 2
              mediatool proxy clip.mxf -o clip.mov --preset dnxhr-lb --json
              mediatool proxy clip.mov -o web/ --preset web --square-pixels --bake-rotation
              mediatool proxy clip.mov -o part.mov --start 01:00:10:00 --end 01:00:20:00
              mediatool proxy clip.mov -o clip-360.mp4 --height 360 --crf 28 --audio copy
            """)

    @Argument(help: ArgumentHelp("Video files; - is standard input.", valueName: "file"))
    var files: [PathArgument] = []

    @OptionGroup(title: "Output") var output: MediaOutputOptions
    @OptionGroup(title: "Encoding") var encoding: ProxyEncodingOptions
    @OptionGroup(title: "Content") var content: ProxyContentOptions
    @OptionGroup(title: "Result") var result: OutputFormatOptions
    @OptionGroup(title: "Run") var running: RunOptions

    func validate() throws {
        guard !encoding.listPresets else { return }
        try result.checkFiles(files)
        guard !result.schema else { return }
        try encoding.encoding.check(content.content.audio)
        try output.check(files, ending: encoding.preset.fileType.rawValue) { path throws(MediaError) in
            _ = try ProxyJob.fileType(of: path)
        }
        _ = try request()
    }

    func run() throws {
        if encoding.listPresets { return try StandardOutput.write(ProxyText.presets) }
        if result.schema { return try StandardOutput.write(EmbeddedFile.proxySchema.text) }
        let request = try request()
        let run = MediaFilesRun(
            files: files, output: output, ending: request.preset.fileType.rawValue, running: running,
            form: result.form(fileCount: files.count))
        try run { [running] part in
            var opening = running.assetOptions()
            opening.isPrecise = ProxyJob.needsPreciseTiming(request)
            opening.spoolsPipe = opening.isPrecise
            return try ProxyJob(request, asset: part.asset(opening)).run(
                to: part.path, outputs: part.outputs, makesFolder: part.makesFolder, progress: part.progress)
        } warnings: { report in
            (report.damage.isEmpty ? [] : [report.damage.text]) + report.warnings + report.changes
        } line: {
            ProxyText.text(of: $0)
        }
    }

    private func request() throws -> ProxyRequest {
        var request = ProxyRequest(preset: encoding.preset)
        try encoding.apply(to: &request)
        content.apply(to: &request)
        request.isStrict = running.strict
        request.threads = running.threads ?? 0
        return request
    }
}
