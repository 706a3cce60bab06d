internal import MediaBase
internal import SystemCalls
internal import SystemPackage
internal import Threading

extension OutputFileSet {
    /// One of several attempts at the same job, each of which may replace what earlier ones have made.
    package struct Attempt: Sendable, Hashable {
        /// The number of the job in the run.
        package let job: Int
        /// The number of the attempt, from 0.
        package let number: Int

        /// Creates a value.
        package init(_ number: Int, atJob job: Int) {
            self.job = job
            self.number = number
        }

        /// Returns true if this attempt comes after another one at the same job.
        fileprivate func follows(_ other: Attempt?) -> Bool {
            other.map { $0.job == job && $0.number < number } ?? false
        }
    }

    /// The rules shared by all outputs of a run.
    final class Rules: Sendable {
        let force: Bool
        /// The instruction for replacing a file that error messages show.
        let toReplace: String
        let pending: PendingOutputs
        private let inputs: Mutex<Set<FileIdentity>>
        /// The names assigned so far.
        private let claimed = Mutex<[Claim: Owner]>([:])

        /// The name of an output: the folder's identity and the name in it.
        struct Claim: Hashable {
            fileprivate let folder: FileIdentity
            fileprivate let name: [UInt8]
        }

        /// The attempt that has a name, and whether its output is in place.
        private struct Owner {
            let attempt: Attempt?
            var isMade = false
        }

        init(force: Bool, inputs: [FileIdentity], toReplace: String, pending: PendingOutputs) {
            self.force = force
            self.toReplace = toReplace
            self.pending = pending
            self.inputs = Mutex(Set(inputs))
        }

        /// Returns the error for an output that could not be written or put in place.
        func failure(_ errno: Errno, named path: FilePath) -> MediaError {
            guard errno == .fileExists else { return MediaError(errno, "write", path: path) }
            return MediaError(
                .alreadyExists, "cannot write: the file exists already; \(toReplace)", path: path.string,
                cause: errno.description)
        }

        func addInputs(_ identities: [FileIdentity]) { inputs.withLock { $0.formUnion(identities) } }

        func refuseInput(_ identity: FileIdentity?, named path: FilePath) throws(MediaError) {
            if let identity, inputs.withLock({ $0.contains(identity) }) {
                throw MediaError(
                    .invalidArgument, "the output is an input file; choose another name", path: path.string)
            }
        }

        /// Refuses an input file as an output, except a character device, as `/dev/null` is often used for both.
        func refuseInput(_ finalPath: FilePath, named path: FilePath) throws(MediaError) {
            guard let status = try? Stat(finalPath), status.type != .characterSpecial else { return }
            try refuseInput(FileIdentity(status), named: path)
        }

        /// Returns the claim to the name of an output.
        func claim(to finalPath: FilePath, named path: FilePath) throws(MediaError) -> Claim {
            let parent = finalPath.removingLastComponent()
            let folder = try failing("write", path) { () throws(Errno) in
                FileIdentity(try Stat(parent.isEmpty ? "." : parent))
            }
            return Claim(folder: folder, name: finalPath.lastComponent?.bytes ?? [])
        }

        /// Returns true if an earlier attempt has put its output there, which the next one may replace.
        func isMade(_ claim: Claim, before attempt: Attempt?) -> Bool {
            guard let attempt, let owner = claimed.withLock({ $0[claim] }) else { return false }
            return owner.isMade && attempt.follows(owner.attempt)
        }

        /// Assigns a name, which no other output has.
        func take(_ claim: Claim, named path: FilePath, for attempt: Attempt?) throws(MediaError) {
            let isFree = claimed.withLock { claimed in
                if let owner = claimed[claim], attempt?.follows(owner.attempt) != true { return false }
                claimed[claim] = Owner(attempt: attempt)
                return true
            }
            guard isFree else {
                throw MediaError(
                    .invalidArgument, "two outputs have this name; give each its own", path: path.string)
            }
        }

        /// Notes that the output of an attempt is in place.
        func noteMade(_ claim: Claim) { claimed.withLock { $0[claim]?.isMade = true } }
    }
}
