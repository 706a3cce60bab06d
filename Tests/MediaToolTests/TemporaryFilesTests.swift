import TestSupport
import Testing

/// Where what comes through a pipe is kept while it is read.
@Suite struct TemporaryFilesTests {
    /// What `probe` makes of a movie from a pipe, with a temporary folder that the shell names.
    private func probe(temporaryFolder: String, in folder: TemporaryFolder) throws -> (status: Int32, error: String) {
        let script = "cd '\(folder.path)' && cat \"$1\" | TMPDIR=\(temporaryFolder) \"$0\" probe - >answer"
        let result = try Program.run("/bin/sh", ["-c", script, Program.mediatool, Fixtures.path("av.mp4")])
        return (result.status, result.error)
    }

    @Test func theFolderMayHaveAnyName() throws {
        let folder = try TemporaryFolder()
        _ = try Program.run("/bin/sh", ["-c", "mkdir \"$0/$(printf 'a\\377 b')\"", folder.path])
        for name in ["\"$(printf 'a\\377 b')\"", "''", "."] {
            let result = try probe(temporaryFolder: name, in: folder)
            #expect(result.status == 0, "\(name): \(result.error)")
        }
        #expect(try folder.names().count == 2)
    }

    @Test func aMissingFolderIsNamedInOneLine() throws {
        let folder = try TemporaryFolder()
        let result = try probe(temporaryFolder: "./missing", in: folder)
        #expect(result.status == 2)
        #expect(result.error.contains("TMPDIR") && result.error.split(separator: "\n").count == 1)
    }
}
