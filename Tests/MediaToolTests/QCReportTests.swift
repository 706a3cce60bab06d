import Foundation
import TestSupport
import Testing

/// What `qc` writes besides: JUnit's XML and a page of HTML.
@Suite struct QCReportTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func qc(_ arguments: String...) throws -> Program.Result {
        try Program.run(Program.mediatool, ["qc", "--quiet"] + arguments, folder: folder.path)
    }

    private func python(_ script: String, _ path: String) throws -> String {
        let result = try Program.run("python3", ["-c", script, path])
        guard result.status == 0 else { throw TestSupportError(result.error) }
        return result.output
    }

    /// What junit-10.xsd of Jenkins' xUnit plugin states of elements, attributes and numbers, for the parts that are used.
    private static let grammar = #"""
        import re, sys, xml.etree.ElementTree as tree
        text = {"message", "type"}
        rules = {  # children, attributes that must be there, all attributes, whether text may stand in it
            "testsuites": ({"testsuite"}, set(), {"name", "time", "tests", "failures", "errors"}, False),
            "testsuite": ({"testsuite", "properties", "testcase", "system-out", "system-err"},
                {"name", "tests", "failures", "errors"},
                {"name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname", "id",
                 "package", "file", "log", "url"}, False),
            "testcase": ({"skipped", "error", "failure", "system-out", "system-err"}, {"name"},
                {"name", "time", "classname", "group"}, False),
            "skipped": (set(), set(), text, True), "error": (set(), set(), text, True),
            "failure": (set(), set(), text, True), "system-out": (set(), set(), set(), True)}
        def check(element):
            children, needed, allowed, holds = rules[element.tag]
            names = set(element.attrib)
            assert needed <= names <= allowed, (element.tag, names)
            assert holds or not ((element.text or "") + "".join(c.tail or "" for c in element)).strip(), element.tag
            assert re.fullmatch(r"\d*(\.\d*)?", element.get("time", "0")), element.get("time")
            for child in element:
                assert child.tag in children, (element.tag, child.tag)
                check(child)
            if element.tag == "testsuite":
                cases = element.findall("testcase")
                for name, count in (("tests", len(cases)), ("failures", len(element.findall("testcase/failure"))),
                                    ("errors", len(element.findall("testcase/error"))),
                                    ("skipped", len(element.findall("testcase/skipped")))):
                    assert int(element.get(name)) == count, name
        root = tree.parse(sys.argv[1]).getroot()
        assert root.tag == "testsuites"
        check(root)
        for name in ("tests", "failures", "errors"):
            assert int(root.get(name)) == sum(int(suite.get(name)) for suite in root)
        print(root.get("tests"), root.get("failures"), root.get("errors"))
        """#

    @Test func testReportsAreAsTheSchemaOfJenkinsStates() throws {
        let policy = try folder.write(
            "p.yml",
            Array(
                """
                rules:
                  - {id: 'a "<&> name', check: loudness.integrated, max: -50, message: "<\\u0007>&\\"{measured}"}
                  - {id: warned, check: clipping, severity: warn}
                  - {id: passes, field: container.format, exists: true}
                  - {id: compared, check: reference.psnr, min: 1}
                """.utf8))
        let result = try qc(
            "--policy", policy, "--junit", "r.xml", Fixtures.folder + "/pcm-s16-clipped.wav",
            Fixtures.folder + "/av.mp4", "not <there>.wav")
        #expect(result.status == 2)
        #expect(try python(Self.grammar, folder.path + "/r.xml") == "9 2 1\n")
    }

    @Test func thePageStandsAlone() throws {
        let result = try qc("--html", "r.html", Fixtures.folder + "/black-blurred-sharp.mp4", Repository.sampleMovie)
        #expect(result.status == 0)
        let page = String(decoding: try folder.bytes("r.html"), as: UTF8.self)
        #expect(page.utf8.count < 1 << 20)
        for wanted in ["@media print", "<svg", "<table", "channel 2"] { #expect(page.contains(wanted)) }
        let references = try python(
            #"""
            import html.parser, sys
            class Page(html.parser.HTMLParser):
                open, seen = [], set()
                def handle_starttag(self, tag, attributes):
                    self.seen.add(tag)
                    if tag not in ("meta", "img", "br"): self.open.append(tag)
                    for name, value in attributes:
                        if name in ("src", "href", "xlink:href"): print(tag, value[:23])
                        assert not name.startswith("on")
                def handle_endtag(self, tag): assert self.open.pop() == tag, tag
            page = Page()
            page.feed(open(sys.argv[1]).read())
            assert not page.open and not page.seen & {"script", "link", "iframe", "object"}, page.seen
            """#, folder.path + "/r.html")
        let lines = Set(references.split(separator: "\n"))
        #expect(lines == ["img data:image/jpeg;base64,"] || lines == ["img data:image/jpeg;base64".prefix(27)])
    }

    /// The first place of a finding is shown as it is: `black-blurred-sharp.mp4` begins with black.
    @Test func picturesShowThePlaces() throws {
        let policy = try folder.write("p.yml", Array("rules:\n  - {id: b, check: black, minDuration: 0.5}\n".utf8))
        #expect(
            try qc("--policy", policy, "--html", "r.html", Fixtures.folder + "/black-blurred-sharp.mp4").status == 1)
        let script = """
            import base64, re, sys
            found = re.findall(r'base64,([^"]+)', open(sys.argv[1]).read())
            assert len(found) == 1
            open(sys.argv[1] + '.jpg', 'wb').write(base64.b64decode(found[0]))
            """
        _ = try python(script, folder.path + "/r.html")
        let samples = try FFmpeg.run([
            "-i", folder.path + "/r.html.jpg", "-f", "rawvideo", "-pix_fmt", "gray", "-",
        ])
        #expect(samples.count == 240 * 135 && samples.allSatisfy { $0 < 8 })
    }

    /// Two tracks of one channel each, one the other's inverse: alone they are fine, together they cancel out.
    @Test func tracksAreMeasuredInPairs() throws {
        let path = folder.path + "/pair.mov"
        let tone = "0.0707946*sin(2*PI*1000*t)"
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "aevalsrc='\(tone)':s=48000:d=3", "-f", "lavfi", "-i",
            "aevalsrc='-\(tone)':s=48000:d=2.5",
            "-map", "0", "-map", "1", "-c:a", "pcm_s24le", "-y", path,
        ])
        let rules =
            "rules:\n  - {id: phase, check: correlation, min: -0.5}\n"
            + "  - {id: loud, check: loudness.integrated, min: -23.6, max: -22.9}\n"
        func report(_ pairs: String) throws -> [String: Any] {
            let policy = try folder.write("p.yml", Array((pairs + rules).utf8))
            let result = try qc("--json", "--policy", policy, path)
            return try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any])
        }
        func states(_ report: [String: Any]) -> [String] {
            (report["rules"] as? [[String: Any]] ?? []).compactMap { $0["status"] as? String }
        }
        // One channel at -23 dBFS is -26 LUFS.
        #expect(states(try report("")) == ["notApplicable", "fail"])
        let paired = try report("pairs: [[a:0, a:1]]\n")
        #expect(states(paired) == ["fail", "pass"])
        let tracks = (paired["measurements"] as? [String: Any])?["tracks"] as? [[String: Any]]
        #expect(tracks?.count == 1 && tracks?.first?["pairedTrackIndex"] as? Int == 1)
        let duration = (tracks?.first?["sound"] as? [String: Any])?["duration"] as? [String: Any]
        #expect(duration?["value"] as? Int == 3 * 48_000)
        let warnings = try report("pairs: [[a:0, a:0], [a:0, a:7]]\n")["warnings"] as? [String]
        #expect(warnings?.count == 2)
    }

    /// Plain PCM is read on a way of its own.
    @Test(arguments: ["pcm-s16-mono.wav", "audio-only.mp4"]) func pairsThatAreNotThereAreTold(fixture: String) throws {
        let rules = "rules:\n  - {id: loud, check: loudness.integrated, max: 9}\n"
        let policy = try folder.write("p.yml", Array(("pairs: [[a:0, a:1]]\n" + rules).utf8))
        let result = try qc("--json", "--policy", policy, try Fixtures.path(fixture))
        let report = try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any]
        #expect((report?["warnings"] as? [String])?.count == 1)
    }

    /// A report that cannot be written is refused before anything is measured, and nothing is printed.
    @Test func aReportThatExistsIsRefusedFirst() throws {
        let taken = try folder.write("taken.csv", [UInt8]())
        let file = try Fixtures.path("qc-tone.wav")
        let result = try qc("--json", file, file, "--csv", taken, "--junit", folder.path("j.xml"))
        #expect(result.status == 2 && result.output.isEmpty && result.error.contains("taken.csv"), "\(result.error)")
        #expect(try folder.names() == ["taken.csv"])
    }

    /// Before the input, which is not there, is looked for.
    @Test func reportsOfOneNameAreRefused() throws {
        for other in ["r", "./r"] {
            let refused = try Program.run(
                Program.mediatool, ["qc", "--html", "r", "--csv", other, "missing.wav"], folder: folder.path)
            #expect(refused.status == 64 && refused.error.contains("'\(other)'"), "\(refused.error)")
        }
        #expect(try folder.names().isEmpty)
    }
}
