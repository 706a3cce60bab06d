internal import AssetKit
internal import FileOutput
internal import Inspection
internal import JSONText
internal import MediaAnalysis
internal import MediaBase
internal import MediaJobs
internal import QualityControl
internal import SystemPackage
internal import Threading

/// Makes the outputs of one part.
struct IngestWork: Sendable {
    let input: IngestJob.Input
    let settings: IngestJob.Settings
    /// The folder that is filled.
    let folder: FilePath
    let outputs: OutputFileSet
    /// The input with exact durations, for which all packets are read at most once.
    let precise: PreciseAsset

    /// The length below which sheets have an image every two seconds.
    private static let shortLength = MediaTime(value: 300, timescale: 1)

    /// Makes the outputs of a part, and describes them.
    ///
    /// - Parameter asset: The input, which may take part in a shared reading.
    func run(_ part: IngestPart, _ asset: Asset) throws -> IngestRecord {
        var record = IngestRecord(part: part.name.rawValue)
        switch part.work {
        case .probe(let name):
            let report = try ProbeJob(asset: asset, scans: false, isStrict: settings.isStrict).run()
            record.warnings = report.warnings
            try put(settings.encode(report), name)
            record.outputs = [try described(name, of: part)]
        case .waveform(let requests, let options, let eachTrack):
            try waveform(part, requests, options, eachTrack, asset, &record)
        case .images(let request, let output, let spacedByLength):
            try images(part, request, output, spacedByLength, asset, &record)
        case .proxy(var request, let name):
            request.isStrict = settings.isStrict
            request.threads = settings.threads
            let report = try TranscodeJob(request, .media(asset)).run(
                to: folder.appending(name.components), outputs: outputs.setForAnotherJob(), makesFolder: true)
            record.warnings = report.warnings + (report.comparison?.changes ?? [])
            let shown = report.video?.delivered ?? report.audio.first?.delivered
            record.outputs = [try described(name, of: part, from: shown?.start ?? .zero, lasting: report.duration)]
        case .check(let policy, let name):
            let report = try QCJob(asset: asset, policy: policy, threads: settings.threads).run()
            if settings.isStrict, let error = report.measurements.strictError { throw error }
            record.verdict = report.verdict.rawValue
            record.warnings = report.warnings
            try put(settings.encode(report), name)
            record.outputs = [try described(name, of: part)]
        case .scenes(let threshold, let name):
            let scenes = try SceneTimes(asset: asset, threshold: threshold, threads: settings.threads).run()
            try put(OrderedJSONEncoder(layout: .pretty).encode(scenes) + [UInt8(ascii: "\n")], name)
            record.outputs = [try described(name, of: part)]
        case .frameHashes(let name):
            let set = outputs.setForAnotherJob()
            let file = try set.beginInFolder(folder.appending(name.components))
            let damage = try FrameHashJob(asset: asset, threads: settings.threads).run(to: file)
            if settings.isStrict, let error = damage.strictError { throw error }
            try set.commit()
            record.warnings = damage.isEmpty ? [] : [damage.text]
            record.outputs = [try described(name, of: part)]
        case .page: break
        }
        return record
    }

    /// Makes the page of the other outputs.
    func page(_ part: IngestPart, _ identity: IngestIdentity, _ results: [IngestResult]) throws -> IngestRecord {
        guard case .page(let name) = part.work else { throw MediaError(.invalidArgument, "is not a page") }
        let page = try PageContents(folder, results.compactMap(\.record)).page(of: identity, results)
        try put(Array(try page.html().utf8), name)
        var record = IngestRecord(part: part.name.rawValue)
        record.outputs = [try described(name, of: part)]
        return record
    }

    private func put(_ bytes: [UInt8], _ name: FilePath) throws(MediaError) {
        try outputs.put(bytes, at: folder.appending(name.components))
    }

    /// Describes a file that is in place.
    private func described(
        _ name: FilePath, of part: IngestPart, from start: MediaTime? = nil, lasting duration: MediaTime? = nil,
        images: [IngestOutput.Image]? = nil
    ) throws(MediaError) -> IngestOutput {
        let (size, hash) = try IngestState.digest(of: folder.appending(name.components))
        return IngestOutput(
            kind: part.kind(of: name), file: name.string, sizeBytes: size, sha256: hash, start: start,
            duration: duration, images: images)
    }

