import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// What is written is read back alike, and what a file has no place for is told.
@Suite struct MetadataRoundTripTests {
    /// A picture of 8 by 8 pixels that ffmpeg has made.
    static func picture(_ codec: String, in folder: TemporaryFolder) throws -> [UInt8] {
        let name = "cover." + (codec == "png" ? "png" : "jpg")
        let options = ["-f", "lavfi", "-i", "testsrc=s=8x8", "-frames:v", "1", "-c:v", codec]
        _ = try FFmpeg.run(options + ["-pix_fmt", codec == "png" ? "rgb24" : "yuvj420p", folder.path(name)])
        return try folder.bytes(name)
    }

    /// Writes a short tone with metadata, and gives the writer.
    @discardableResult private func write(
        _ file: Written, _ type: MediaFileType, _ items: [MetadataItem], track: [MetadataItem] = [],
        name: String? = nil
    ) throws -> AssetWriter {
        let settings =
            switch type {
            case .wav, .caf, .aiff: AudioOutputSettings(codec: .pcm)
            case .flac: AudioOutputSettings(codec: .flac)
            case .ogg, .webm: AudioOutputSettings(codec: .opus)
            default: AudioOutputSettings(codec: .aac)
            }
        let input = AssetWriterInput(audioSettings: settings)
        input.metadata = track
        input.name = name
        let writer = try file.writer(type)
        try writer.add(input)
        writer.metadata = items
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        try input.appendNow(Made.buffer(Made.noise(9_600), at: 0))
        try writer.finishWritingNow()
        return writer
    }

    private func item(
        _ space: MetadataKeySpace, _ key: String, _ value: MetadataItem.Value, _ language: String? = nil
    ) -> MetadataItem {
        MetadataItem(keySpace: space, name: key, value: value, language: language)
    }

    private static let types: [MediaFileType] = [.mov, .mp4, .m4a]

    /// Each kind of value under a name of one's own and under the names that are for it.
    private func values(_ space: MetadataKeySpace, _ picture: [UInt8]) -> [MetadataItem] {
        let own = [
            item(space, "com.example.text", .text("Grüße, 世界")), item(space, "com.example.whole", .integer(3)),
            item(space, "com.example.negative", .integer(-70_000)), item(space, "com.example.half", .float(2.5)),
            item(space, "com.example.tenth", .float(0.1)), item(space, "com.example.large", .integer(0x1_0000_0000_00)),
            item(space, "com.example.bytes", .data([0, 1, 2, 255])),
            item(space, "com.example.words", .data(Array("abc".utf8))),
        ]
        let usual = [
            item(space, "title", .text("Name")), item(space, "artist", .text("Jemand")),
            item(space, "date", .date("2021-02-03")), item(space, "comment", .text("One\nand two")),
        ]
        guard space == .iTunes else {
            return own + usual + [
                item(space, "com.apple.quicktime.make", .text("Maker")),
                item(space, "com.apple.quicktime.location.ISO6709", .location("+48.8789+002.3376/")),
                item(space, "com.apple.quicktime.creationdate", .date("2021-02-03T04:05:06+0100")),
                item(space, "com.apple.quicktime.artwork", .data(picture)), item(space, "make", .text("Maker")),
            ]
        }
        return own + usual + [
            item(space, "track", .text("3/12")), item(space, "disc", .integer(2)),
            item(space, "compilation", .integer(1)), item(space, "tmpo", .integer(300)),
            item(space, "album_artist", .text("Alle")), item(space, "season_number", .integer(70_000)),
            item(space, "artwork", .data(picture)),
        ]
    }

