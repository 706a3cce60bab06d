import ArgumentParser
import AssetKit
import Ingest
import MediaAnalysis
import MediaBase
import MediaJobs
import QualityControl
import SystemPackage

extension IngestPart {
    /// Creates the part of an entry of a recipe, whose options are parsed as those of the command that makes it.
    ///
    /// - Throws: An error that names the line for options that the command does not take.
    init(_ entry: IngestRecipe.Entry) throws(MediaError) {
        do {
            if let option = entry.options.first(where: { Self.ofRuns.contains($0.name) }) {
                throw MediaError(.invalidArgument, "'\(option.name)' is an option of a run, not of a recipe")
            }
            self.init(entry.part, options: entry.options, try Self.work(entry.part, entry.options))
        } catch let error as MediaError {
            throw IngestRecipe.error(entry.line, "\(entry.part.rawValue): \(error.message)")
        } catch {
            throw IngestRecipe.error(entry.line, "\(entry.part.rawValue): \(MediaTool.message(for: error))")
        }
    }

    /// The options that concern a run as a whole, or where its outputs go.
    private static let ofRuns: Set<String> = [
        "output", "o", "vtt", "images", "sprite", "contact-sheet", "junit", "html", "csv", "frames", "reference",
        "proxy-of",
        "json", "jsonl", "array", "schema", "quiet", "q", "progress", "force", "jobs", "j", "threads", "strict",
        "allow-nested",
        "limit", "isolate", "no-sandbox", "timeout", "files-from", "null", "0", "shard", "shard-base", "retries",
        "header",
        "netrc", "ca", "network-retries", "request-payer", "help", "h", "version",
    ]

    private static func work(_ part: Name, _ options: [IngestRecipe.Option]) throws -> Work {
        var options = options
        switch part {
        case .probe:
            try refuse(options)
            return .probe("probe.json")
        case .peaks, .waveform:
            try refuse(options.filter { $0.name == "format" })
            let eachTrack = try take("tracks", from: &options).map(isEach) ?? false
            let names = part == .peaks ? ["-o", "peaks-{spp}.dat"] : ["-o", "waveform.svg"]
            let command = try WaveformCommand.parse(["-"] + names + arguments(options))
            var outputs = command.outputs.requests(for: "-")
            // The first level is the one that players read.
            if part == .peaks, !outputs.isEmpty { outputs[0].path = "peaks.dat" }
            return .waveform(outputs, command.settings, eachTrack: eachTrack)
        case .poster:
            let command = try ThumbsCommand.parse(["-", "-o", "poster.jpg"] + arguments(options))
            guard let (request, output) = try command.parts, request.count == 1, output.sheets == nil else {
                throw MediaError(.invalidArgument, "a poster is one image")
            }
            return .images(request, output, spacedByLength: false)
        case .sprites:
            let isAuto = options.contains(IngestRecipe.Option("every", "auto"))
            if isAuto { options.removeAll { $0.name == "every" } }
            let command = try ThumbsCommand.parse(
                ["-", "--sprite", "-o", "sprite-{index}.jpg", "--vtt", "sprite.vtt"] + arguments(options))
            guard let (request, output) = try command.parts else {
                throw MediaError(.invalidArgument, "sprites have no times")
            }
            return .images(request, output, spacedByLength: isAuto)
        case .proxy:
            let command = try ProxyCommand.parse(["-", "-o", "proxy.mov"] + arguments(options))
            return .proxy(command.request, FilePath("proxy.\(command.encoding.preset.fileType.rawValue)"))
        case .qc:
            if let option = options.first(where: { $0.name != "policy" }) { try refuse([option]) }
            let command = try QCCommand.parse(["-"] + arguments(options))
            return .check(try command.loadPolicy(), "qc.json")
        case .scenes:
            let text = try take("threshold", from: &options)
            try refuse(options)
            guard let threshold = text.map(Double.init) ?? SceneDetector.standardThreshold, threshold > 0,
                threshold <= 100
            else { throw MediaError(.invalidArgument, "'threshold' is a number above 0 and up to 100") }
            return .scenes(threshold: threshold, "scenes.json")
        case .frames:
            try refuse(options)
            return .frameHashes("frames.md5")
        case .page:
            try refuse(options)
            return .page("index.html")
        }
    }

    private static func arguments(_ options: [IngestRecipe.Option]) -> [String] {
        // A value may begin with a dash.
        options.map { option in option.value.map { "--\(option.name)=\($0)" } ?? "--\(option.name)" }
    }

    /// Takes the value of an option that the command itself does not have.
    private static func take(
        _ name: String, from options: inout [IngestRecipe.Option]
    ) throws(MediaError) -> String? {
        guard let option = options.first(where: { $0.name == name }) else { return nil }
        options.removeAll { $0.name == name }
        guard let value = option.value else { throw MediaError(.invalidArgument, "'\(name)' needs a value") }
        return value
    }

    private static func isEach(_ text: String) throws(MediaError) -> Bool {
        switch text {
        case "each": return true
        case "first": return false
        default: throw MediaError(.invalidArgument, "'tracks' is each or first")
        }
    }

    private static func refuse(_ options: [IngestRecipe.Option]) throws(MediaError) {
        if let option = options.first { throw MediaError(.invalidArgument, "there is no option '\(option.name)'") }
    }
}
