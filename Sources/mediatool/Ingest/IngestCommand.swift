import ArgumentParser
import AssetKit
import EmbeddedFiles
import Ingest
import Inspection
import JSONText
import MediaBase
import MediaJobs
import QualityControl
import SystemCalls
import SystemPackage
import Threading

/// `mediatool ingest`: makes everything that a media library wants of new files.
struct IngestCommand: FilesCommand {
    static let configuration = CommandConfiguration(
        commandName: "ingest",
        abstract: "Makes everything that a media library wants of a new file, with one read of it.",
        discussion: """
            A folder is filled with what a recipe lists: declared properties, peaks, waveform, poster, sprites, proxy, \
            quality control, scene changes, hashes, a page that shows them, and a manifest. Each is what the command of \
            its own makes. What a file does not have (no audio, no video) is left out. An output that fails does not \
            prevent the others; the exit code is then 2.

            Recipes: web (the default), edit, archive, analyse, or a file in YAML; '--show-recipe' prints one. 'ingest \
            gallery' and 'ingest report' are about folders of ingested files and have a --help of their own; a file of such \
            a name is './gallery'.

            Examples:
              mediatool ingest film.mov -o film/
              mediatool ingest *.mov -o library/ --jobs 2 --resume
              mediatool ingest film.mov -o film/ --recipe archive --without page
              mediatool ingest film.mov -o film/ --recipe house.yml --fail-on fail
              mediatool ingest --recipe web --show-recipe > house.yml
              mediatool ingest gallery library/
              mediatool ingest report library/
            """)

    /// The commands about folders of ingested files, by the words after `ingest`.
    ///
    /// They are no subcommands of the parser, which would parse the arguments of this command first.
    static let libraryCommands: [String: any ParsableCommand.Type] = [
        "gallery": GalleryCommand.self, "report": ReportCommand.self,
    ]

