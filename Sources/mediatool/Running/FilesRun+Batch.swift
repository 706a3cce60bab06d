import MediaBase

// A run over many files, which a list may name.

extension FilesRun {
    /// True if results are printed as they come: as lines about the files of a list, each of which names its file.
    var printsAsTheyCome: Bool { running.batch.filesFrom != nil && form == .lines }

    /// The kinds of failures that may pass.
    ///
    /// Network failures have the code `inputOutput`, as those of a disk have.
    private static let passing: Set<MediaError.Code> = [.crashed, .timedOut, .outOfResources, .inputOutput]

    /// Returns true if the work on a file is done again after a result, and says so.
    ///
    /// - Parameter retry: How often it was done again before.
    func isDoneAgain(_ index: Int, retry: Int, after result: Result<[UInt8], MediaError>) -> Bool {
        // Standard input is read only once.
        guard !files[index].isStandardStream else { return false }
        let error: MediaError?
        switch result {
        case .failure(let failure): error = failure
        case .success(let message):
            let outcome = try? FileOutcome(message: message)
            error = outcome?.isComplete == false ? outcome?.errors.first { Self.passing.contains($0.code) } : nil
        }
        guard let error, Self.passing.contains(error.code) else { return false }
        warn(["\(error.message); done again (\(retry + 1) of \(running.batch.retries ?? 0))"], files[index])
        return true
    }
}
