import Foundation
import TestSupport
import Testing

/// The parts of `export --copy --json` that tests of sound look at.
struct CopyReport: Decodable {
    struct Time: Decodable { var seconds: Double }
    struct Delivered: Decodable { var start, end: Time; var storedFrom: Time? }
    struct Track: Decodable { var delivered: Delivered }
    var audio: [Track]
    var warnings: [String]

    /// Copies, and reads what the program tells.
    init(of arguments: [String], in folder: TemporaryFolder) throws {
        let result = try Program.run(
            Program.mediatool, ["export", "--copy", "--force", "--quiet", "--json"] + arguments, folder: folder.path)
        #expect(result.status == 0, "\(result.error)")
        self = try JSONDecoder().decode(Self.self, from: Data(result.bytes))
    }
}
