import ArgumentParser
import MediaBase
import MediaJobs
import Peaks
import SystemPackage

extension WaveformOutput.Format: ExpressibleByArgument {
    /// The endings by which files are recognised, for help and messages.
    fileprivate static let endings = list(extensions.map { "." + $0.rawValue }, "or")
    /// The formats whose values have a chosen number of bits.
    fileprivate static let withBits = list(extensions.filter { !$0.isPicture }.map(\.rawValue), "and")
    /// The formats of values that fit any width.
    fileprivate static let fitted = list(
        allCases.filter { !$0.isPicture && $0.peakFile == nil }.map(\.rawValue), "and")

    private static func list(_ names: [String], _ conjunction: String) -> String {
        names.dropLast().joined(separator: ", ") + " \(conjunction) " + (names.last ?? "")
    }
}

/// The options of `waveform` that select the outputs.
struct WaveformOutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            """
            An output; its name ends with \(WaveformOutput.Format.endings). Give it more than once for several; - is \
            standard output. {stem} stands for the input's name without extension, {spp} for the samples per pixel.
            """, valueName: "file"))
    var output: [PathArgument] = []

    @Option(
        help: """
            What the outputs are, whatever their names; peaksjs (.peaksjs.dat) is a .dat of 8 bits, wavesurfer \
            (.wavesurfer.json) JSON for that player.
            """
    )
    var format: WaveformOutput.Format?

    @Option(
        help: ArgumentHelp(
            "Bits of a value in \(WaveformOutput.Format.withBits): 8 or 16. (default: 16)", valueName: "8|16"),
        completion: .list(["8", "16"]))
    var bits: Int?

    @Option(
        help: ArgumentHelp(
            """
            Samples in a point, or in a column of a picture unless --width says how wide that is; with several, -o \
            needs {spp}, without which a picture does not follow them. (default: 256)
            """, valueName: "n,…"))
    var samplesPerPixel: Levels?

    @Option(
        help: ArgumentHelp(
            """
            Points a second, such as 100, 33.3 or 30000/1001, without drift: point k begins at sample \
            floor(k * rate / n). A .dat or .json has floor(rate / n) samples a point instead.
            """, valueName: "n"), transform: WaveformArgument.rate)
    var pixelsPerSecond: Rational?

    @Option(
        help: ArgumentHelp(
            """
            Fit all of the audio into so many pixels, or points of \(WaveformOutput.Format.fitted) where no other number \
            of points is asked for. (default for pictures: \(WaveformPicture.standardWidth))
            """, valueName: "n"))
    var width: Int?

    /// One or several zoom levels, separated by commas.
    struct Levels: ExpressibleByArgument {
        var values: [Int]

        init?(argument: String) {
            let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
            guard let values = numbers as? [Int], Set(values).count == values.count else { return nil }
            self.values = values
        }
    }

    func validate() throws {
        if let bits, bits != 8, bits != 16 { throw ValidationError("'--bits' is 8 or 16.") }
        if format == .peaksjs, bits == 16 { throw ValidationError("'--format peaksjs' has 8 bits.") }
        if samplesPerPixel != nil {
            try CommonArgument.exclude("--samples-per-pixel", ("--pixels-per-second", pixelsPerSecond != nil))
        }
        try CommonArgument.check("--width", width, in: 1...WaveformPicture.maximumWidth)
        for output in output {
            if output.endsWithSlash {
                throw ValidationError(
                    "'\(output.path.displayPath)/' is a folder: name the file in it, such as '\(output.path.displayPath)/{stem}.dat'."
                )
            }
            if let unknown = WaveformOutputTemplate(output.path).unknownPlaceholder {
                throw ValidationError(
                    "'-o \(output.path.displayPath)': there is no placeholder \(unknown); there are "
                        + "\(WaveformOutputTemplate.placeholders).")
            }
            guard let format = format(of: output) else {
                throw ValidationError(
                    "'\(output.path.displayPath)' has no known ending: use "
                        + "\(WaveformOutput.Format.endings), or add '--format'.")
            }
            try checkLevels(of: output, format)
        }
        if width != nil, !output.isEmpty, !output.contains(where: isFitted) {
            throw ValidationError(
                "'--width' fits pictures, \(WaveformOutput.Format.fitted), and no output here is fitted to a width.")
        }
        guard output.count(where: \.isStandardStream) <= 1 else {
            throw ValidationError("Standard output ('-') can be named only once.")
        }
    }

    /// True if any output is a picture.
    var hasPicture: Bool { output.contains { format(of: $0)?.isPicture == true } }

    private func isFitted(_ output: PathArgument) -> Bool {
        guard let format = format(of: output) else { return false }
        return scales(of: format, tellsLevels: WaveformOutputTemplate(output.path).tellsLevels, standardLevel: 0)
            .contains { if case .fitted = $0.scale { true } else { false } }
    }

    private func checkLevels(of output: PathArgument, _ format: WaveformOutput.Format) throws {
        let least = format.peakFile == nil ? 1 : PeakFile.minimumSamplesPerPixel
        guard samplesPerPixel?.values.allSatisfy((least...Int(Int32.max)).contains) ?? true else {
            throw ValidationError("'--samples-per-pixel' takes whole numbers from \(least) for \(format.rawValue).")
        }
        let tellsLevels = WaveformOutputTemplate(output.path).tellsLevels
        let scales = scales(of: format, tellsLevels: tellsLevels, standardLevel: WaveformOutput.standardSamplesPerPixel)
        if scales.count > 1, !tellsLevels {
            throw ValidationError(
                "With several '--samples-per-pixel' '-o \(output.path.displayPath)' needs {spp} in it.")
        }
        if tellsLevels, scales.contains(where: { $0.level == nil }) {
            throw ValidationError(
                "'-o \(output.path.displayPath)': {spp} stands for '--samples-per-pixel', and the output has another "
                    + "number of points.")
        }
    }

    /// Refuses outputs that do not fit the number of inputs or the form of the result.
    func check(inputs: Int, isJSON: Bool) throws {
        if output.isEmpty, !isJSON {
            throw ValidationError("Name an output with '-o', or ask for the measurements with '--json'.")
        }
        if isJSON, output.contains(where: \.isStandardStream) {
            throw ValidationError("'-o -' and '--json' both go to standard output.")
        }
        for output in output where inputs > 1 && !WaveformOutputTemplate(output.path).tellsInputs {
            throw ValidationError("With several files '-o \(output.path.displayPath)' needs {stem} in it.")
        }
    }

    /// Returns the outputs for one input, with `standardLevel` as the default level.
    func requests(
        for input: FilePath, standardLevel: Int = WaveformOutput.standardSamplesPerPixel
    ) -> [WaveformOutput] {
        output.flatMap { output -> [WaveformOutput] in
            guard let format = format(of: output) else { return [] }
            let template = WaveformOutputTemplate(output.path)
            return scales(of: format, tellsLevels: template.tellsLevels, standardLevel: standardLevel).map { scale in
                WaveformOutput(
                    path: template.path(for: input, samplesPerPixel: scale.level ?? 0), format: format,
                    scale: scale.scale, bits: bits)
            }
        }
    }

    /// Returns the scales of outputs of a format, each with its samples per point if that was requested.
    private func scales(
        of format: WaveformOutput.Format, tellsLevels: Bool, standardLevel: Int
    ) -> [(scale: WaveformOutput.Scale, level: Int?)] {
        // A single picture cannot show several levels; it then has the same width as without levels.
        if let levels = samplesPerPixel?.values,
            tellsLevels || !format.isPicture || (levels.count == 1 && width == nil)
        {
            return levels.map { (.level(.samplesPerPixel($0)), $0) }
        }
        if tellsLevels, pixelsPerSecond == nil { return [(.standard, standardLevel)] }
        if let width, format.isPicture { return [(.fitted(width: width), nil)] }
        if let rate = pixelsPerSecond {
            let isWhole = format.peakFile != nil
            return [(.level(isWhole ? .wholeSamplesNear(pixelsPerSecond: rate) : .pixelsPerSecond(rate)), nil)]
        }
        if format.isPicture { return [(.fitted(width: WaveformPicture.standardWidth), nil)] }
        if let width, format.peakFile == nil { return [(.fitted(width: width), nil)] }
        return [(.standard, standardLevel)]
    }

    private func format(of output: PathArgument) -> WaveformOutput.Format? {
        format ?? WaveformOutput.Format(extensionOf: output.path)
    }
}

/// Parses arguments of `waveform`; ArgumentParser shows the errors as usage errors.
enum WaveformArgument {
    /// Parses points per second, as a decimal number without rounding, or as a fraction.
    static func rate(_ text: String) throws -> Rational {
        if let rate = Rational(text), rate.isPositive { return rate }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let digits = parts.joined()
        let isNumber = (1...18).contains(digits.utf8.count) && digits.utf8.allSatisfy { (48...57).contains($0) }
        guard parts.count <= 2, isNumber, let value = Int64(digits) else { throw rateError(text) }
        var unit: Int64 = 1
        for _ in 0..<(parts.count == 2 ? parts[1].count : 0) { unit *= 10 }
        let rate = Rational(value, unit)
        guard rate.isPositive else { throw rateError(text) }
        return rate
    }

    private static func rateError(_ text: String) -> ValidationError {
        ValidationError("'\(text.prefix(40))' is not a number of pixels per second: write 100, 33.3 or 30000/1001.")
    }
}
