import Foundation
import Inspection
import JSONText
import MediaBase
import TestSupport
import Testing

@testable import QualityControl

/// Paths through a report that is written by hand.
@Suite struct FieldPathTests {
    private static let report = """
        {"container": {"format": "mov", "duration": {"value": 30, "timescale": 10, "seconds": 3}, "formatNames": []},
         "tracks": [
            {"index": 0, "type": "video", "dispositions": ["default"],
             "video": {"displaySize": {"width": 640, "height": 360}, "frameRate": {"nominal": {"num": 30000, "den": 1001}}}},
            {"index": 1, "type": "audio", "audio": {"channels": 2}, "language": "eng"},
            {"index": 2, "type": "video", "dispositions": ["attached_pic"], "video": {"mirrored": true}}]}
        """

    @Test(
        arguments: [
            ("container.format", ["mov"], [nil]), ("container.duration", ["30/10"], [nil]),
            ("container.formatNames", [""], [nil]), ("container.majorBrand", ["not said"], [nil]),
            ("container.indexFirst", [], []),
            ("tracks[type=video].video.displaySize", ["640x360"], [0]),
            ("tracks[*].video.mirrored", ["not said", "true"], [0, 2]),
            ("tracks[-1].type", ["video"], [2]), ("tracks[7].type", [], []),
            ("tracks[type=video].video.frameRate.nominal", ["30000/1001"], [0]),
            ("tracks[type=audio].audio.channels", ["2"], [1]), ("tracks[type=audio].language", ["eng"], [1]),
            ("tracks[type=subtitle].codec", [], []), ("tracks[1].audio", ["there"], [1]),
        ] as [(String, [String], [Int?])])
    func pathsLeadToValues(path: String, texts: [String], tracks: [Int?]) throws {
        let found = try FieldPath(path).values(in: try JSONReader.parse(Array(Self.report.utf8)))
        #expect(found.map(\.text) == texts)
        #expect(found.map(\.track) == tracks)
    }

    @Test(arguments: [
        ("container.indexFirst", true), ("tracks[0].enabled", true), ("tracks[type=video].video.color.conflict", true),
        ("tracks[id=3].scan.keyframes.spacing.maximum.seconds", false), ("warnings", false),
        ("tracks[*].formats[0].cleanAperture.rect.x.num", false), ("tracks[0].editList[0].mediaTime.value", false),
    ])
    func knownFieldsArePassed(path: String, isBoolean: Bool) throws {
        #expect(try FieldPath(path).check() == isBoolean)
    }

    @Test(arguments: [
        ("tracks[0].video.displaysize", "there is no 'displaysize'; did you mean 'displaySize'?"),
        ("tracks.video", "there is nothing below it that is called 'video'"),
        ("container[0].format", "what is before the brackets is not a list"),
        ("container.format.name", "there is nothing below it that is called 'name'"),
        ("tracks[typ=video].id", "there is no 'typ'; did you mean 'type'?"),
        ("tracks[0].associatedTracks.chap", "there is nothing below it that is called 'chap'"),
        ("warnings[text=x]", "there is nothing below it that is called 'text'"),
        ("path", "rules are about what a file says, not about what it is called"),
        ("nothingLikeIt", "there is no 'nothingLikeIt'"),
    ])
    func unknownFieldsAreErrors(path: String, message: String) throws {
        let error = #expect(throws: MediaError.self) { try FieldPath(path).check() }
        #expect(error?.message == "field '\(path)': \(message)")
    }

    @Test func theTableOfFieldsIsThatOfTheSchema() throws {
        let text = try String(contentsOfFile: Repository.path("docs/schema/probe.json"), encoding: .utf8)
        guard case .object(let root) = try JSONReader.parse(Array(text.utf8)),
            let definitions = root.object("$defs"), let report = definitions.object("report")
        else { throw MediaError(.damaged, "not a schema") }
        var seen: Set<String> = []
        var waiting = [("report", report)]
        while let (type, place) = waiting.popLast() {
            guard seen.insert(type).inserted else { continue }
            let fields = ProbeReport.fields[type] ?? []
            let properties = place.object("properties")?.members.filter {
                type != "report" || !["schemaVersion", "path", "pathBytes"].contains($0.key)
            }
            #expect(fields.map(\.name) == properties?.map(\.key), "\(type)")
            for (field, property) in zip(fields, properties ?? []) {
                guard case .object(var value) = property.value else { continue }
                value = value.resolved(definitions)
                #expect(field.isList == value.isType("array") && field.isBoolean == value.isType("boolean"))
                if let items = value.object("items") { value = items.resolved(definitions) }
                #expect((field.type == nil) == (value.object("properties") == nil), "\(type).\(field.name)")
                if let next = field.type { waiting.append((next, value)) }
            }
        }
        #expect(seen == Set(ProbeReport.fields.keys))
    }
}

extension JSONObject {
    fileprivate func object(_ key: String) -> JSONObject? {
        if case .object(let object)? = value(for: key) { object } else { nil }
    }

    fileprivate func isType(_ name: String) -> Bool {
        if case .string(name)? = value(for: "type") { true } else { false }
    }

    fileprivate func resolved(_ definitions: JSONObject) -> JSONObject {
        if case .array(let choices)? = value(for: "oneOf"), case .object(let first)? = choices.elements.first {
            return first.resolved(definitions)
        }
        guard case .string(let target)? = value(for: "$ref"), let name = target.split(separator: "/").last else {
            return self
        }
        return definitions.object(String(name))?.resolved(definitions) ?? self
    }
}
