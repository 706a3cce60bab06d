import MediaBase

/// The part of a list on which one of several processes works: part `index` of `count`, from 0.
///
/// Each line belongs to one part, whatever the other lines are: the FNV-1a hash of its bytes, modulo the number of parts.
struct Shard: Sendable, Hashable {
    /// The number of the part, from 0.
    let index: Int
    /// The number of parts.
    let count: Int

    /// Returns true if a line belongs to the part.
    func contains(_ line: some Sequence<UInt8>) -> Bool {
        Self.hash(line) % UInt64(count) == UInt64(index)
    }

    /// Returns the hash of bytes: FNV-1a with 64 bits (RFC 9923).
    static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

/// A part as it is named on the command line: `3/16`, or `auto/16` for the number that the batch system gives a task.
struct ShardArgument: Sendable, Hashable {
    /// The number of the part; `nil` for the task's.
    let index: Int?
    /// The number of parts.
    let count: Int

    /// The variables with the number of a task: Slurm's array jobs, Kubernetes' indexed jobs, AWS Batch's array jobs.
    static let variables = ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX"]

    /// Reads `K/N` or `auto/N`.
    ///
    /// - Throws: `invalidArgument`, stating the form, if the text is not valid.
    init(parsing text: String) throws(MediaError) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let numbers = parts.map { Self.number($0) }
        guard parts.count == 2, let count = numbers[1], count > 0, parts[0] == "auto" || numbers[0] != nil else {
            throw MediaError(
                .invalidArgument,
                "'\(text)' is not a part of a list: write K/N, such as 0/16 for the first of 16 parts, or auto/16")
        }
        index = numbers[0]
        self.count = count
        if let index { try Self.check(index, of: count, "'\(text)'") }
    }

    /// Returns the part.
    ///
    /// - Parameters:
    ///   - base: The number of the first task, for `auto`.
    ///   - variable: Returns the value of a variable of the environment.
    /// - Throws: `invalidArgument` if no variable says which part is meant, or there is no such part.
    func shard(base: Int, variable: (String) -> String?) throws(MediaError) -> Shard {
        if let index { return Shard(index: index, count: count) }
        for name in Self.variables {
            guard let value = variable(name), !value.isEmpty else { continue }
            let words = "\(name) is '\(value)', which"
            guard let task = Self.number(value) else {
                throw MediaError(.invalidArgument, words + " is not the number of a task")
            }
            let (index, overflow) = task.subtractingReportingOverflow(base)
            guard !overflow else { throw MediaError(.invalidArgument, words + " is too large") }
            try Self.check(index, of: count, base == 0 ? words : words + " less --shard-base \(base)")
            return Shard(index: index, count: count)
        }
        throw MediaError(
            .invalidArgument,
            "--shard auto/N takes its part from \(Self.variables.joined(separator: ", ")), none of which is set")
    }

    private static func check(_ index: Int, of count: Int, _ words: String) throws(MediaError) {
        guard index < 0 || index >= count else { return }
        throw MediaError(.invalidArgument, "\(words) is none of the \(count) parts, which are 0 to \(count - 1)")
    }

    /// Returns a number that is written in digits alone.
    private static func number(_ text: some StringProtocol) -> Int? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }
}
