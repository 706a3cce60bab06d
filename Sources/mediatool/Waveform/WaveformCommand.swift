import ArgumentParser
import AssetKit
import EmbeddedFiles
import MediaBase
import MediaJobs
import Peaks
import SystemCalls
import SystemPackage
import Threading
import Timelines

/// `mediatool waveform`: writes peaks files and pictures of an audio track.
struct WaveformCommand: FilesCommand {
    static let configuration = CommandConfiguration(
        commandName: "waveform",
        abstract: "Writes the peaks of an audio track as data and as images.",
        discussion: """
            The track is decoded once, regardless of the number of outputs. Sample 0 is time 0 of the presentation: \
            priming, and what an edit list omits, is cut; a late start and gaps are silent.

            A peaks file (.dat, .json) as input is written in other formats, as an image, and at levels that are exact \
            multiples of its own. Its channels are kept, and ranges are widened to whole points.

            For an OpenTimelineIO timeline (.otio, JSON), the mix that 'export' writes is measured.

            Examples:
              mediatool waveform talk.mp3 -o talk.png
              mediatool waveform film.mov -o film.dat -o film.json --samples-per-pixel 512
              mediatool waveform song.flac -o 'song-{spp}.dat' --bits 8 \\
                  --samples-per-pixel 256,1024,4096
              mediatool waveform film.mov -o part.png --track a:1 --split-channels \\
                  --start 1:30 --end 2:00
              mediatool waveform talk.mp3 -o talk.svg --bar-width 3 --bar-style rounded \\
                  --color '#365e9ecc' --background transparent
              mediatool waveform talk.mp3 -o talk.csv --pixels-per-second 33.3
              mediatool waveform talk.mp3 -o talk.wavesurfer.json --width 2000
              mediatool waveform film.dat -o film.png -o 'film-{spp}.json' \\
                  --samples-per-pixel 1024
              sox in.wav -t raw -e signed -b 16 - |
                  mediatool waveform - --raw s16le:44100:2 -o in.dat
              mediatool waveform cut.otio -o cut.png
              mediatool waveform *.wav -o '{stem}.dat' --jobs 2
              mediatool waveform talk.mp3 --json        # loudness only
            """)

    @Argument(help: "The files to read; - is standard input.")
    var files: [InputArgument] = []

    @OptionGroup(title: "Sound") var sound: WaveformSoundOptions
    @OptionGroup(title: "Outputs") var outputs: WaveformOutputOptions
    @OptionGroup(title: "Picture") var picture: WaveformPictureOptions
    @OptionGroup(title: "Timelines") var timelines: TimelineOptions
    @OptionGroup(title: "Result") var output: OutputFormatOptions
    @OptionGroup(title: "Run") var options: RunOptions

    func validate() throws {
        if let option = picture.given, !outputs.hasPicture, !output.schema {
            throw ValidationError("'\(option)' applies to images, and no output is one (.png, .svg).")
        }
        try checkNamedFiles()
    }

    var runOptions: RunOptions { options }
    var onlyPrints: Bool { output.schema }

    func checkFiles() throws {
        try output.checkFiles(files)
        guard !output.schema else { return }
        try outputs.check(inputs: files.count, isJSON: output.isJSON)
        try checkNames()
    }

    /// Refuses outputs that would have the same name, before any file is opened.
    ///
    /// It would be a matter of chance which of them was written last. This applies to the outputs of one input and of
    /// several.
    private func checkNames() throws {
        var names = OutputNames(advice: "run the program separately for each of them")
        for file in files {
            let paths = outputs.requests(for: file.path).map(\.path)
            for place in paths.indices {
                try file.refuseLeadingAway { outputs.requests(for: $0)[place].path }
            }
            if let repeated = paths.firstRepeated {
                throw ValidationError("Two outputs are named '\(repeated.displayPath)'; give each its own name.")
            }
            for path in Set(paths) { try names.claim(path, for: file) }
        }
    }

