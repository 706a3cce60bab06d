import MediaBase
import SystemPackage
import Testing

@testable import FileOutput

/// Outputs of jobs that fail and are done again.
@Suite struct OutputAttemptTests {
    private let scratch: Scratch
    private let outputs = OutputFileSet(force: false, inputs: [])

    init() throws { scratch = try Scratch() }

    private func put(_ text: String, at name: String, attempt: Int, job: Int = 0) throws {
        try outputs.set(for: .init(attempt, atJob: job)).put(Array(text.utf8), at: scratch(name))
    }

    private func code(_ work: () throws -> Void) -> MediaError.Code? {
        do { try work() } catch { return (error as? MediaError)?.code }
        return nil
    }

    @Test func whatAnEarlierAttemptMadeIsReplaced() throws {
        try put("first", at: "a", attempt: 0)
        try put("second", at: "a", attempt: 1)
        #expect(try scratch.text(of: "a") == "second" && scratch.names() == ["a"])
    }

    @Test func whatOthersMadeIsNot() throws {
        try scratch.write("old", to: "a")
        #expect(code { try put("first", at: "a", attempt: 0) } == .alreadyExists)
        #expect(code { try put("second", at: "a", attempt: 1) } == .alreadyExists)
        // Nor what somebody puts where an attempt has left nothing.
        let left = try outputs.set(for: .init(0, atJob: 0)).begin(scratch("b"))
        left.discard()
        try scratch.write("old", to: "b")
        #expect(code { try put("second", at: "b", attempt: 1) } == .alreadyExists)
        #expect(try scratch.text(of: "a") == "old" && scratch.text(of: "b") == "old")
    }

    @Test func anAttemptThatLeftNothingGivesTheNameUp() throws {
        let left = try outputs.set(for: .init(0, atJob: 0)).begin(scratch("a"))
        left.discard()
        try put("second", at: "a", attempt: 1)
        #expect(try scratch.text(of: "a") == "second")
    }

    @Test func theSameAttemptAndOtherJobsHaveNamesOfTheirOwn() throws {
        try put("first", at: "a", attempt: 0)
        #expect(code { try put("again", at: "a", attempt: 0) } == .alreadyExists)
        #expect(code { try put("other", at: "a", attempt: 1, job: 1) } == .alreadyExists)
        let set = outputs.set(for: .init(0, atJob: 2))
        let open = try set.begin(scratch("b"))
        #expect(code { _ = try set.setForAnotherJob().begin(scratch("b")) } == .invalidArgument)
        #expect(code { _ = try outputs.begin(scratch("b")) } == .invalidArgument)
        open.discard()
    }
}
