import EmbeddedFiles
import Foundation
import MediaBase
import Peaks
import Testing

@testable import Ingest

/// What a page shows, as its script reads it; `scripts/check page` looks at the rest in a browser.
@Suite struct IngestPageTests {
    private func page(duration: MediaTime = MediaTime(value: 10, timescale: 1)) -> IngestPage {
        IngestPage(title: "Film", fileName: "film.mov", duration: duration)
    }

    /// The data as another reader of JSON has it.
    private func read(_ page: IngestPage) throws -> [String: Any] {
        let data = Data(try page.data().text.utf8)
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test func noTextEndsItsElement() throws {
        let hostile = "</script><img src=x onerror=alert(1)> & <!-- \u{2028}\u{2029}"
        var page = page()
        page.title = hostile
        page.fileName = hostile
        page.warnings = [hostile]
        page.metadata = [.init(title: hostile, rows: [(hostile, hostile)])]
        page.chapters = [.init(start: .zero, title: hostile)]
        page.findings = [.init(start: nil, rule: hostile, severity: .warn, message: hostile)]
        page.leftOut = [.init(name: hostile, reason: hostile)]
        page.loudness = [.init(track: hostile)]
        page.startTimecode = hostile
        page.poster = hostile
        page.proxy = .init(reference: hostile, kind: .video)
        page.cues = [.init(start: .zero, end: .zero, sheet: hostile, x: 0, y: 0, width: 1, height: 1)]
        let text = try page.data().text
        for character in ["<", ">", "&", "\u{2028}", "\u{2029}"] { #expect(!text.contains(character)) }
        // RFC 8259 has these escapes.
        #expect(text.contains(#"\u003c/script\u003e\u003cimg src=x onerror=alert(1)\u003e \u0026"#))
        #expect(try read(page)["title"] as? String == hostile)
        // The page has no more elements than one without text.
        let html = try page.html()
        #expect(html.components(separatedBy: "</script>").count == 3)
        #expect(!html.contains("<img src"))
        #expect(!html.contains("{{"))
    }

    @Test func placeholdersInTextStay() throws {
        var page = page()
        page.title = "{{script}} {{policy}}"
        #expect(try read(page)["title"] as? String == "{{script}} {{policy}}")
        #expect(try page.html().contains(#""title":"{{script}} {{policy}}""#))
    }

    /// The value is that of `printf '' | openssl dgst -sha256 -binary | base64`, and of `abc` (FIPS 180-4).
    @Test func policyHasTheHashes() throws {
        let policy = try PageDocument.policy(style: "", script: "abc")
        #expect(policy.contains("style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=';"))
        #expect(policy.contains("script-src 'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=';"))
        #expect(policy.hasPrefix("default-src 'none';"))
        #expect(!policy.contains("unsafe"))
    }

    @Test(arguments: [PageDocument.ingest, PageDocument.gallery])
    func partsOfPagesDoNotEndTheirElements(document: PageDocument) {
        for script in document.scripts.map(\.text) {
            #expect(!script.contains("</script") && !script.contains("<!--"))
            // Nothing that makes markup of text.
            for name in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
                #expect(!script.contains(name))
            }
        }
        for style in document.styles.map(\.text) { #expect(!style.contains("</style") && !style.contains("@import")) }
        #expect(!document.template.text.contains("style="))
    }

    @Test func timesCountFromTheStart() throws {
        var page = page(duration: MediaTime(value: 1001, timescale: 100))
        page.start = MediaTime(value: 3, timescale: 2)
        page.frameRate = Rational(30000, 1001)
        page.findings = [
            .init(start: MediaTime(value: 4, timescale: 1), rule: "b", severity: .fail, message: ""),
            .init(start: MediaTime(value: 2, timescale: 1), rule: "a", severity: .warn, message: ""),
            .init(start: nil, rule: "whole", severity: .warn, message: ""),
        ]
        page.chapters = [
            .init(start: MediaTime(value: 2, timescale: 1), title: "1"),
            .init(start: MediaTime(value: 5, timescale: 1), title: "2"),
        ]
        let data = try read(page)
        #expect(data["duration"] as? Double == 10.01)
        let findings = try #require(data["findings"] as? [[String: Any]])
        #expect(findings.map { $0["rule"] as? String } == ["whole", "a", "b"])
        #expect(findings.map { $0["start"] as? Double } == [nil, 0.5, 2.5])
        let chapters = try #require(data["chapters"] as? [[String: Any]])
        #expect(chapters.map { $0["end"] as? Double } == [3.5, 10.01])
        #expect((data["frameRate"] as? [String: Int]) == ["num": 30000, "den": 1001])
    }

    @Test func peaksAreBytes() throws {
        var page = page()
        let spacing = try Peaks.Spacing(samples: 480)
        page.sound = [
            .init(
                name: "mix",
                peaks: try Peaks(sampleRate: 48000, spacing: spacing, channels: 1, data: [-32768, 32767, -256, 511]))
        ]
        let sound = try #require((try read(page)["sound"] as? [[String: Any]])?.first)
        // 80 7F FF 01: 16 bits divided by 256, toward zero.
        #expect(sound["peaks"] as? String == "gH//AQ==")
        #expect(sound["pointsPerSecond"] as? Double == 100)
    }

    /// A film of three hours with peaks of 4096 samples a point, 1000 pictures and 2000 findings, and one with far too
    /// much of everything.
    @Test(arguments: [(2, 1000, 2000, 60), (16, 9000, 20000, 3000)])
    func pagesStaySmall(channels: Int, cues: Int, findings: Int, metadata: Int) throws {
        let second = MediaTime(value: 1, timescale: 1)
        var page = page(duration: second.multiplied(by: 10800, dividedBy: 1))
        let points = 10800 * 48000 / 4096
        page.sound = [
            .init(
                name: "mix",
                peaks: try Peaks(
                    sampleRate: 48000, spacing: try Peaks.Spacing(samples: 4096), channels: channels, bits: 8,
                    data: [Int16](repeating: 1, count: points * 2 * channels)))
        ]
        page.cues = (0..<cues).map {
            let start = second.multiplied(by: Int64($0), dividedBy: 2)
            return .init(
                start: start, end: start + second, sheet: "sprite-\($0 / 100).jpg", x: 1440, y: 810, width: 160,
                height: 90)
        }
        page.findings = (0..<findings).map {
            .init(
                start: second.multiplied(by: Int64($0), dividedBy: 1001),
                end: second.multiplied(by: 10000, dividedBy: 1),
                rule: "illegalLuma", severity: $0 == findings - 1 ? .fail : .warn,
                message: "Luma is -3.\($0) % below what the policy allows, in 1.2 % of the picture", track: 0)
        }
        page.metadata = [
            .init(title: "Tags", rows: (0..<metadata).map { ("key\($0)", String(repeating: "<", count: $0)) })
        ]
        page.chapters = (0..<metadata).map {
            .init(start: second.multiplied(by: Int64($0), dividedBy: 9), title: "\($0)")
        }
        page.sceneChanges = (0..<cues).map { second.multiplied(by: Int64($0), dividedBy: 3) }
        page.warnings = (0..<metadata).map { "warning \($0)" }
        let html = try page.html()
        #expect(html.utf8.count <= 3_000_000)
        let data = try read(page)
        func count(_ name: String) -> Int { (data[name] as? [Any])?.count ?? -1 }
        #expect(count("findings") + (data["moreFindings"] as? Int ?? -1) == findings)
        #expect(count("chapters") + (data["moreChapters"] as? Int ?? -1) == metadata)
        #expect(count("scenes") + (data["moreScenes"] as? Int ?? -1) == cues)
        #expect(count("warnings") + (data["moreWarnings"] as? Int ?? -1) == metadata)
        // The one that fails is among those that are kept.
        let kept = try #require(data["findings"] as? [[String: Any]])
        #expect(kept.contains { $0["severity"] as? String == "fail" })
        if findings == 2000 { #expect(count("findings") == findings && count("cues") == cues) }
    }

    @Test func whatIsNotANumberIsNoNumber() throws {
        var page = page(duration: .indefinite)
        page.start = .invalid
        page.frameRate = Rational(0, 1)
        page.sceneChanges = [.positiveInfinity]
        page.loudness = [.init(track: "1")]
        page.loudness[0].integrated = -.infinity
        let data = try read(page)
        #expect(data["duration"] as? Double == 0)
        #expect(data["frameRate"] == nil)
        #expect((data["scenes"] as? [Double]) == [0])
        let row = try #require((data["loudness"] as? [[String: Any]])?.first)
        #expect(row["integrated"] is NSNull && row["range"] == nil)
    }

    @Test func galleryEscapesItsTexts() throws {
        var entry = IngestGallery.Entry(folder: "f", name: "</script><b>")
        entry.duration = .indefinite
        entry.error = "<i>"
        let html = try IngestGallery(title: "<u>", entries: [entry]).html()
        #expect(
            html.contains(
                ##"{"title":"\u003cu\u003e","entries":[{"folder":"f","name":"\u003c/script\u003e\u003cb\u003e","warnings":0,"error":"\u003ci\u003e"}]}"##
            ))
        #expect(html.components(separatedBy: "</script>").count == 3)
    }
}
