import ArgumentParser
import AssetKit
import MediaBase
import MediaJobs
import SystemPackage
import Threading

/// The run of a command that makes one media file of each input: side by side, with progress, warnings and results in order.
struct MediaFilesRun: Sendable {
    /// The inputs.
    let files: [PathArgument]
    /// Where their outputs go.
    let output: MediaOutputOptions
    /// What outputs in a folder end with.
    let ending: String
    /// What else is asked of the run.
    let running: RunOptions
    /// The form in which results are printed.
    let form: OutputFormatOptions.Form

    /// What is known to the work on one file.
    struct Part: Sendable {
        /// The input.
        let file: PathArgument
        /// Where its output goes.
        let path: FilePath
        /// What the output is a part of.
        let outputs: OutputFileSet
        /// Whether the output's folder is made where there is none.
        let makesFolder: Bool
        /// Takes word of how far the work has come.
        let progress: @Sendable (JobProgress) -> Void

        /// The input as media, opened with options.
        func asset(_ options: Asset.Options) -> Asset {
            file.isStandardStream ? Asset.standardInput(options: options) : Asset(path: file.path, options: options)
        }
    }

    /// Does the work and prints what came of it; ends by throwing the exit code.
    ///
    /// - Parameters:
    ///   - others: Files that are read besides, over which no output may be written.
    ///   - make: Makes the output of one input, on whatever thread.
    ///   - warnings: What a person should know of a result.
    ///   - line: A result for a person.
    func callAsFunction<Report: Encodable & Sendable>(
        reading others: [PathArgument] = [], _ make: @escaping @Sendable (Part) throws -> Report,
        warnings: (Report) -> [String], line: (Report) -> String
    ) throws {
        let outputs = OutputFileSet(force: running.force, inputs: (files + others).compactMap(\.identity))
        let progress = Progress(
            label: files.count == 1 ? files[0].path.displayPath : "\(files.count) files", mode: running.progress,
            isQuiet: running.quiet, parts: files.count)
        var printer = ResultPrinter(form: form)
        try concurrentForEach(Array(files.enumerated()), workers: running.jobs) { number, file in
            let begun = ContinuousClock.now
            let part = Part(
                file: file, path: output.path(for: file.path, ending: ending), outputs: outputs.setForAnotherJob(),
                makesFolder: output.namesFolder
            ) { done in
                progress.update(
                    part: number, fraction: done.fraction,
                    speed: QuantityText.speed(done.seconds, in: ContinuousClock.now - begun))
            }
            return Result { try make(part) }
        } deliver: { index, result in
            let path = files[index].path
            if index == files.count - 1 { progress.finish() }
            if let report = try? result.get(), !running.quiet {
                for warning in warnings(report) { StandardError.warn(warning, path: path) }
            }
            try printer.print(result, of: path) { [line($0)] }
        }
        throw try printer.finish()
    }
}
