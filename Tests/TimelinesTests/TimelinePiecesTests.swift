import MediaBase
import SystemPackage
import TestSupport
import Testing

@testable import Timelines

/// Timelines by hand: times in seconds are worked out from OpenTimelineIO's definitions.
@Suite struct TimelinePiecesTests {
    private func range(_ start: Double, _ duration: Double) -> String {
        func time(_ value: Double) -> String { #"{"OTIO_SCHEMA":"RationalTime.1","value":\#(value),"rate":1}"# }
        return #"{"OTIO_SCHEMA":"TimeRange.1","start_time":\#(time(start)),"duration":\#(time(duration))}"#
    }

    private func clip(_ start: Double, _ duration: Double, speed: Double? = nil, zero: Double? = nil) -> String {
        let warp = speed.map { #"{"OTIO_SCHEMA":"LinearTimeWarp.1","time_scalar":\#($0)}"# } ?? ""
        let available = zero.map { #","available_range":\#(range($0, 100))"# } ?? ""
        return #"{"OTIO_SCHEMA":"Clip.1","source_range":\#(range(start, duration)),"effects":[\#(warp)],"#
            + #""media_reference":{"OTIO_SCHEMA":"ExternalReference.1","target_url":"av.mp4"\#(available)}}"#
    }

    private func item(_ schema: String, _ children: [String], _ source: String = "null", speed: Double = 1) -> String {
        #"{"OTIO_SCHEMA":"\#(schema).1","source_range":\#(source),"kind":"Video","effects":["#
            + #"{"OTIO_SCHEMA":"LinearTimeWarp.1","time_scalar":\#(speed)}],"#
            + #""children":[\#(children.joined(separator: ","))]}"#
    }

    private func gap(_ duration: Double) -> String {
        #"{"OTIO_SCHEMA":"Gap.1","source_range":\#(range(0, duration))}"#
    }

    private func dissolve(_ before: Double, _ behind: Double) -> String {
        #"{"OTIO_SCHEMA":"Transition.1","transition_type":"SMPTE_Dissolve","in_offset":{"OTIO_SCHEMA":"#
            + #""RationalTime.1","value":\#(before),"rate":1},"out_offset":{"OTIO_SCHEMA":"RationalTime.1","#
            + #""value":\#(behind),"rate":1}}"#
    }

    private func made(_ root: String, allowsMissing: Bool = false) throws -> [TimelinePiece] {
        var reader = TimelineReader(ignoresEffects: false)
        let json = #"{"OTIO_SCHEMA":"Timeline.1","tracks":\#(root)}"#
        let media = try TimelineMedia(folder: FilePath(Fixtures.folder), allowsOutside: false)
        return try TimelinePieces(reader.read(Array(json.utf8)), media: media, allowsMissing: allowsMissing).video
    }

    /// Each piece as start, end, source start and speed.
    private func pieces(_ root: String) throws -> [[Double]] {
        try made(root).map {
            [$0.start.seconds, $0.end.seconds, $0.sourceStart.seconds, $0.speed.doubleValue]
        }
    }

    private func stack(_ children: String...) -> String { item("Stack", [item("Track", children)]) }

    @Test func clipsLieOneAfterTheOther() throws {
        #expect(
            try pieces(stack(clip(0.25, 0.5), gap(0.25), clip(0, 1, speed: 2)))
                == [[0, 0.5, 0.25, 1], [0.75, 1.75, 0, 2]])
    }

    @Test func theMediasOwnTimeBeginsWhereItSays() throws {
        #expect(try pieces(stack(clip(3600.5, 0.5, zero: 3600))) == [[0, 0.5, 0.5, 1]])
        #expect(try pieces(stack(clip(-0.5, 0.5, zero: -1))) == [[0, 0.5, 0.5, 1]])
    }

    @Test func dissolvesReachBeyondTheCut() throws {
        #expect(
            try pieces(stack(clip(0, 1), dissolve(0.25, 0.5), clip(0.5, 1)))
                == [[0, 1.5, 0, 1], [0.75, 2, 0.25, 1]])
    }

    /// A second of a dissolve around second 1, of which the half from 0.75 on is shown.
    @Test func dissolvesAreCutToTheRange() throws {
        let cut = item("Track", [clip(0, 1), dissolve(0.5, 0.5), clip(0.5, 1)], range(0.75, 0.5))
        let pieces = try made(item("Stack", [item("Track", [cut])]))
        #expect(pieces.map { [$0.start.seconds, $0.end.seconds] } == [[0, 0.5], [0, 0.5]])
        let fade = try #require(pieces.last?.fadeIn)
        #expect(fade.range.start == .zero && fade.range.end.seconds == 0.5 && fade.from == 0.25 && fade.to == 0.75)
        // The one that comes in lies over the other although both begin at once.
        #expect(pieces[0].level.lexicographicallyPrecedes(pieces[1].level))
    }

    /// What goes out over nothing fades, also where the nothing is media that is missing.
    @Test func aDissolveToNothingFadesOut() throws {
        let missing = clip(0, 1).replacing("av.mp4", with: "gone.mp4")
        for nothing in [gap(1), missing, missing.replacing("Clip.1\"", with: "Clip.1\",\"enabled\":false")] {
            let piece = try #require(
                try made(stack(clip(0, 1), dissolve(0.25, 0.25), nothing), allowsMissing: true).first)
            #expect(piece.fadeOut?.from == 1 && piece.fadeOut?.to == 0)
        }
        #expect(try made(stack(clip(0, 1), dissolve(0.25, 0.25), clip(0.5, 1))).first?.fadeOut == nil)
    }

