import Foundation
import ISOMedia
import MediaBase
import Testing

/// A folder of real files, which may stand beside the repository.
enum Corpus {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/corpus")

    static var isPresent: Bool { FileManager.default.fileExists(atPath: folder.path) }
}

/// Real files, where their folder is present.
///
/// What is expected was read by ffprobe 5.1.9 and, for what that does not print, from a hexadecimal dump.
@Suite(.enabled(if: Corpus.isPresent))
struct CorpusTests {
    private func header(_ name: String) throws -> MovieHeader {
        let data = try Data(contentsOf: Corpus.folder.appending(path: name), options: .mappedIfSafe)
        return try MovieHeader(reading: ArrayByteSource(Bytes(data)))
    }

    private func video(_ name: String) throws -> MovieTrack {
        try #require(try header(name).tracks.first { $0.handler?.type == "vide" })
    }

    @Test func cleanApertureAndTrackApertures() throws {
        let track = try video("format-corpus/dv-ntsc-progressive.mov")
        let visual = try #require(track.sampleEntries.first?.visual)
        #expect(visual.cleanAperture?.width == Rational(704))
        #expect(visual.cleanAperture?.height == Rational(480))
        #expect(visual.pixelAspect?.horizontalSpacing == 10)
        #expect(visual.pixelAspect?.verticalSpacing == 11)
        #expect(track.apertures?.clean == FixedPointSize(width: 640 << 16, height: 480 << 16))
        #expect(track.apertures?.encoded == FixedPointSize(width: 720 << 16, height: 480 << 16))
    }

    @Test func editLists() throws {
        let edits = try video("androidx/edit_list_positive_shift.mp4").edits
        #expect(
            edits == [
                EditListEntry(segmentDuration: 1000, mediaTime: -1), EditListEntry(segmentDuration: 9000, mediaTime: 0),
            ])
    }

    @Test func timecodeCounter() throws {
        let track = try #require(
            try header("gopro/max-heromode.mp4").tracks.first { $0.handler?.type == "tmcd" })
        let entry = try #require(track.sampleEntries.first?.timecode)
        #expect(track.timecodeCounter == 1_700_260)
        #expect(entry.numberOfFrames == 29)
        #expect(entry.timescale == 90000)
        #expect(entry.frameDuration == 3003)
        #expect(entry.flags == 2)
    }
}
