import Ingest
import Isolation
import MediaBase
import MediaJobs
import QualityControl
import SystemCalls
import SystemPackage

/// The part of a result that concerns the run: the verdict, or the error of a file that failed as a whole.
struct IngestEnding {
    private let verdict: String
    private let error: MediaError?

    /// Makes the ending of a result.
    init(_ result: Result<IngestManifest, MediaError>) {
        switch result {
        case .success(let manifest): (verdict, error) = (manifest.verdict ?? "", nil)
        case .failure(let error): (verdict, self.error) = ("", error)
        }
    }

    /// The severity of the verdict; `nil` for a file that passes, and without a policy.
    var severity: Severity? { Severity(rawValue: verdict) }

    /// Writes the error into a folder, in place of a manifest; without an error, removes that of an earlier run.
    ///
    /// The supervisor does this, because a worker may have died. A folder that cannot be written has no record, and
    /// neither has one in which a file of that name is an input or the user's own.
    func note(in folder: FilePath, of identity: IngestIdentity, inputs: Set<FileIdentity>) {
        let path = folder.appending(IngestLibrary.errorName)
        let present = FileIdentity(of: path)
        if let present, inputs.contains(present) || !IngestFailure.isRecord(at: path) { return }
        guard let error else {
            if present != nil { try? removeFile(path) }
            return
        }
        // The folder is another's.
        guard error.code != .alreadyExists, let text = try? IngestFailure(identity, error).text else { return }
        try? OutputFileSet(force: present != nil, inputs: Array(inputs)).put(text, at: path)
    }

    /// The message of a worker.
    var message: [UInt8] {
        var writer = MessageWriter()
        writer.write(verdict)
        writer.write(error) { $0.write($1) }
        return writer.bytes
    }

    /// Reads the message of a worker.
    init(message: [UInt8]) throws(MessageReader.Invalid) {
        var reader = MessageReader(message)
        verdict = try reader.text()
        error = try reader.optional { reader throws(MessageReader.Invalid) in try reader.error() }
    }
}