    // MARK: Audio

    private func waveform(
        _ part: IngestPart, _ requests: [WaveformOutput], _ options: WaveformOptions, _ eachTrack: Bool,
        _ asset: Asset, _ record: inout IngestRecord
    ) throws {
        var options = options
        options.threads = settings.threads
        options.isStrict = settings.isStrict
        let tracks = eachTrack ? try asset.loadNow(.tracks).filter { $0.mediaType == .audio }.map(\.index) : []
        for track in eachTrack ? tracks.map(Int?.some) : [nil] {
            if let track { options.track = .index(track) }
            let named = requests.map { request in
                var request = request
                if let track { request.path = request.path.withTrack("\(track)") }
                return request
            }
            let placed = named.map { request in
                var request = request
                request.path = folder.appending(request.path.components)
                return request
            }
            let report = try WaveformJob(asset: asset, options: options).run(placed, into: outputs.setForAnotherJob())
            if let failure = report.outputErrors.first { throw failure }
            if !report.damage.isEmpty { record.warnings.append(report.damage.text) }
            for request in named {
                record.outputs.append(
                    try described(request.path, of: part, from: report.start, lasting: report.duration))
            }
        }
    }

    // MARK: Images

    private func images(
        _ part: IngestPart, _ request: ThumbsRequest, _ output: ThumbsOutput, _ spacedByLength: Bool, _ asset: Asset,
        _ record: inout IngestRecord
    ) throws {
        var request = request
        request.isStrict = settings.isStrict
        request.threads = settings.threads
        if spacedByLength {
            var length = try asset.loadNow(.duration)
            if !length.isNumeric { length = try precise.asset.loadNow(.duration) }
            let isShort = length.isNumeric && length < Self.shortLength
            request.times = .every(.time(MediaTime(value: isShort ? 2 : 10, timescale: 1)))
        }
        let job = ThumbsJob(request, output: output.inFolder(folder))
        let report = try job.run(
            on: ThumbsJob.Input(
                path: input.path, isStandardInput: false, options: Asset.Options(), asset: nil,
                open: { $0.isPrecise ? precise.asset.inPlace(of: asset) : asset }), outputs: outputs.setForAnotherJob())
        if let failure = report.failures.first { throw failure }
        record.warnings = report.warnings + (report.damage.map { [$0.text] } ?? [])
        var sheets: [FilePath: [IngestOutput.Image]] = [:]
        var names: [FilePath] = []
        for image in report.images {
            guard case .success(let made) = image.result, let file = made.sheet?.file ?? made.file else { continue }
            if sheets[file] == nil { names.append(file) }
            sheets[file, default: []].append(.init(requested: image.requested, actual: made.actual))
        }
        names += [report.index].compactMap(\.self)
        for name in names {
            guard let last = name.lastComponent else { continue }
            record.outputs.append(try described(FilePath(root: nil, [last]), of: part, images: sheets[name]))
        }
    }
}

/// The times at which new shots start, in the order of the JSON.
struct SceneTimes: Sendable {
    let asset: Asset
    let threshold: Double
    let threads: Int

    /// The times with their threshold.
    struct Found: Encodable, Sendable {
        let schemaVersion = 1
        let threshold: Double
        let scenes: [MediaTime]
    }

    /// Reads the video and compares its frames.
    func run() throws -> Found {
        let tracks = try asset.loadNow(.tracks)
        let track = try TrackSelector.standardTrack(of: .video, in: tracks)
        let whole = MediaTimeRange(start: .zero, duration: .positiveInfinity)
        let times = try ContentTimes(asset: asset, track: track, threads: threads) { _ in }.scenes(
            in: whole, threshold: threshold)
        return Found(threshold: threshold, scenes: times)
    }
}

/// An asset with exact durations, which is made when a job first needs it.
final class PreciseAsset: Sendable {
    private let original: Asset
    private let made = Mutex<Asset?>(nil)

    init(_ original: Asset) { self.original = original }

    /// The asset, loaded if that is possible; an error of loading comes again when it is used.
    var asset: Asset {
        made.withLock { made in
            if let made { return made }
            let asset = original.withPreciseTiming()
            try? asset.loadContents()
            made = asset
            return asset
        }
    }
}