    @Argument(help: ArgumentHelp("Media files; '-' is standard input.", valueName: "file"))
    var files: [InputArgument] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The folder to fill; with several files, the folder of their folders, each named as its file.",
            valueName: "folder"))
    var output: PathArgument?

    @Option(
        help: ArgumentHelp(
            "The recipe: web, edit, archive, analyse or a file in YAML. (default: web)", valueName: "recipe"))
    var recipe: PathArgument?

    private var recipePath: FilePath { recipe?.path ?? "web" }

    @Option(
        help: ArgumentHelp("Leave out parts of the recipe, separated by commas.", valueName: "part,…"),
        transform: Self.names)
    var without: [IngestPart.Name] = []

    @Option(
        help: ArgumentHelp(
            "With '--files-from': name the folders by the paths of the files below this folder. (default: by their names)",
            valueName: "folder"))
    var base: PathArgument?

    @Flag(help: "Print the recipe and do nothing else.")
    var showRecipe = false

    @Flag(help: "Keep what is made already of the same file with the same options, and make the rest.")
    var resume = false

    @Flag(help: "Note the SHA-256 of each file in its manifest.")
    var fixity = false

    @Option(help: "The severity of findings for which the exit code is 1: fail or warn. (default: never)")
    var failOn: Severity?

    @OptionGroup var result: OutputFormatOptions
    @OptionGroup var running: RunOptions

    var runOptions: RunOptions { running }
    var onlyPrints: Bool { showRecipe || result.schema }

    func validate() throws {
        guard !onlyPrints else { return }
        guard let output else { throw ValidationError("Name a folder: '-o FOLDER'.") }
        if output.isStandardStream { throw ValidationError("A folder cannot be standard output.") }
        if base != nil, running.batch.filesFrom == nil {
            throw ValidationError("'--base' is about the list of '--files-from'; add that option.")
        }
        try checkNamedFiles()
    }

    func checkFiles() throws {
        try result.checkFiles(files)
        if base != nil {
            for file in files where Self.path(of: file, below: base?.path) == nil {
                throw ValidationError("'\(file.displayName)' is not below '\(base?.path.displayPath ?? "")'.")
            }
        }
        if !isAlone {
            for file in files where file.path.lastComponent?.kind == .parentDirectory {
                throw ValidationError("'\(file.displayName)' has no name after which a folder can be named.")
            }
        }
        var names = OutputNames(advice: "run the program separately for each of them")
        for file in files { try names.claim(folder(file), for: file) }
    }

    func run() throws {
        if result.schema { return try StandardOutput.write(EmbeddedFile.ingestSchema.text) }
        if showRecipe { return try StandardOutput.write(try recipeText().yaml) }
        var recipe = try loadRecipe()
        recipe.remove(Set(without))
        let parts = try recipe.entries.map { entry throws(MediaError) in
            do throws(MediaError) {
                return try IngestPart(entry)
            } catch {
                throw error.at(path: recipe.name)
            }
        }
        var running = running
        running.force = running.force || resume
        let run = FilesRun(
            files, result, running,
            .init(
                outputFolder: folder,
                writing: { [folder] file in
                    let names = parts.flatMap(\.patterns) + [".state.json", "manifest.json"]
                    return names.map { folder(file).appending($0.components) }
                }))
        let filled = files.map { IngestJob.hasBegun(in: folder($0)) }
        let inputs = Set(files.compactMap(\.identity))
        let (recipeName, hasFixity) = (recipe.name, fixity || recipe.hasFixity)
        let (resumes, replaces, threads) = (resume, self.running.force, running.threads ?? 0)
        var hasFailed = false
        let code = try run { [folder, isStrict = running.strict] index, file in
            var settings = IngestJob.Settings(recipe: recipeName, parts: parts, version: version) {
                try Array((ResultPrinter.text(of: $0, about: file) + "\n").utf8)
            }
            (settings.hasFixity, settings.resumes, settings.replaces) = (hasFixity, resumes, replaces)
            (settings.isStrict, settings.threads) = (isStrict, threads)
            var opening = run.running.assetOptions()
            opening.spoolsPipe = true
            opening.recording = hasFixity ? .digest : .bytes
            let report = run.report(part: index)
            return try IngestJob(
                IngestJob.Input(
                    asset: file.asset(opening), path: file.path, identity: file.ingestIdentity,
                    isFilled: filled[index]), settings
            ).run(into: folder(file), outputs: run.outputs.setForAnotherJob()) { report($0, $1) }
        } warnings: {
            $0.warnings
        } inspect: { result, path in
            let manifest = try? result.get()
            let failures = manifest?.failed.map { failure in
                MediaError(.init(rawValue: failure.error.code), "\(failure.part): \(failure.error.message)", path: path)
            }
            return FileInspection(
                isComplete: failures?.isEmpty ?? true, errors: failures ?? [],
                attachment: IngestEnding(result).message, duration: manifest?.duration)
        } collect: { [folder] index, message in
            guard let ending = try? IngestEnding(message: message) else { return }
            let file = run.files[index]
            ending.note(in: folder(file), of: file.ingestIdentity, inputs: inputs)
            if let severity = ending.severity, let failOn, severity == .fail || failOn == .warn { hasFailed = true }
        } lines: { manifest, path in
            IngestText.lines(of: manifest, path: path)
        }
        throw code == .success && hasFailed ? ExitCode.checkFailed : code
    }

    /// True if the output folder itself is filled, and not one in it for each file.
    private var isAlone: Bool { files.count == 1 && running.batch.filesFrom == nil }

    /// Returns the folder that is filled with the outputs of a file.
    private var folder: @Sendable (InputArgument) -> FilePath {
        { [isAlone, output = output?.path ?? "", base = base?.path] file in
            if isAlone { return output }
            if let relative = Self.path(of: file, below: base) { return output.appending(relative.components) }
            return file.path.lastComponent.map { output.appending($0) } ?? output
        }
    }

    /// Returns a file's path below a folder; `nil` if it lies elsewhere, or without a folder.
    private static func path(of file: InputArgument, below base: FilePath?) -> FilePath? {
        guard let base, !file.isRemote, !file.isStandardStream else { return nil }
        var path = file.path.absolute.lexicallyNormalized()
        guard path.removePrefix(base.absolute.lexicallyNormalized()), !path.isEmpty else { return nil }
        return path
    }

    private func recipeText() throws(MediaError) -> (yaml: String, name: String) {
        let path = recipePath
        if let known = IngestRecipe.BuiltIn(rawValue: path.string) { return (known.yaml, known.rawValue) }
        do throws(MediaError) {
            let bytes = try WholeFile(
                as: "a recipe", atMost: IngestRecipe.maximumBytes, until: running.timeout?.deadline
            ).read(path)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw MediaError(.invalidArgument, "is not UTF-8")
            }
            return (text, path.stem ?? path.displayPath)
        } catch {
            guard error.code == .notFound, !path.string.contains("/"), !path.string.contains(".") else {
                throw error.at(path: path.displayPath)
            }
            let known = IngestRecipe.BuiltIn.allCases.map(\.rawValue).joined(separator: ", ")
            throw MediaError(.notFound, "is neither a file nor one of the recipes \(known)", path: path.displayPath)
        }
    }

    private func loadRecipe() throws(MediaError) -> IngestRecipe {
        let (yaml, name) = try recipeText()
        do throws(MediaError) {
            return try IngestRecipe(yaml: yaml, named: name)
        } catch {
            throw error.at(path: recipePath.displayPath)
        }
    }

    private static func names(_ text: String) throws -> [IngestPart.Name] {
        try text.split(separator: ",").map { name in
            guard let part = IngestPart.Name(rawValue: String(name)) else {
                let known = IngestPart.Name.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("there is no part '\(name)'; there are \(known)")
            }
            return part
        }
    }
}

extension InputArgument {
    /// The identity of the file, as far as it is known before it is opened.
    fileprivate var ingestIdentity: IngestIdentity {
        let status = isRemote ? nil : try? isStandardStream ? FileDescriptor.standardInput.stat() : path.stat()
        guard let status, status.type == .regular else {
            return IngestIdentity(path: displayName, sizeBytes: nil, modified: nil)
        }
        return IngestIdentity(
            path: displayName, sizeBytes: status.size,
            modified: UTCTime.text(ofChange: status))
    }
}

/// Formats a manifest as readable text.
enum IngestText {
    /// Returns a line for each output, for what was left out and for the verdict.
    static func lines(of manifest: IngestManifest, path: String) -> [String] {
        var lines = [
            "\(path): \(manifest.outputs.count) files" + (manifest.verdict.map { ", verdict \($0)" } ?? "")
        ]
        for output in manifest.outputs {
            lines.append("  \(output.file)  \(QuantityText.bytes(Int64(output.sizeBytes)))")
        }
        for part in manifest.leftOut { lines.append("  without \(part.part): \(part.reason)") }
        return lines
    }
}
