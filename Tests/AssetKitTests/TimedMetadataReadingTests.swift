import AssetKit
import TestSupport
import Testing

/// Groups of timed metadata, read from files that are put together byte by byte.
@Suite struct TimedMetadataReadingTests {
    private typealias File = TimedMetadataFile
    private func time(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 600) }
    private func mdta(_ key: String) -> MetadataIdentifier {
        MetadataIdentifier(keySpace: .quickTimeMetadata, key: key)
    }
    private func bits(_ numbers: Float...) -> [UInt8] { numbers.flatMap { File.big($0.bitPattern) } }

    /// The layout of the tracks of an iPhone's film: keys, a sample with values, one without, and one with others.
    @Test func samplesAreGroups() throws {
        let table = File.table(
            File.key(1, "mdtacom.example.orientation", 66), File.key(7, "mdtacom.example.note", 1, language: "de-AT"),
            File.key(0x7374_7566, "fielcom.example.face", 72))
        let file = File(
            fields: table,
            samples: [
                (File.box(1, [0xFF, 0xFE]) + File.box(7, Array("größer".utf8)), 300), ([0, 0, 0, 8, 0, 0, 0, 0], 100),
                (File.box(0x7374_7566, bits(0.25, -0.5, 1, 2)), 200),
            ])
        let (asset, track) = try file.opened()
        #expect(track.detailedMediaType == .metadata)
        let specifications = [
            MetadataSpecification(mdta("com.example.orientation"), dataType: .int16),
            MetadataSpecification(mdta("com.example.note"), dataType: .utf8, language: "de-AT"),
            MetadataSpecification(
                MetadataIdentifier(keySpace: MetadataKeySpace(rawValue: "fiel"), key: "com.example.face"),
                dataType: .rectangle),
        ]
        #expect(track.formatDescriptions.first?.metadataSpecifications == specifications)
        let groups = try asset.timedMetadataGroupsNow(of: track).remaining()
        #expect(groups.map(\.timeRange.start) == [time(0), time(300), time(400)])
        #expect(groups.map(\.timeRange.end) == [time(300), time(400), time(600)])
        #expect(
            groups.map { $0.items.map(\.identifier) } == [
                specifications[...1].map(\.identifier), [], [specifications[2].identifier],
            ])
        #expect(groups[0].items.map(\.value) == [.integer(-2), .text("größer")])
        #expect(groups[0].items.map(\.dataType) == [.int16, .utf8])
        #expect(groups[0].items.map(\.language) == [nil, "de-AT"])
        #expect(groups[2].items[0].value == .numbers([0.25, -0.5, 1, 2]))
        for group in groups {
            #expect(
                group.items.allSatisfy { $0.time == group.timeRange.start && $0.duration == group.timeRange.duration })
        }
        // A part, and the same asynchronously.
        let part = try file.groups(in: MediaTimeRange(start: time(350), end: time(410))).0
        #expect(part.map(\.timeRange.start) == [time(300), time(400)])
    }

    @Test func groupsAreASequence() async throws {
        let file = File(
            fields: File.table(File.key(1, "mdtaa", 65)), samples: (0..<50).map { (File.box(1, [UInt8($0)]), 12) })
        let (asset, track) = try file.opened()
        var values: [MetadataItem.Value] = []
        for try await group in try await asset.timedMetadataGroups(of: track) { values += group.items.map(\.value) }
        #expect(values == (0..<50).map { .integer($0) })
    }

    private static let types:
        [(number: UInt32?, name: String?, bytes: [UInt8], type: MetadataItem.DataType, value: MetadataItem.Value)] = [
            (65, nil, [0x80], .int8, .integer(-128)), (75, nil, [0x80], .uint8, .integer(128)),
            (76, nil, [0xFF, 0xFF], .uint16, .integer(65535)),
            (67, nil, [0xFF, 0xFF, 0xFF, 0xFF], .int32, .integer(-1)),
            (77, nil, [0xFF, 0xFF, 0xFF, 0xFF], .uint32, .integer(4_294_967_295)),
            (74, nil, [0x80, 0, 0, 0, 0, 0, 0, 0], .integer, .integer(.min)),
            (78, nil, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .uint64, .text("18446744073709551615")),
            (23, nil, [0x40, 0x20, 0, 0], .float32, .float(2.5)),
            (24, nil, [0x40, 0x04, 0, 0, 0, 0, 0, 0], .float, .float(2.5)),
            (2, nil, [0xD8, 0x3D, 0xDE, 0x00], .utf16, .text("😀")),
            (70, nil, [0x3F, 0x80, 0, 0, 0, 0, 0, 0], .point, .numbers([1, 0])),
            (71, nil, [0x40, 0, 0, 0, 0x40, 0x40, 0, 0], .dimensions, .numbers([2, 3])),
            (
                80, nil, [0, 0, 0, 0, 0x3F, 0x80, 0, 0, 0x40, 0, 0, 0, 0x40, 0x40, 0, 0], .polygon,
                .numbers([0, 1, 2, 3])
            ),
            (79, nil, [UInt8](repeating: 0, count: 72), .affineTransform, .numbers([Double](repeating: 0, count: 9))),
            (13, nil, [0xFF, 0xD8, 0xFF], .jpeg, .data([0xFF, 0xD8, 0xFF])), (nil, nil, [1, 2], .raw, .data([1, 2])),
            (99, nil, [1, 2], .init(rawValue: "com.apple.quicktime.datatype.99"), .data([1, 2])),
            (
                nil, "com.apple.quicktime.metadata.location.ISO6709", Array("+48+016/".utf8), .location,
                .location("+48+016/")
            ),
            (nil, "com.example.own", [7], .init(rawValue: "com.example.own"), .data([7])),
            // Values whose size is not that of their type.
            (65, nil, [1, 2], .int8, .data([1, 2])), (66, nil, [], .int16, .data([])),
            (23, nil, [1], .float32, .data([1])),
            (72, nil, [1, 2, 3], .rectangle, .data([1, 2, 3])), (80, nil, [], .polygon, .data([])),
        ]

    /// The table of well-known types of the QuickTime File Format, value by value, in one sample.
    @Test func everyTypeOfValue() throws {
        let keys = Self.types.enumerated().map { place, type in
            File.key(UInt32(place + 1), "mdta\(place)", type.number, named: type.name)
        }
        let sample = Self.types.enumerated().flatMap { File.box(UInt32($0 + 1), $1.bytes) }
        let items = try #require(
            File(fields: File.box("keys", keys.flatMap(\.self)), samples: [(sample, 600)]).groups().0.first
        ).items
        #expect(items.map(\.value) == Self.types.map(\.value))
        #expect(items.map(\.dataType) == Self.types.map(\.type))
        #expect(items.map(\.key) == Self.types.indices.map { "\($0)" })
    }

    /// Sizes that do not fit end their sample, which counts as damaged; the others are read.
    @Test func damagedSamplesGiveWhatIsBeforeTheDamage() throws {
        let good = File.box(1, [5])
        let wrong: [[UInt8]] = [
            good + [0, 0, 0, 7, 0, 0, 0, 1], good + [0, 0, 0, 9, 0, 0, 0, 1],
            good + [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1, 2],
            good + [0, 0, 0, 0, 0, 0, 0, 1, 2], good + [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 17, 5], good + [0],
            [1, 2, 3],
        ]
        let file = File(fields: File.table(File.key(1, "mdtaa", 65)), samples: (wrong + [good]).map { ($0, 60) })
        let (groups, adaptor) = try file.groups()
        #expect(
            groups.map { $0.items.map(\.value) } == [[UInt8]](repeating: [5], count: 6).map {
                $0.map { .integer(Int64($0)) }
            } + [[], [.integer(5)]])
        #expect(adaptor.output.damage.packetCount == wrong.count)
        #expect(adaptor.output.damage.places.first?.timeRange.start == .zero)
        #expect(adaptor.skippedValueCount == 0)
    }

    /// Values without a key, and more of them than anybody needs.
    @Test func valuesWithoutAKeyArePassedOver() throws {
        let table = File.table(
            File.key(0, "mdtaunused", 65), File.key(.max, "mdtareserved", 65), File.key(1, "mdtaa", 65),
            File.key(1, "mdtaagain", 1), File.box(2, []), File.box(3, File.box("keyd", [0x6D])))
        let ids: [UInt32] = [0, .max, 1, 2, 3, 4, 1]
        let many = [[UInt8]](repeating: File.box(1, [1]), count: 10_005).flatMap(\.self)
        let file = File(fields: table, samples: [(ids.flatMap { File.box($0, [9]) }, 60), (many, 60)])
        #expect(try file.opened().1.formatDescriptions.first?.metadataSpecifications?.map(\.identifier.key) == ["a"])
        let (groups, adaptor) = try file.groups()
        #expect(groups.map(\.items.count) == [2, 10_000])
        #expect(adaptor.skippedValueCount == 4 + 5)
        #expect(adaptor.output.damage.packetCount == 0)
    }

    @Test func damagedTablesAreErrors() throws {
        let tables: [[UInt8]] = [
            [], File.box("free", []), [0, 0, 0, 9] + Array("keys".utf8), File.box("keys", [0, 0, 1, 0, 0, 0, 0, 1]),
            File.box("keys", File.box(1, [0, 0, 0, 99] + Array("keyd".utf8))), File.box("keys", [1, 2, 3]),
        ]
        for table in tables {
            let (asset, track) = try File(fields: table, samples: [(File.box(1, [5]), 600)]).opened()
            #expect(errorCode { try asset.timedMetadataGroupsNow(of: track) } == .damaged)
            #expect(track.formatDescriptions.first?.metadataSpecifications == nil)
        }
        // A table without keys is one; nothing can be read of its samples.
        let empty = File(fields: File.box("keys", []), samples: [(File.box(1, [5]), 600)])
        #expect(try empty.groups().0.map(\.items.count) == [0])
        #expect(try empty.groups().1.skippedValueCount == 1)
    }

    @Test func otherTracksHaveNoItems() throws {
        let asset = try Media.asset("av.mp4")
        let track = try Media.track(asset, .video)
        #expect(errorCode { try OutputMetadataAdaptor(output: TrackOutput(track: track)) } == .unsupported)
        let decoded = TrackOutput(track: track, videoSettings: VideoSettings())
        #expect(errorCode { try OutputMetadataAdaptor(output: decoded) } == .invalidArgument)
    }

    /// ID3 in a transport stream, with the times of its packets from the first on.
    @Test func tagsOfTransportStreams() throws {
        let title = TimedID3Stream.tag([("TIT2", [3] + Array("Nachrichten".utf8))])
        let own = TimedID3Stream.tag([
            ("TXXX", [0] + Array("ad\0begin".utf8)), ("PRIV", Array("com.example\0".utf8) + [1, 2, 3]),
        ])
        let long = TimedID3Stream.tag([("TIT2", [0] + [UInt8](repeating: 0x41, count: 400))])
        let stream = TimedID3Stream.bytes([
            (title, 900_000), (own + title, 900_000 + 180_000), (Array("no tag".utf8), 900_000 + 270_000),
            (long, 900_000 + 450_000),
        ])
        let asset = Asset(bytes: stream)
        let track = try Media.track(asset, .data)
        #expect(track.detailedMediaType == .metadata && track.formatDescriptions.first?.codec == "timed_id3")
        let adaptor = try asset.timedMetadataGroupsNow(of: track)
        let groups = try adaptor.remaining()
        #expect(groups.map(\.timeRange.start.seconds) == [0, 2, 3, 5])
        #expect(groups.dropLast().map(\.timeRange.end.seconds) == [2, 3, 5])
        #expect(groups.last?.timeRange.duration == .indefinite)
        #expect(
            groups.map { $0.items.map(\.identifier.rawValue) } == [
                ["id3/TIT2"], ["id3/TXXX", "id3/PRIV", "id3/TIT2"], [], ["id3/TIT2"],
            ])
        #expect(groups[1].items.map(\.value) == [.text("begin"), .data([1, 2, 3]), .text("Nachrichten")])
        #expect(groups[1].items.map(\.extraAttributes) == [[.info: "ad"], [.owner: "com.example"], [:]])
        #expect(groups[3].items.map(\.value) == [.text(String(repeating: "A", count: 400))])
        #expect(groups[1].items.allSatisfy { $0.time?.seconds == 2 && $0.duration?.seconds == 1 })
        #expect(adaptor.output.damage.packetCount == 1)
    }
}
