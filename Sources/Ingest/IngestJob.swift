package import AssetKit
package import FileOutput
internal import Inspection
internal import MediaBase
package import SystemPackage
internal import Threading

/// Makes everything that a media library wants of a new file, with one read of it: the command `ingest`.
///
/// Each part of the recipe is the job of a command, which runs on a thread of its own and gets its samples from a
/// ``SharedReading``. So each output is what the single command makes. A part that fails does not prevent the others. Files
/// are put in place as they are completed, and the manifest last.
package struct IngestJob: Sendable {
    /// The file that is read.
    package struct Input: Sendable {
        /// The file, as an asset.
        package let asset: Asset
        /// The path, after which the folder is named.
        package let path: FilePath
        /// True if it is standard input.
        package let isStandardInput: Bool
        /// The identity of the file; the size is that of the asset if it is not known yet.
        package let identity: IngestIdentity

        /// Creates an input without opening anything.
        package init(asset: Asset, path: FilePath, isStandardInput: Bool, identity: IngestIdentity) {
            (self.asset, self.path, self.isStandardInput, self.identity) = (asset, path, isStandardInput, identity)
        }
    }

    /// The request, which is the same for every file of a run.
    package struct Settings: Sendable {
        /// The recipe's name.
        package let recipe: String
        /// The parts, in the recipe's order.
        package let parts: [IngestPart]
        /// True if the SHA-256 of the input belongs to the manifest.
        package var hasFixity = false
        /// True to keep what is made already of the same input with the same options.
        package var resumes = false
        /// True to replace what is there.
        package var replaces = false
        /// True if damage in the input is an error.
        package var isStrict = false
        /// The number of threads; 0 for one per core.
        package var threads = 0
        /// The program's version.
        package let version: String
        /// Returns the JSON of a report on the input, as the commands print it.
        package let encode: @Sendable (any Encodable & Sendable) throws -> [UInt8]

        /// Creates a request.
        package init(
            recipe: String, parts: [IngestPart], version: String,
            encode: @escaping @Sendable (any Encodable & Sendable) throws -> [UInt8]
        ) {
            (self.recipe, self.parts, self.version, self.encode) = (recipe, parts, version, encode)
        }
    }

    private let input: Input
    private let settings: Settings

    /// Creates a job.
    package init(_ input: Input, _ settings: Settings) {
        self.input = input
        self.settings = settings
    }

    /// Fills a folder, which is made if it is missing.
    ///
    /// - Parameters:
    ///   - outputs: Puts files in place; if the job resumes, it has to replace files.
    ///   - progress: Receives the completed fraction and the seconds that were read, from time to time.
    ///   - announce: Receives each part as it is complete, on any thread, one at a time.
    /// - Throws: Errors of opening the input, and of writing the manifest.
    package func run(
        into folder: FilePath, outputs: OutputFileSet, progress: (Double, Double) -> Void = { _, _ in },
        announce: @escaping @Sendable (IngestRecord) -> Void = { _ in }
    ) throws -> IngestManifest {
        let begun = ContinuousClock.now
        let tracks = try input.asset.loadNow(.tracks)
        var identity = input.identity
        identity.sizeBytes = try identity.sizeBytes ?? input.asset.loadNow(.container).sizeBytes
        if !settings.resumes, !settings.replaces, IngestState.exists(in: folder) {
            throw MediaError(
                .alreadyExists,
                "the folder \(folder.string) is filled already; --resume makes what is missing, --force all again")
        }
        let limited = outputs.limited(to: try input.asset.outputAllowance())
        let progressOfParts = IngestProgress(
            settings.resumes ? IngestState(identity, in: folder) : IngestState(identity), folder: folder,
            outputs: limited, announce: announce)
        let work = IngestWork(
            input: input, settings: settings, folder: folder, outputs: limited,
            precise: PreciseAsset(input.asset))
        var waiting: [(part: IngestPart, key: String)] = []
        for part in settings.parts where !part.isPage {
            if let reason = part.reasonToLeaveOut(tracks) {
                progressOfParts.leaveOut(part, because: reason)
            } else if !progressOfParts.keep(part, key: try part.key(settings)) {
                waiting.append((part, try part.key(settings)))
            }
        }
        if !waiting.isEmpty {
            try progressOfParts.save()
            read(waiting, work, progressOfParts, progress)
            try progressOfParts.note(IngestCounters(input.asset))
        }
        if settings.hasFixity, progressOfParts.sha256 == nil {
            try progressOfParts.note(sha256: input.asset.sourceDigest())
            try progressOfParts.note(IngestCounters(input.asset))
        }
        let reading = begun.duration(to: .now)
        for part in settings.parts where part.isPage {
            let key = try part.key(settings, with: progressOfParts.records)
            if progressOfParts.keep(part, key: key) { continue }
            let results = progressOfParts.results
            progressOfParts.finish(part, key: key, Result { try work.page(part, identity, results) })
        }
        var manifest = IngestManifest(
            settings, identity, progressOfParts.results, lasting: try input.asset.loadNow(.duration))
        manifest.sha256 = settings.hasFixity ? progressOfParts.sha256 : nil
        manifest.counters = progressOfParts.counters
        manifest.timings = .init(reading: reading, total: begun.duration(to: .now))
        try outputs.put(try manifest.text, at: folder.appending(IngestManifest.fileName))
        return manifest
    }

    /// Makes parts with one read, each on a thread of its own.
    private func read(
        _ waiting: [(part: IngestPart, key: String)], _ work: IngestWork, _ results: IngestProgress,
        _ progress: (Double, Double) -> Void
    ) {
        let length = (try? input.asset.loadNow(.duration)).flatMap { $0.isNumeric ? $0.seconds : nil } ?? 0
        let reading = SharedReading(input.asset, threads: settings.threads)
        let running = Monitor(0)
        let seats = waiting.map { _ in reading.makeSeat() }
        for ((part, key), seat) in zip(waiting, seats) {
            running.update { $0 += 1 }
            let run: @Sendable () -> Void = {
                let result = Result { try work.run(part, seat.asset) }
                seat.leave()
                results.finish(part, key: key, result)
                running.update { $0 -= 1 }
            }
            do {
                try WorkerThread(run).detach()
            } catch {
                seat.leave()
                results.finish(
                    part, key: key, .failure(MediaError(.outOfResources, "no more threads can be started")))
                running.update { $0 -= 1 }
            }
        }
        reading.run { time in
            if length > 0, time.isNumeric { progress(min(1, time.seconds / length), time.seconds) }
        }
        running.wait { $0 == 0 ? () : nil }
    }
}

