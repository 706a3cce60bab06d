internal import FileOutput
internal import MediaBase
internal import SystemPackage
internal import Threading

/// The results of the parts of one file, which threads add to.
final class IngestResults: Sendable {
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
    var all: [IngestResult] { state.withLock { $0.results } }

    /// The records of the parts that are made or kept.
    var records: [IngestRecord] { all.compactMap(\.record) }

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

    /// The time that the read took; `nil` if it is not known.
    var reading: Duration? { state.withLock { $0.made.readingSeconds }.map { .seconds($0) } }

    /// Notes the counters of the read, and the time that it took.
    func note(_ counters: IngestCounters, reading: Duration) throws {
        try state.withLock { state in
            state.made.counters = counters
            state.made.readingSeconds = reading / .seconds(1)
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
    func begin() throws { try state.withLock { state in try put(state.made) } }

    /// Saves the state after the manifest, which describes the folder from now on.
    func end() throws {
        try state.withLock { state in
            state.made.isFinished = true
            try put(state.made)
        }
    }

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
