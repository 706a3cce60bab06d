import MediaBase
import Testing

/// Identifiers, values and filters of metadata.
struct MetadataItemTests {
    /// The texts are those of AVFoundation's constants (AVMetadataIdentifiers.h).
    @Test(arguments: [
        (MetadataIdentifier.commonIdentifierTitle, "comn/title"), (.iTunesMetadataSongName, "itsk/%A9nam"),
        (.iTunesMetadataTrackNumber, "itsk/trkn"), (.quickTimeUserDataFullName, "udta/%A9nam"),
        (.quickTimeMetadataTitle, "mdta/com.apple.quicktime.title"),
        (.quickTimeMetadataLocationISO6709, "mdta/com.apple.quicktime.location.ISO6709"),
        (.id3MetadataTitleDescription, "id3/TIT2"), (.isoUserDataCopyright, "uiso/cprt"),
        (.matroskaPartNumber, "matroska/PART_NUMBER"), (.vorbisAlbumArtist, "vorbis/ALBUMARTIST"),
        (.riffInfoTitle, "riff/INAM"),
        (MetadataIdentifier(keySpace: .matroska, key: "Größe/A"), "matroska/Gr%C3%B6%C3%9Fe%2FA"),
        (
            MetadataIdentifier(keySpace: .iTunesLongKey, key: "com.apple.iTunes.iTunSMPB"),
            "itlk/com.apple.iTunes.iTunSMPB"
        ),
    ])
    func textForms(identifier: MetadataIdentifier, text: String) {
        #expect(identifier.rawValue == text)
        #expect(MetadataIdentifier(rawValue: text) == identifier)
        #expect(MetadataIdentifier(keySpace: identifier.keySpace, key: identifier.key) == identifier)
    }

    @Test func otherTextForms() {
        #expect(MetadataIdentifier(rawValue: "itsk/©nam") == .iTunesMetadataSongName)
        #expect(MetadataIdentifier(rawValue: "org.id3/TIT2") == .id3MetadataTitleDescription)
        #expect(MetadataIdentifier(rawValue: "vorbis/title") == .vorbisTitle)
        for text in ["", "title", "/title", "mdta/", "mdta/%", "mdta/%4", "mdta/%zz", "mdta/%FF"] {
            #expect(MetadataIdentifier(rawValue: text) == nil, "\(text)")
        }
    }