    @Test(arguments: types, [MetadataKeySpace.iTunes, .quickTimeUserData])
    func everyKindOfValueComesBack(type: MediaFileType, space: MetadataKeySpace) throws {
        // An M4A has an iTunes list in place of user data: below.
        guard type != .m4a || space == .iTunes else { return }
        let file = try Written("a.\(type)")
        let items = values(space, try Self.picture("mjpeg", in: file.folder))
        let writer = try write(file, type, items)
        #expect(writer.metadataLeftOut.isEmpty)
        let read = try file.asset.loadNow(.metadata)
        for item in items { #expect(read.contains(item), "\(item.name): \(read.map(\.value.text))") }
        #expect(read.count == items.count, "\(read.map(\.name))")
    }

    /// Players of M4A files know the iTunes list alone.
    @Test func m4aPrefersTheITunesList() throws {
        let file = try Written("a.m4a")
        let own = item(.quickTimeMetadata, "com.example.whole", .integer(3))
        let writer = try write(
            file, .m4a,
            [
                item(.quickTimeUserData, "title", .text("Name")), item(.quickTimeMetadata, "artist", .text("Jemand")),
                item(.vorbis, "ALBUM", .text("Platte")), item(.id3, "MOOD", .text("calm")), own,
                item(.common, "date", .date("2021")), item(.quickTimeMetadata, "genre", .text("named")),
                item(.iTunes, "genre", .text("listed")),
            ])
        #expect(writer.metadataLeftOut.isEmpty)
        let wanted = [
            item(.iTunes, "title", .text("Name")), item(.iTunes, "artist", .text("Jemand")),
            item(.iTunes, "album", .text("Platte")), item(.iTunes, "MOOD", .text("calm")), own,
            item(.iTunes, "date", .date("2021")), item(.quickTimeMetadata, "genre", .text("named")),
            item(.iTunes, "genre", .text("listed")),
        ]
        #expect(Set(try file.asset.loadNow(.metadata)) == Set(wanted))
    }

    /// FFmpeg joins several values of a field by a semicolon.
    @Test(arguments: [MediaFileType.flac, .ogg]) func severalValuesOfAField(type: MediaFileType) throws {
        let file = try Written("a.\(type)")
        let picture = try Self.picture("png", in: file.folder)
        var back = MetadataItem(.vorbisPicture, .data(try Self.picture("mjpeg", in: file.folder)))
        back.extraAttributes = [.pictureType: "4", .info: "behind", .mimeType: "image/jpeg"]
        var front = MetadataItem(.vorbisPicture, .data(picture))
        front.extraAttributes = [.pictureType: "3", .mimeType: "image/png"]
        let texts = [
            item(.vorbis, "ARTIST", .text("One")), item(.vorbis, "ARTIST", .text("Two")),
            item(.vorbis, "COMMENT", .text("Grüße")), item(.vorbis, "DESCRIPTION", .text("another")),
        ]
        let writer = try write(file, type, texts + [front, back])
        #expect(writer.metadataLeftOut.isEmpty)
        let asset = file.asset
        let read = try asset.loadNow(.metadata) + asset.loadNow(.tracks).flatMap(\.metadata)
        for item in texts + [front, back] { #expect(read.contains(item), "\(item.name)") }
        #expect(read.items(withCommonKey: .artwork) == [front, back])
        let tags = try FFmpeg.probe(["-show_entries", "format_tags:stream_tags", "-of", "default=nw=1", file.path])
        #expect(tags.contains { $0.lowercased() == "tag:artist=one;two" }, "\(tags)")
    }

    @Test(arguments: [MediaFileType.flac, .ogg, .wav, .caf, .mov, .mkv])
    func languagesAreKeptOrTold(type: MediaFileType) throws {
        let file = try Written("a.\(type)")
        let items = [item(.common, "title", .text("Name")), item(.common, "comment", .text("mot"), "fr")]
        let lost = try write(file, type, items).metadataLeftOut
        guard type == .mov || type == .mkv else {
            #expect(lost.map(\.part) == [.language] && lost.first?.item == items[1])
            #expect(
                lost.first?.description
                    == "the metadata comment (mot) loses its language fr: \(type) files have no place for it")
            return
        }
        #expect(lost.isEmpty)
        #expect(try file.asset.loadNow(.metadata).items(inLanguage: "fra").first?.value == .text("mot"))
    }

    @Test(arguments: types) func bothVocabulariesStandInOneFile(type: MediaFileType) throws {
        guard type != .m4a else { return }
        let file = try Written("a.\(type)")
        let items = [
            item(.iTunes, "title", .text("iTunes")), item(.quickTimeUserData, "artist", .text("user data")),
            item(.quickTimeUserData, "com.apple.quicktime.model", .text("named")), item(.iTunes, "own", .integer(3)),
        ]
        try write(file, type, items)
        let read = try file.asset.loadNow(.metadata)
        #expect(Set(read) == Set(items))
        let tags = try FFmpeg.probe(["-show_entries", "format_tags", "-of", "default=nw=1", file.path])
        for tag in ["title=iTunes", "artist=user data", "com.apple.quicktime.model=named"] {
            #expect(tags.contains("TAG:" + tag), "\(tags)")
        }
    }

    /// The numbers are ffprobe's reading.
    @Test(arguments: types) func anotherProgramReadsThem(type: MediaFileType) throws {
        let file = try Written("a.\(type)")
        let picture = try Self.picture("png", in: file.folder)
        try write(
            file, type,
            [
                item(.iTunes, "title", .text("Name")), item(.iTunes, "track", .text("3/12")),
                item(.iTunes, "compilation", .integer(1)), item(.iTunes, "artwork", .data(picture)),
                item(.quickTimeUserData, "com.example.whole", .integer(-3)),
                item(.quickTimeUserData, "com.example.half", .float(2.5)),
            ])
        let tags = try FFmpeg.probe(["-show_entries", "format_tags", "-of", "default=nw=1", file.path])
        for tag in ["title=Name", "track=3/12", "compilation=1", "com.example.whole=-3", "com.example.half=2.500000"] {
            #expect(tags.contains("TAG:" + tag), "\(tags)")
        }
        let copied = try FFmpeg.run(["-i", file.path, "-map", "0:v", "-c", "copy", "-f", "image2pipe", "-"])
        #expect(copied == picture)
    }

    @Test(arguments: types) func textsInSeveralLanguages(type: MediaFileType) throws {
        for space in [MetadataKeySpace.iTunes, .quickTimeUserData] where type != .m4a || space == .iTunes {
            let file = try Written("a.\(type)")
            let items = [
                item(space, "title", .text("Name"), "deu"), item(space, "title", .text("Nom"), "fra"),
                item(space, "com.example.key", .text("Wort"), "deu"),
                item(space, "com.example.key", .text("mot"), "fra"),
            ]
            try write(file, type, items)
            #expect(try file.asset.loadNow(.metadata) == items)
        }
    }

    /// libavformat takes a track's user data for the file's.
    @Test(arguments: types) func tracksHaveTheirOwn(type: MediaFileType) throws {
        for space in [MetadataKeySpace.iTunes, .quickTimeUserData] where type != .m4a || space == .iTunes {
            let file = try Written("a.\(type)")
            let items = [
                item(space, "comment", .text("of the track")), item(space, "com.example.number", .integer(7)),
                item(space, "com.example.bytes", .data([0, 1])),
            ]
            let whole = [item(space, "comment", .text("of the file")), item(space, "artist", .text("Jemand"))]
            let writer = try write(file, type, whole, track: items, name: "Ton")
            #expect(writer.metadataLeftOut.isEmpty)
            #expect(try file.asset.loadNow(.metadata) == whole)
            let track = try Media.track(file.asset, .audio)
            for item in items { #expect(track.metadata.contains(item), "\(item.name): \(track.metadata)") }
            #expect(track.metadata.first { $0.name == "title" }?.value == .text("Ton"))
            // As ffmpeg writes it; ffprobe does not read it.
            #expect(try file.folder.bytes("a.\(type)").firstRange(of: [0, 0, 0, 11] + Array("nameTon".utf8)) != nil)
        }
    }

    /// A number is text where a container has nothing else.
    @Test(arguments: [MediaFileType.mkv, .mka, .webm, .flac, .ogg, .caf, .wav, .aiff])
    func otherContainersKeepTextsOrTellIt(type: MediaFileType) throws {
        let file = try Written("a.\(type)")
        let picture = try Self.picture("png", in: file.folder)
        let items = [
            item(.common, "title", .text("Name")), item(.common, "EXAMPLE", .integer(3)),
            item(.common, "artwork", .data(picture)), item(.common, "bytes", .data([1, 2])),
        ]
        let track = [item(.common, "remark", .text("of the track"))]
        let writer = try write(file, type, items, track: track)
        let lost = writer.metadataLeftOut.map(\.item.name)
        let expected: [MediaFileType: [String]] = [
            .mkv: ["bytes"], .mka: ["bytes"], .webm: ["artwork", "bytes"], .flac: ["bytes"], .ogg: ["bytes"],
            .caf: ["artwork", "bytes"], .wav: ["EXAMPLE", "artwork", "bytes", "remark"],
            .aiff: ["bytes"],
        ]
        #expect(lost == expected[type])
        let tags = try FFmpeg.probe(["-show_entries", "format_tags:stream_tags", "-of", "default=nw=1", file.path])
            .map { $0.lowercased() }
        #expect(tags.contains("tag:title=name"), "\(tags)")
        for (name, tag) in [("EXAMPLE", "tag:example=3"), ("remark", "tag:remark=of the track")] {
            #expect(tags.contains(tag) == !lost.contains(name), "\(tags)")
        }
        guard !lost.contains("artwork") else { return }
        let copied = try FFmpeg.run(["-i", file.path, "-map", "0:v", "-c", "copy", "-f", "image2pipe", "-"])
        #expect(copied == picture)
        #expect(try file.asset.loadNow(.metadata).contains { $0.value == .data(picture) })
    }

    @Test func whatIsLostIsNamed() throws {
        let file = try Written("a.wav")
        let lost = try write(file, .wav, [item(.common, "artwork", .data([1, 2]))]).metadataLeftOut
        #expect(
            lost.map(\.description) == [
                "the metadata artwork (2 bytes) is lost: wav files have no place for it"
            ])
    }

    /// The fixture has a cover, a place on an album and texts.
    @Test(
        arguments: [
            ("mov", "artwork.m4a"), ("mp4", "artwork.m4a"), ("m4a", "artwork.m4a"), ("mka", "artwork.m4a"),
            ("mov", "artwork.mp3"), ("mp4", "artwork.mp3"), ("mka", "artwork.mp3"),
        ])
    func copiesKeepCoversAndTags(type: String, source: String) async throws {
        let file = try Written("a.\(type)")
        let session = ExportSession(asset: try Media.asset(source), preset: .passthrough)
        let fileType = MediaFileType(rawValue: type)
        try await session.export(to: FilePath(file.path), as: fileType)
        #expect(session.metadataLeftOut.isEmpty)
        func tags(_ path: String) throws -> Set<String> {
            let lines = try FFmpeg.probe([
                "-show_entries", "format_tags=title,artist,album,track,genre", "-of", "default=nw=1", path,
            ])
            return Set(lines.map { $0.replacing("TAG:", with: "").lowercased() })
        }
        let path = try Fixtures.path(source)
        let (wanted, written) = (try tags(path), try tags(file.path))
        #expect(wanted.count > 2 && wanted.isSubset(of: written), "\(written)")
        func cover(_ path: String) throws -> [UInt8] {
            try FFmpeg.run(["-i", path, "-map", "0:v", "-c", "copy", "-f", "image2pipe", "-"])
        }
        let (one, other) = (try cover(file.path), try cover(path))
        #expect(one == other)
    }
}
