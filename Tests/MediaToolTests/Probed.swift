import Foundation
import TestSupport
import Testing

/// Short ways to what `mediatool probe --json` says of files whose bytes are changed.
enum Probed {
    /// The properties of the first video track.
    static func video(_ arguments: String...) throws -> [String: Any] {
        let tracks = try #require(try object(arguments)["tracks"] as? [[String: Any]])
        return try #require(tracks.first { $0["type"] as? String == "video" }?["video"] as? [String: Any])
    }

    /// The whole report.
    static func object(_ arguments: [String]) throws -> [String: Any] {
        let result = try Program.run(Program.mediatool, ["probe", "--json", "--quiet"] + arguments)
        try #require(result.status == 0, "\(result.error)")
        return try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any])
    }

    /// Where some bytes stand first.
    static func place(of name: [UInt8], in bytes: [UInt8]) throws -> Int {
        try #require(bytes.indices.first { bytes[$0...].starts(with: name) })
    }
}
