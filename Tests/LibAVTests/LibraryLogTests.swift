import Foundation
import LibAV
import MediaBase
import SystemPackage
import TestSupport
import Testing

@Suite(.serialized) struct LibraryLogTests {
    @Test func theLastLineIsInTheCause() throws {
        let path = FilePath(try Fixtures.path("truncated-header.mp4"))
        let error = try #require(mediaError { try InputFile(opening: .path(path)) })
        // libavformat's words for a `moov` box that is cut off.
        #expect(try #require(error.cause).contains("error reading header"))
        #expect(!error.description.contains("\n"))
        #expect(!error.description.contains(" @ 0x"))
    }

    @Test func aLineIsTakenOnce() throws {
        let path = FilePath(try Fixtures.path("damaged.mp4"))
        let file = try InputFile(opening: .path(path))
        try decodeAll(file)
        #expect(LibraryLog.takeLastLine() != nil)
        #expect(LibraryLog.takeLastLine() == nil)
    }

    @Test func nothingGoesToStandardError() throws {
        let text = try StandardError.captured {
            try decodeAll(InputFile(opening: .path(FilePath(Fixtures.path("damaged.mp4")))))
        }
        #expect(!text.contains(" @ 0x"))
        #expect(!text.lowercased().contains("error"))
    }

    /// Decodes the sound on this thread, whatever is wrong with it.
    private func decodeAll(_ file: InputFile) throws {
        var decoder = try Decoder.open(file, stream: 1, threads: 1)
        while let packet = try? file.readPacket() {
            guard packet.streamIndex == 1, mediaErrorOfSending(packet, to: &decoder) == nil else { continue }
            while case .frame? = try? decoder.receive() {}
        }
    }

    private func mediaErrorOfSending(_ packet: borrowing Packet, to decoder: inout Decoder) -> MediaError? {
        do {
            try decoder.send(packet)
            return nil
        } catch {
            return error
        }
    }
}