    func run() throws {
        if output.schema { return try StandardOutput.write(EmbeddedFile.waveformSchema.text) }
        var settings = settings
        settings.isStrict = options.strict
        settings.threads = options.threadsPerFile
        let run = FilesRun(
            files, output, options, .init(timelines: timelines, writing: { [outputs] _ in outputs.output.map(\.path) }))
        let work = Work(options: settings, raw: sound.raw, outputs: outputs, timelines: timelines, run: run)
        let code = try run { part, file in
            try work.run(file, part: part)
        } warnings: { result in
            result.warnings(namesEnd: sound.namesEnd)
        } inspect: { result, _ in
            let errors = (try? result.get().outputErrors) ?? []
            return FileInspection(isComplete: errors.isEmpty, errors: errors, duration: try? result.get().duration)
        } lines: { _, _ in
            []
        }
        if code != .success { throw code }
    }

    /// The settings that the options select.
    var settings: WaveformOptions {
        var settings = sound.options()
        settings.picture = picture.picture()
        return settings
    }

    /// The work on each file, which may run on any thread.
    private struct Work: Sendable {
        let options: WaveformOptions
        let raw: RawSound?
        let outputs: WaveformOutputOptions
        let timelines: TimelineOptions
        let run: FilesRun

        func run(_ file: InputArgument, part: Int) throws -> WaveformResult {
            var opening = run.running.assetOptions()
            if raw == nil, let timeline = try run.timeline(in: file, timelines, opening: opening) {
                let outputs = run.outputs.setForAnotherJob()
                timeline.protect(in: outputs)
                return try measure(timeline.asset(), file, part: part, into: outputs)
            }
            if raw == nil, let peaks = try peaksFile(file, until: opening.limits.deadline) {
                let requests = outputs.requests(for: file.path, standardLevel: peaks.peaks.samplesPerPixel)
                let allowance = OutputAllowance(opening.limits, forInputOf: 2 * peaks.peaks.data.count)
                let files = run.outputs.limited(to: allowance)
                return .peaksFile(try PeaksFileJob(peaks, options: options).run(requests, into: files))
            }
            opening.rawSound = raw
            opening.isPrecise = options.needsExactDuration
            opening.spoolsPipe = options.readsPipeAgain
            return try measure(file.asset(opening), file, part: part, into: run.outputs.setForAnotherJob())
        }

        private func measure(
            _ asset: Asset, _ file: InputArgument, part: Int, into files: OutputFileSet
        ) throws -> WaveformResult {
            let report = run.report(part: part)
            let progress: ((Double, Double) -> Void)? = run.progress.isShown ? { report($0, $1) } : nil
            let job = WaveformJob(asset: asset, options: options)
            return .sound(try job.run(outputs.requests(for: file.path), into: files, progress: progress))
        }

        private func peaksFile(
            _ file: InputArgument, until deadline: ContinuousClock.Instant?
        ) throws -> PeaksFileInput? {
            file.isStandardStream
                ? try PeaksFileInput(standardInput: .standardInput, until: deadline)
                : try PeaksFileInput(path: file.path)
        }
    }
}

/// The result of `waveform` for one input, encoded as its report.
enum WaveformResult: Encodable, Sendable {
    /// The measurements of audio.
    case sound(WaveformReport)
    /// The result for a peaks file.
    case peaksFile(PeaksFileReport)

    /// The length of the audio.
    var duration: MediaTime {
        switch self {
        case .sound(let report): report.duration
        case .peaksFile(let report): report.duration
        }
    }

    /// The errors of outputs that were not written.
    var outputErrors: [MediaError] {
        switch self {
        case .sound(let report): report.outputErrors
        case .peaksFile(let report): report.outputErrors
        }
    }

    /// Returns warnings about a successful run: about damage, and about audio that ends before the requested end.
    ///
    /// - Parameter namesEnd: True if the requested end is an absolute position.
    func warnings(namesEnd: Bool) -> [String] {
        let (damage, requested, end) =
            switch self {
            case .sound(let report):
                (report.damage.isEmpty ? "" : report.damage.text, report.requested, report.start + report.duration)
            case .peaksFile(let report): ("", report.requested, report.start + report.duration)
            }
        let early = namesEnd ? EarlyEnd.warning("the sound ends", at: end, before: requested?.end) : nil
        return (damage.isEmpty ? [] : [damage]) + [early].compactMap(\.self)
    }

    /// Encodes the report.
    func encode(to encoder: any Encoder) throws {
        switch self {
        case .sound(let report): try report.encode(to: encoder)
        case .peaksFile(let report): try report.encode(to: encoder)
        }
    }
}
