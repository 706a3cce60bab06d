import AssetKit
import SystemPackage
import TestSupport
import Testing

/// What is known of tracks, by hand from the commands in `scripts/fixtures`.
@Suite struct AssetTrackTests {
    @Test(arguments: ["many-tracks.mkv", "many-tracks.mp4"]) func tracksByKind(_ fixture: String) async throws {
        let asset = try Media.asset(fixture)
        #expect(try await asset.load(.tracks).map(\.index) == [0, 1, 2, 3, 4])
        #expect(try await asset.loadTracks(withMediaType: .video).map(\.index) == [0, 1])
        #expect(try await asset.loadTracks(withMediaType: .audio).map(\.index) == [2, 3])
        #expect(try await asset.loadTracks(withMediaType: .subtitle).map(\.index) == [4])
        #expect(try await asset.loadTracks(withMediaType: .timecode).isEmpty)
        #expect(try await asset.loadTracks(withCharacteristic: .audible).map(\.index) == [2, 3])
        #expect(try await asset.loadTracks(withCharacteristic: .legible).map(\.index) == [4])
        #expect(try await asset.loadTracks(withCharacteristic: .visual).map(\.index) == [0, 1, 4])
    }

    /// The video begins half a second late: an empty edit, then the media from its start on.
    @Test func segmentsMapMediaToTheTrack() throws {
        let track = try Media.track(Media.asset("late-video.mp4"), .video)
        let (half, quarter) = (MediaTime(value: 1, timescale: 2), MediaTime(value: 1, timescale: 4))
        #expect(track.timeMappings.count == 2)
        #expect(track.segment(at: quarter)?.isEmpty == true)
        #expect(track.segment(at: quarter)?.target == MediaTimeRange(start: .zero, end: half))
        #expect(!track.samplePresentationTime(forTrackTime: quarter).isValid)
        let start = try #require(track.segments[1].mediaStart)
        #expect(track.samplePresentationTime(forTrackTime: half) == start)
        #expect(track.samplePresentationTime(forTrackTime: half + quarter) == start + quarter)
        #expect(track.segment(at: MediaTime(value: 10, timescale: 1)) == nil)
        // A track without an edit list is shown as it is.
        let plain = try Media.track(Media.asset("h264-aac.mkv"), .video)
        #expect(plain.segments.isEmpty && plain.samplePresentationTime(forTrackTime: quarter) == quarter)
    }

    @Test(arguments: ["many-tracks.mkv", "many-tracks.mp4"]) func languages(_ fixture: String) throws {
        let tracks = try Media.asset(fixture).loadNow(.tracks)
        #expect(tracks[2].language == "eng")
        #expect(tracks[3].language == "deu" || tracks[3].language == "ger")
        #expect(tracks[4].language == "fra" || tracks[4].language == "fre")
    }

    @Test(arguments: ["many-tracks.mkv", "many-tracks.mp4"]) func theTitleIsMetadata(_ fixture: String) throws {
        let metadata = try Media.asset(fixture).loadNow(.metadata)
        #expect(metadata.first { $0.name == "title" }?.value == .text("Five tracks"))
    }

    @Test(arguments: ["artwork.m4a", "artwork.mp3"]) func tagsAndArtwork(_ fixture: String) throws {
        let asset = try Media.asset(fixture)
        let metadata = try asset.loadNow(.metadata)
        func text(_ key: String) -> String? { metadata.first { $0.name == key }?.value.text }
        #expect(text("title") == "Grüße, 世界")
        #expect(text("artist") == "An Artist")
        #expect(text("album") == "An Album")
        #expect(text("date") == "2024")
        #expect(text("track") == "3/9")
        let cover = try #require(try asset.loadNow(.tracks).first { $0.isAttachedPicture })
        #expect(cover.attachedPicture?.prefix(8) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        #expect(cover.formatDescriptions.first?.codec == "png")
    }

    @Test(arguments: ["chapters.mkv", "chapters.mp4"]) func chaptersHaveTimesAndTitles(_ fixture: String) throws {
        let chapters = try Media.asset(fixture).loadNow(.chapters)
        #expect(chapters.map(\.title) == ["Beginning", "End"])
        #expect(chapters.map(\.timeRange.start) == [.zero, MediaTime(value: 3, timescale: 2)])
        #expect(chapters.first?.timeRange.end == MediaTime(value: 3, timescale: 2))
    }

    @Test func lateTracksStartLate() throws {
        // 1.25 s less the encoder's 1024 samples, which the copy made audible.
        let audio = try Media.track(Media.asset("late-audio.mp4"), .audio)
        #expect(audio.timeRange.start == .samples(60_000 - 1024, at: 48_000))
        #expect(audio.segments.first?.mediaStart == nil)
        let video = try Media.track(Media.asset("late-video.mp4"), .video)
        #expect(video.timeRange.start == MediaTime(value: 1, timescale: 2))
        #expect(video.timeRange.end == MediaTime(value: 7, timescale: 2))
    }

    @Test(arguments: [
        ("rotated-90.mov", 90, 90, 160), ("rotated-180.mov", 180, 160, 90), ("rotated-270.mov", 270, 90, 160),
    ])
    func turnsAreClockwise(_ fixture: String, _ degrees: Int, _ width: Int, _ height: Int) throws {
        let track = try Media.track(Media.asset(fixture), .video)
        #expect(track.preferredTransform.rotation == degrees)
        #expect(!track.preferredTransform.isMirrored)
        #expect(track.naturalSize == Dimensions(width: width, height: height))
    }

    @Test func pixelsThatAreNotSquareWidenThePicture() throws {
        // 180 pixels of 64:45 are 256 square ones.
        let track = try Media.track(Media.asset("anamorphic.mp4"), .video)
        #expect(track.naturalSize == Dimensions(width: 256, height: 144))
    }

    @Test func timecodeTracksAreTold() throws {
        let tracks = try Media.asset("timecode-df.mov").loadNow(.tracks)
        #expect(tracks.map(\.mediaType) == [.video, .timecode])
        #expect(tracks.first?.startTimecode == "01:00:00;00")
        #expect(tracks.first?.associatedTracks["tmcd"] == [tracks[1].id])
    }

    @Test func referencesThatReadAlikeDoNotTrap() throws {
        // Two kinds of reference whose bytes are not printable have the same text.
        var bytes = try Fixtures.bytes("timecode-df.mov")
        let place = try #require(
            bytes.indices.dropLast(4).first { bytes[$0..<$0 + 4].elementsEqual("tref".utf8) })
        // The one reference is 12 bytes; the track header before it keeps its size, so use the bytes of `udta` or
        // `edts` after it: here a second reference is made by splitting the first into two empty ones.
        bytes.replaceSubrange(place + 4..<place + 16, with: [0, 0, 0, 8, 1, 1, 1, 1, 0, 0, 0, 4])
        bytes.replaceSubrange(place - 4..<place, with: [0, 0, 0, 16])
        let folder = try TemporaryFolder()
        let asset = Asset(path: FilePath(try folder.write("references.mov", bytes)))
        _ = errorCode { try asset.loadNow(.tracks) }
    }
}