/// The results of the parts of one file, which threads add to.
final class IngestProgress: Sendable {
    private let folder: FilePath
    private let outputs: OutputFileSet
    private let announce: @Sendable (IngestRecord) -> Void
    private let state: Mutex<(made: IngestState, results: [IngestResult])>

    init(
        _ state: IngestState, folder: FilePath, outputs: OutputFileSet,
        announce: @escaping @Sendable (IngestRecord) -> Void
    ) {
        (self.folder, self.outputs, self.announce) = (folder, outputs, announce)
        self.state = Mutex((state, []))
    }

    /// The results so far.
    var results: [IngestResult] { state.withLock { $0.results } }

    /// The records of the parts that are made or kept.
    var records: [IngestRecord] { results.compactMap(\.record) }

    /// Notes that there is nothing to do for a part.
    func leaveOut(_ part: IngestPart, because reason: String) {
        state.withLock { $0.results.append(IngestResult(part: part.name, outcome: .leftOut(reason))) }
    }

    /// Keeps what is made of a part; returns false if that is nothing.
    func keep(_ part: IngestPart, key: String) -> Bool {
        state.withLock { state in
            guard let record = state.made.record(of: part.name, key: key, in: folder) else { return false }
            state.results.append(IngestResult(part: part.name, outcome: .made(record)))
            return true
        }
    }

    /// Notes the result of a part, and saves the state.
    func finish(_ part: IngestPart, key: String, _ result: Result<IngestRecord, any Error>) {
        state.withLock { state in
            do {
                let record = try result.get()
                state.made.note(record, key: key)
                try put(state.made)
                state.results.append(IngestResult(part: part.name, outcome: .made(record)))
                announce(record)
            } catch {
                let error = error as? MediaError ?? MediaError(.libraryFailure, "\(error)")
                state.results.append(IngestResult(part: part.name, outcome: .failed(error)))
            }
        }
    }

    /// The counters of the read that made the parts; `nil` if it is not known.
    var counters: IngestCounters? { state.withLock { $0.made.counters } }

    /// The SHA-256 of the input; `nil` if it is not known.
    var sha256: String? { state.withLock { $0.made.sha256 } }

    /// Notes the counters of the read.
    func note(_ counters: IngestCounters) throws {
        try state.withLock { state in
            state.made.counters = counters
            try put(state.made)
        }
    }

    /// Notes the SHA-256 of the input.
    func note(sha256: String?) throws {
        try state.withLock { state in
            state.made.sha256 = sha256
            try put(state.made)
        }
    }

    /// Saves the state before anything is made, so that nothing is made where it cannot be saved.
    func save() throws { try state.withLock { state in try put(state.made) } }

    private func put(_ state: IngestState) throws {
        try outputs.put(try state.text, at: folder.appending(IngestState.fileName), isRewritten: true)
    }
}

/// The result of one part.
struct IngestResult: Sendable {
    /// The ways in which a part can end.
    enum Outcome: Sendable {
        case made(IngestRecord)
        case leftOut(String)
        case failed(MediaError)
    }

    let part: IngestPart.Name
    let outcome: Outcome

    /// The record of a part that is made.
    var record: IngestRecord? { if case .made(let record) = outcome { record } else { nil } }
}

extension IngestPart {
    /// True for the page, which is made of the other outputs.
    fileprivate var isPage: Bool { if case .page = work { true } else { false } }

    /// Returns the reason why there is nothing to do, in words that follow "because"; `nil` if there is something.
    fileprivate func reasonToLeaveOut(_ tracks: [AssetTrack]) -> String? {
        guard let needed = neededType else { return nil }
        let found = tracks.filter { $0.mediaType == needed }
        if found.isEmpty { return "the file has no \(needed)" }
        let allowsCover = name == .poster
        return allowsCover || !found.allSatisfy(\.isAttachedPicture) ? nil : "the file has a cover picture and no video"
    }
}