    @Test func aDissolveWithoutLengthAtTheBeginningIsNone() throws {
        #expect(try made(stack(dissolve(0.5, 0), clip(0.5, 1))).map { $0.fadeIn == nil && $0.start == .zero } == [true])
    }

    @Test func longNamesAreCutAndAreNoPlaces() throws {
        let name = String(repeating: "é", count: 5000)
        func named(_ json: String) -> String { #"{"name":"\#(name)","# + json.dropFirst() }
        let pieces = try made(item("Stack", [named(item("Track", [named(clip(0, 1)), clip(0, 1)]))]))
        #expect(pieces.map(\.described) == ["tracks/0/0 \"" + name.prefix(16) + "…\"", "tracks/0/1"])
        #expect(
            try made(item("Stack", [#"{"name":"V1","# + item("Track", [clip(0, 1)]).dropFirst()])).first?.described
                == "tracks/V1/0")
    }

    @Test func effectsOfWhatIsNotShownArePassedOver() throws {
        let blur = #"{"OTIO_SCHEMA":"Effect.1","effect_name":"blur"}"#
        let hidden = #"{"OTIO_SCHEMA":"Clip.1","enabled":false,"source_range":\#(range(0, 1)),"effects":[\#(blur)]}"#
        #expect(try pieces(stack(hidden, clip(0, 1))) == [[1, 2, 0, 1]])
        #expect {
            try pieces(stack(hidden.replacing("false", with: "true")))
        } throws: { "\($0)".contains("effect blur") }
    }

    @Test func tracksAndStacksAreCutToTheirRanges() throws {
        // The track shows seconds 0.5 to 1.5 of its children, half a second late.
        let cut = item("Track", [clip(0, 1), clip(0.25, 1)], range(0.5, 1))
        #expect(
            try pieces(item("Stack", [item("Track", [gap(0.5), cut])]))
                == [[0.5, 1, 0.5, 1], [1, 1.5, 0.25, 1]])
        #expect(try pieces(item("Stack", [item("Track", [clip(0, 1)])], range(0.25, 0.5))) == [[0, 0.5, 0.25, 1]])
    }

    @Test func warpsMultiply() throws {
        // One second of the outer track shows two of the inner one, whose clip plays at half its speed.
        let inner = item("Stack", [item("Track", [clip(0.25, 1, speed: 0.5), clip(0, 1)])], range(0.5, 1), speed: 2)
        #expect(
            try pieces(item("Stack", [item("Track", [inner])]))
                == [[0, 0.25, 0.5, 1], [0.25, 0.75, 0, 2]])
    }

    @Test(arguments: [
        (["{}"], "tracks/0/0: there is no OTIO_SCHEMA"), (["5"], "tracks/0/0: an object"),
    ])
    func errorsNameTheElement(children: [String], words: String) {
        #expect { try pieces(item("Stack", [item("Track", children)])) } throws: { "\($0)".hasPrefix(words) }
    }

    @Test func whatCannotBeRenderedIsAnError() throws {
        for (children, words) in [
            ([clip(0, 0)], "has no length"), ([clip(90, 1)], "which ends at"),
            ([clip(0, 1), dissolve(0.5, 0.5), clip(0.25, 1)], "before the first sample"),
            ([clip(2, 0.9), dissolve(0, 0.5), clip(0, 1)], "after the end of"),
            ([clip(0, 1), dissolve(2, 0), clip(0, 1)], "dissolves take more"),
            ([dissolve(0.1, 0.1), dissolve(0.1, 0.1)], "side by side"),
            ([clip(0, 1, speed: -1)], "-1.0 times its speed"),
            ([clip(0, 1), dissolve(0.1, 0.1), item("Track", [clip(0, 1)])], "from or to tracks"),
        ] {
            #expect { try pieces(item("Stack", [item("Track", children)])) } throws: { "\($0)".contains(words) }
        }
    }
}
