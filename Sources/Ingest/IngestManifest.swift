internal import AssetKit
internal import JSONText
package import MediaBase
internal import SystemCalls
package import SystemPackage

/// The list of what `ingest` has made of a file, in the key order of its JSON: `manifest.json`.
package struct IngestManifest: Encodable, Sendable {
    /// The name of the file in the folder.
    package static let fileName = FilePath.Component("manifest.json")

    private let schemaVersion = 1
    /// The program that made it.
    package let program: Program
    /// The file that was read.
    package let input: IngestIdentity
    /// The duration of the presentation; `nil` if it is not known.
    package let duration: MediaTime?
    /// The SHA-256 of the file that was read; `nil` if it was not asked for.
    package var sha256: String?
    /// The recipe.
    package let recipe: Recipe
    /// The verdict of the policy; `nil` without one.
    package let verdict: String?
    /// The outputs, in the recipe's order.
    package let outputs: [IngestOutput]
    /// The parts for which there was nothing to do.
    package let leftOut: [LeftOut]
    /// The parts that failed.
    package let failed: [Failure]
    /// The warnings, without repetitions.
    package let warnings: [String]
    /// The counters of the read; `nil` if nothing had to be read.
    package var counters: IngestCounters?
    /// The time at which the manifest was made, in UTC.
    package var created = ""
    /// The time that the work took.
    package var timings = Timings(reading: .zero, total: .zero)

    /// The program that made the outputs.
    package struct Program: Encodable, Sendable {
        /// The name.
        package let name = "mediatool"
        /// The version.
        package let version: String
    }

    /// The recipe by which the outputs were made.
    package struct Recipe: Encodable, Sendable {
        /// The name.
        package let name: String
        /// The parts with their options.
        package let parts: [Part]

        /// A part with its options.
        package struct Part: Encodable, Sendable {
            /// The name.
            package let name: String
            /// The options, by their names in the command that makes the part.
            package let options: [IngestRecipe.Option]
        }
    }

    /// A part for which there was nothing to do.
    package struct LeftOut: Encodable, Sendable {
        /// The name.
        package let part: String
        /// The reason, in words that follow "because".
        package let reason: String
    }

    /// A part that failed.
    package struct Failure: Encodable, Sendable {
        /// The name.
        package let part: String
        /// The error.
        package let error: ErrorReport
    }

    /// The time that the work took, in seconds.
    package struct Timings: Encodable, Sendable {
        /// Until everything was read and written that is made of the input itself.
        package let reading: Double
        /// Until the manifest was written.
        package let total: Double

        init(reading: Duration, total: Duration) {
            self.reading = reading / .seconds(1)
            self.total = total / .seconds(1)
        }
    }

    init(
        _ settings: IngestJob.Settings, _ input: IngestIdentity, _ results: [IngestResult], lasting duration: MediaTime
    ) {
        self.duration = duration.isNumeric ? duration : nil
        let ordered = settings.parts.compactMap { part in results.first { $0.part == part.name } }
        var (outputs, warnings): ([IngestOutput], [String]) = ([], [])
        var (leftOut, failed): ([LeftOut], [Failure]) = ([], [])
        var verdict: String?
        for result in ordered {
            switch result.outcome {
            case .made(let record):
                outputs += record.outputs
                for warning in record.warnings where !warnings.contains(warning) { warnings.append(warning) }
                verdict = verdict ?? record.verdict
            case .leftOut(let reason): leftOut.append(LeftOut(part: result.part.rawValue, reason: reason))
            case .failed(let error): failed.append(Failure(part: result.part.rawValue, error: ErrorReport(error)))
            }
        }
        program = Program(version: settings.version)
        created = UTCTime.now
        self.input = input
        recipe = Recipe(
            name: settings.recipe,
            parts: settings.parts.map { Recipe.Part(name: $0.name.rawValue, options: $0.options) })
        (self.outputs, self.warnings, self.leftOut, self.failed, self.verdict) =
            (outputs, warnings, leftOut, failed, verdict)
    }

    /// The text of the file.
    var text: [UInt8] {
        get throws { try OrderedJSONEncoder(layout: .pretty).encode(self) + [UInt8(ascii: "\n")] }
    }
}

extension IngestPart {
    /// Returns the key of the part: equal keys mean equal outputs of the same input.
    ///
    /// - Parameter records: The outputs that the part is made of.
    func key(_ settings: IngestJob.Settings, with records: [IngestRecord] = []) throws(MediaError) -> String {
        var text = "\(settings.version)\n\(name.rawValue)\n\(settings.isStrict)\n"
        for option in options { text += "\(option.name)=\(option.value ?? "")\n" }
        // A policy's file may change under its name.
        if case .check(let policy, _) = work { text += "\(policy)\n" }
        for record in records.sorted(by: { $0.part < $1.part }) {
            for output in record.outputs { text += "\(output.file) \(output.sha256)\n" }
        }
        var digest = try ContentDigest(.sha256)
        digest.update(Array(text.utf8))
        return digest.finish()
    }
}