    @Test func identifiersAreEqualByTheirBytes() {
        let composed = MetadataIdentifier(keySpace: .matroska, key: "Gr\u{F6}sse")
        let decomposed = MetadataIdentifier(keySpace: .matroska, key: "Gro\u{308}sse")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, composed]).count == 2)
        #expect(composed != MetadataIdentifier(keySpace: .riff, key: composed.key))
        #expect(MetadataIdentifier(rawValue: decomposed.rawValue) == decomposed)
        #expect(MetadataIdentifier(rawValue: decomposed.rawValue)?.hashValue == decomposed.hashValue)
    }

    @Test(arguments: [
        (MetadataKeySpace.iTunes, "title", "itsk/%A9nam"), (.iTunes, "©nam", "itsk/%A9nam"),
        (.iTunes, "trkn", "itsk/trkn"),
        (.iTunes, "own", "itlk/com.apple.iTunes.own"), (.quickTimeUserData, "composer", "udta/%A9com"),
        (.quickTimeUserData, "own", "mdta/own"), (.quickTimeMetadata, "title", "mdta/com.apple.quicktime.title"),
        (.quickTimeMetadata, "com.example.a", "mdta/com.example.a"), (.id3, "title", "id3/TIT2"),
        (.id3, "own", "id3/TXXX"),
        (.matroska, "track", "matroska/PART_NUMBER"), (.vorbis, "album_artist", "vorbis/ALBUMARTIST"),
        (.riff, "title", "riff/INAM"), (.common, "date", "comn/creationDate"), (.common, "own", "comn/own"),
        (.broadcastWave, "time_reference", "bext/TimeReference"), (.audioFile, "date", "caaf/recorded%20date"),
    ])
    func namesOfFFmpeg(space: MetadataKeySpace, name: String, text: String) {
        #expect(MetadataIdentifier(keySpace: space, name: name).rawValue == text)
    }

    @Test func everyNameComesBack() {
        for space in [MetadataKeySpace.iTunes, .quickTimeUserData, .id3, .riff] {
            for name in ["title", "artist", "album", "date", "comment", "genre", "copyright"] {
                #expect(MetadataIdentifier(keySpace: space, name: name).name == name, "\(space) \(name)")
            }
        }
    }

    @Test func meaningsAreConverted() {
        #expect(MetadataIdentifier.iTunesMetadataSongName.converted(to: .matroska) == .matroskaTitle)
        #expect(MetadataIdentifier.vorbisDate.converted(to: .id3) == .id3MetadataRecordingTime)
        #expect(
            MetadataIdentifier.commonIdentifierLocation.converted(to: .quickTimeMetadata)
                == .quickTimeMetadataLocationISO6709)
        #expect(MetadataIdentifier.id3MetadataComposer.converted(to: .common) == .commonIdentifierCreator)
        #expect(MetadataIdentifier(keySpace: .quickTimeMetadata, key: "own").converted(to: .iTunes) == nil)
        #expect(MetadataIdentifier.iTunesMetadataCoverArt.commonKey == .artwork)
        #expect(MetadataIdentifier.riffInfoTitle.commonKey == .title)
    }

    @Test(
        arguments: [
            (MetadataItem.Value.text("a"), MetadataItem.DataType.utf8, "a", nil),
            (.integer(.min), .integer, "-9223372036854775808", -9.223372036854775808e18),
            (.float(2.5), .float, "2.5", 2.5), (.float(3), .float, "3", 3), (.date("2024"), .date, "2024", nil),
            (.location("+1+2/"), .location, "+1+2/", nil), (.data([0xFF, 0xD8, 0xFF, 0xE0]), .jpeg, nil, nil),
            (.data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), .png, nil, nil), (.data([1]), .raw, nil, nil),
            (.text("3"), .utf8, "3", 3), (.data([]), .raw, nil, nil),
        ] as [(MetadataItem.Value, MetadataItem.DataType, String?, Double?)])
    func values(value: MetadataItem.Value, type: MetadataItem.DataType, text: String?, number: Double?) {
        #expect(value.dataType == type)
        #expect(value.text == text)
        #expect(value.number == number)
    }

    private let list = [
        MetadataItem(.iTunesMetadataSongName, .text("Name"), language: "deu"),
        MetadataItem(.quickTimeMetadataTitle, .text("Nom"), language: "fra"),
        MetadataItem(.quickTimeMetadataTitle, .text("Name, AT"), language: "de-AT"),
        MetadataItem(.id3MetadataLeadPerformer, .text("Jemand")),
        MetadataItem(.vorbisComment, .text("?"), language: "und"),
    ]

    @Test func filters() {
        #expect(list.items(withIdentifier: .quickTimeMetadataTitle) == [list[1], list[2]])
        #expect(list.items(withIdentifier: .commonIdentifierTitle) == Array(list[0...2]))
        #expect(list.items(withCommonKey: .artist) == [list[3]])
        #expect(list.items(inKeySpace: .iTunes) == [list[0]])
        #expect(list.items(inKeySpace: .vorbis, key: "comment") == [list[4]])
        #expect(list.items(inKeySpace: .quickTimeMetadata, key: "title").isEmpty)
    }

    /// `ger` and `deu` are the two codes of ISO 639-2 for German; `de` is that of ISO 639-1.
    @Test func languages() {
        for code in ["de", "deu", "ger", "DE", "de_DE"] {
            #expect(list.items(inLanguage: code).contains(list[0]), "\(code)")
        }
        #expect(list.items(inLanguage: "de-AT") == [list[0], list[2]])
        #expect(list.items(inLanguage: "de-CH") == [list[0]])
        #expect(list.sorted(byPreferredLanguages: ["fr", "de"]) == [list[1], list[0], list[2], list[3], list[4]])
        #expect(list.sorted(byPreferredLanguages: ["ja"]) == [list[3], list[4]])
        #expect(list[0...2].sorted(byPreferredLanguages: ["ja"]) == Array(list[0...2]))
    }

    /// Names that ffmpeg shows for texts of the user's own.
    @Test func namesOfOwnTexts() {
        #expect(MetadataItem(keySpace: .id3, name: "MOOD", value: .text("calm")).name == "MOOD")
        #expect(MetadataItem(.id3MetadataUserText, .text("calm"), extraAttributes: [.info: "MOOD"]).name == "MOOD")
        #expect(MetadataItem(.id3MetadataComments, .text("calm")).name == "comment")
        #expect(MetadataItem(.vorbisTrackNumber, .text("3")).name == "track")
    }

    @Test func chaptersAreGroups() {
        let range = MediaTimeRange(
            start: MediaTime(value: 1, timescale: 2), duration: MediaTime(value: 3, timescale: 1))
        let chapter = Chapter(timeRange: range, title: "Anfang")
        let group = TimedMetadataGroup(chapter)
        #expect(group.items.map(\.value) == [.text("Anfang")] && group.items.first?.time == range.start)
        #expect(Chapter(group) == chapter)
        var both = group
        both.items.append(MetadataItem(.commonIdentifierTitle, .text("Beginning"), language: "en"))
        both.items[0].language = "deu"
        #expect(Chapter(both, preferredLanguages: ["en-GB", "de"]).title == "Beginning")
    }
}
