package import AssetKit
package import FileOutput
internal import Inspection
internal import MediaBase
internal import SystemCalls
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
        /// The identity of the file; the size is that of the asset if it is not known yet, and so is the entity tag.
        package let identity: IngestIdentity
        /// True if the folder had been filled, or begun to be, before this run.
        package let isFilled: Bool

        /// Creates an input without opening anything.
        package init(asset: Asset, path: FilePath, identity: IngestIdentity, isFilled: Bool) {
            (self.asset, self.path, self.identity, self.isFilled) = (asset, path, identity, isFilled)
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
        identity.entityTag = input.asset.entityTag
        if !settings.replaces { try refuseWhatIsThere(in: folder) }
        let limited = outputs.limited(to: try input.asset.outputAllowance())
        let results = IngestResults(
            settings.resumes ? IngestState(identity, in: folder) : IngestState(identity), folder: folder,
            outputs: limited, announce: announce)
        let work = IngestWork(
            input: input, settings: settings, folder: folder, outputs: limited,
            precise: PreciseAsset(input.asset))
        var waiting: [(part: IngestPart, key: String)] = []
        for part in settings.parts where !part.isPage {
            if let reason = part.reasonToLeaveOut(tracks) {
                results.leaveOut(part, because: reason)
                continue
            }
            let key = try part.key(settings)
            if !results.keep(part, key: key) { waiting.append((part, key)) }
        }
        if !waiting.isEmpty {
            try results.begin()
            read(waiting, work, results, progress)
            try results.note(IngestCounters(input.asset), reading: begun.duration(to: .now))
        }
        let needsDigest = settings.hasFixity && results.sha256 == nil
        if needsDigest {
            try results.note(sha256: input.asset.sourceDigest())
            try results.note(IngestCounters(input.asset), reading: begun.duration(to: .now))
        }
        // Of what is kept, the time of its own read is told: to look at it again says nothing of the file.
        let reading = results.reading ?? begun.duration(to: .now)
        let earlier = waiting.isEmpty && !needsDigest ? results.reading : nil
        for part in settings.parts where part.isPage {
            let key = try part.key(settings, with: results.records)
            if results.keep(part, key: key) { continue }
            let others = results.all
            results.finish(part, key: key, Result { try work.page(part, identity, others) })
        }
        var manifest = IngestManifest(
            settings, identity, results.all, lasting: try input.asset.loadNow(.duration))
        manifest.sha256 = settings.hasFixity ? results.sha256 : nil
        manifest.counters = results.counters
        manifest.timings = .init(
            reading: reading, total: (earlier ?? .zero) + begun.duration(to: .now))
        try outputs.put(try manifest.text, at: folder.appending(IngestManifest.fileName))
        try results.end()
        return manifest
    }

    /// Refuses a folder that is filled if the job does not resume, and otherwise files in it that `ingest` has not made.
    private func refuseWhatIsThere(in folder: FilePath) throws(MediaError) {
        guard settings.resumes else {
            guard input.isFilled else { return }
            throw MediaError(
                .alreadyExists,
                "the folder \(folder.string) is filled already; --resume makes what is missing, --force all again")
        }
        guard let opened = try? OpenFolder(folder),
            let entries = try? opened.contents(of: FilePath(), atMost: 1_000_000)
        else { return }
        let patterns = settings.parts.flatMap(\.patterns) + [FilePath(IngestManifest.fileName.string)]
        let foreign = entries.map { FilePath(bytes: $0.name) }.first { patterns.contains(where: $0.matches) }
        // Another process may fill the folder at the same time. It writes the state before everything else.
        guard let foreign, !IngestState.exists(in: folder) else { return }
        throw MediaError(
            .alreadyExists,
            "the folder \(folder.string) has a file \(foreign.string) that ingest has not "
                + "made; --force replaces it")
    }

    /// Returns true if an earlier run has filled a folder or begun to.
    package static func hasBegun(in folder: FilePath) -> Bool { IngestState.exists(in: folder) }

    /// Makes parts with one read, each on a thread of its own.
    private func read(
        _ waiting: [(part: IngestPart, key: String)], _ work: IngestWork, _ results: IngestResults,
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
