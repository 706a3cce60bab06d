import Foundation
import QualityControl
import TestSupport
import Testing

@testable import mediatool

@Suite struct QCCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func qc(_ arguments: String...) throws -> Program.Result {
        try Program.run(Program.mediatool, ["qc"] + arguments, folder: folder.path)
    }

    private func policy(_ rules: String) throws -> String {
        try folder.write("policy.yml", Array(("rules:\n" + rules).utf8))
    }

    private func json(_ result: Program.Result) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any])
    }

    /// Sound made by ffmpeg from an expression.
    private func sound(_ name: String, _ source: String, _ more: [String] = []) throws -> String {
        let path = folder.path + "/" + name
        _ = try FFmpeg.run(["-f", "lavfi", "-i", source] + more + ["-y", path])
        return path
    }

    @Test func everyCheckIsListedAndInThePolicySchema() throws {
        let listed = try qc("--list-checks").output
        let schema = try qc("--policy-schema").output
        for check in CheckRegistry.all {
            #expect(listed.contains(check.id + "\n"))
            #expect(schema.contains("\"\(check.id)\""))
        }
    }

    @Test func exitCodesTellPassFailAndNotProcessed() throws {
        let policy = try policy("  - {id: channels, field: 'tracks[type=audio].audio.channels', equals: 2}\n")
        let movie = Repository.sampleMovie
        #expect(try qc("--policy", policy, movie).status == 0)
        let wrong = try self.policy("  - {id: channels, field: 'tracks[type=audio].audio.channels', equals: 6}\n")
        let failed = try qc("--policy", wrong, movie)
        #expect(failed.status == 1 && failed.output.contains("channels: track 1: "))
        #expect(failed.output.contains("is 2, wanted 6"))
        let both = try qc("--policy", wrong, movie, "missing.mov")
        #expect(both.status == 2 && both.errorLines.count == 1)
        let warning = try self.policy("  - {id: c, field: 'tracks[0].codec', equals: x, severity: warn}\n")
        #expect(try qc("--policy", warning, movie).status == 0)
        #expect(try qc("--policy", warning, "--fail-on", "warn", movie).status == 1)
    }

    @Test func whatAFileDoesNotHaveIsNotApplicable() throws {
        let path = try sound("tone.wav", "sine=frequency=1000:duration=1")
        let result = try qc(
            "--json", "--policy",
            try policy(
                """
                  - {id: width, field: 'tracks[type=video].video.displaySize.width', equals: 1920}
                  - {id: black, check: black}
                """), path)
        let report = try json(result)
        #expect(result.status == 0 && report["verdict"] as? String == "pass")
        let states = (report["rules"] as? [[String: Any]])?.compactMap { $0["status"] as? String }
        #expect(states == ["notApplicable", "notApplicable"])
    }

    /// The states of a policy's rules on a file, in their order.
    private func states(_ rules: String, _ path: String) throws -> [String] {
        let report = try json(qc("--json", "--quiet", "--policy", try policy(rules), path))
        return (report["rules"] as? [[String: Any]] ?? []).compactMap { $0["status"] as? String }
    }

    /// av.mp4 has 3 s at 25 frames a second (`scripts/fixtures`); the sound's packets are not frames.
    @Test func rulesAboutAScanReadAllPackets() throws {
        let rules = """
              - {id: a, field: 'tracks[type=video].scan.frameCount', equals: 75}
              - {id: b, field: 'tracks[*].scan.corruptCount', max: 0}
              - {id: c, field: 'tracks[type=video].scan.packetCount', max: 74}
            """
        #expect(try states(rules, try Fixtures.path("av.mp4")) == ["pass", "pass", "fail"])
    }

    /// A pipe whose packets are counted and whose pictures are decoded gives what the file gives.
    @Test func aPipeIsReadTwice() throws {
        let policy = try policy(
            """
              - {id: a, field: 'tracks[type=video].scan.frameCount', equals: 75}
              - {id: b, check: black}
              - {id: c, check: silence}
            """)
        let path = try Fixtures.path("mpegts-10s.ts")
        let script = "cat \"$1\" | \"$0\" qc --json --quiet --policy \"$2\" -"
        let piped = try Program.run("/bin/sh", ["-c", script, Program.mediatool, path, policy])
        let file = try json(qc("--json", "--quiet", "--policy", policy, path))
        let report = try json(piped)
        #expect(piped.status == 0 && report["verdict"] as? String == "pass", "\(piped.error)")
        let measured = try [report, file].map { try #require($0["measurements"] as? NSDictionary) }
        #expect(measured[0] == measured[1])
    }

    /// The spellings of YAML 1.2's core schema, on a file whose index is its last box.
    @Test func yesAndNoAreReadAsYAMLWritesThem() throws {
        let rules = """
              - {id: a, field: container.indexFirst, equals: False}
              - {id: b, field: container.indexFirst, oneOf: [FALSE]}
              - {id: c, field: container.indexFirst, equals: True}
              - {id: d, field: 'tracks[0].enabled', equals: TRUE}
              - {id: e, field: 'tracks[0].codec', exists: True}
              - {id: f, check: dualMono, equals: False}
            """
        let states = ["pass", "pass", "fail", "pass", "pass", "pass"]
        #expect(try self.states(rules, try Fixtures.path("audio-only.mp4")) == states)
    }

    /// Covers are no video, and containers other than MP4 and QuickTime have no index that could be first.
    @Test(arguments: [
        ("artwork.mp3", "notApplicable"), ("artwork.m4a", "warn"), ("opus.webm", "notApplicable"),
        ("vorbis.ogg", "notApplicable"),
    ])
    func soundIsWhatBrowsersPlay(fixture: String, indexFirst: String) throws {
        let report = try json(qc("--json", "--quiet", "--policy", "web", Fixtures.path(fixture)))
        let states = (report["rules"] as? [[String: Any]] ?? []).compactMap { $0["status"] as? String }
        #expect(states.prefix(4) == ["notApplicable", "notApplicable", "pass", indexFirst])
    }

    @Test(arguments: [("--reference", "the reference"), ("--proxy-of", "the proxy's source")])
    func theOtherFileThatIsMissingIsNamed(option: String, name: String) throws {
        let result = try qc("--json", option, "nowhere.mov", Repository.sampleMovie)
        let error = try #require(try json(result)["error"] as? [String: Any])
        #expect(result.status == 2 && error["code"] as? String == "notFound")
        #expect(error["message"] as? String == "\(name) nowhere.mov: no such file")
    }

    @Test func whatIsNotSaidIsAsNoComparisonWantsIt() throws {
        let rules = """
              - {id: a, field: container.startTimecode, exists: true}
              - {id: b, field: container.startTimecode, exists: false}
              - {id: c, field: 'tracks[type=video].video.hdr.masteringDisplay.maximumLuminance', max: 1000}
              - id: d
                any:
                  - {field: 'tracks[type=video].video.hdr.masteringDisplay.maximumLuminance', exists: false}
                  - {field: 'tracks[type=video].video.hdr.masteringDisplay.maximumLuminance', max: 1000}
              - {id: e, field: warnings, exists: false}
              - {id: f, field: warnings, exists: true}
              - {id: g, field: tracks, exists: true}
              - {id: h, field: 'tracks[type=video].video', exists: true}
              - {id: i, field: 'tracks[type=video].video', exists: false}
              - {id: j, field: 'tracks[type=subtitle].codec', exists: true}
              - {id: k, field: 'tracks[type=subtitle].codec', exists: false}
              - {id: l, field: 'tracks[type=subtitle].codec', equals: mov_text}
            """
        #expect(
            try states(rules, try Fixtures.path("av.mp4")) == [
                "fail", "pass", "fail", "pass", "pass", "fail", "pass", "pass", "fail", "fail", "pass", "notApplicable",
            ])
    }

    /// Black from frame 50 to frame 99 of 29.97 a second, whose times Matroska rounds to milliseconds.
    @Test(arguments: ["mkv", "mov"]) func findingsHaveTimecodes(type: String) throws {
        func timecodes(_ options: String...) throws -> [String?] {
            let path = folder.path + "/film." + type
            _ = try FFmpeg.run(
                [
                    "-f", "lavfi", "-i", "testsrc=s=64x48:r=30000/1001:d=5", "-vf",
                    "drawbox=color=black:t=fill:enable='between(n,50,99)'", "-c:v", "ffv1", "-pix_fmt", "yuv420p",
                ] + options + ["-y", path])
            let policy = try policy("  - {id: b, check: black, minDuration: 1}\n")
            let result = try qc("--json", "--force", "--csv", "r.csv", "--policy", policy, path)
            let finding = try #require((try json(result)["findings"] as? [[String: Any]])?.first)
            let texts = [finding["startTimecode"] as? String, finding["endTimecode"] as? String]
            let row = String(decoding: try folder.bytes("r.csv"), as: UTF8.self)
            #expect(row.contains("," + texts.map { $0 ?? "" }.joined(separator: ",") + ","))
            return texts
        }
        #expect(try timecodes() == ["00:00:01:20", "00:00:03:10"])
        // libavformat reads no start timecode of Matroska's tags.
        guard type == "mov" else { return }
        #expect(try timecodes("-timecode", "01:00:00:00") == ["01:00:01:20", "01:00:03:10"])
        // Numbers 00 and 01 of the second minute are left out.
        #expect(try timecodes("-timecode", "00:00:58;20") == ["00:01:00;12", "00:01:02;02"])
    }

    @Test func withoutPicturesThereIsNoTimecode() throws {
        let path = try sound("quiet.wav", "aevalsrc=0:d=3:s=8000")
        let report = try json(qc("--json", "--policy", try policy("  - {id: s, check: silence}\n"), path))
        let finding = try #require((report["findings"] as? [[String: Any]])?.first)
        #expect(finding["start"] != nil && finding["startTimecode"] == nil && finding["endTimecode"] == nil)
    }

    @Test func aFilesNameIsNoField() throws {
        let policy = try policy("  - {id: n, field: path, matches: mov}\n")
        let result = try qc("--policy", policy, Repository.sampleMovie)
        #expect(result.status == 2 && result.error.contains("not about what it is called"), "\(result.error)")
    }

    @Test func aPolicyThatIsNotThereIsNoFolderToMake() throws {
        let result = try qc("--policy", "nofile.yml", Repository.sampleMovie)
        #expect(result.status == 2 && result.error.contains("nofile.yml: cannot read: there is no such file"))
        #expect(!result.error.contains("make the folder"))
    }

    /// Tech 3341's first signal, half a minute of it, so that the parts of a plain file have seams.
    @Test func loudnessOfASineIsThatOfItsLevel() throws {
        let path = try sound(
            "sine.wav", "aevalsrc='0.0707946*sin(2*PI*1000*t)|0.0707946*sin(2*PI*1000*t)':s=8000:d=65")
        let report = try json(qc("--json", "--policy", "ebu-r128", path))
        let measurements = try #require(report["measurements"] as? [String: Any])
        let track = try #require((measurements["tracks"] as? [[String: Any]])?.first)
        let sound = try #require(track["sound"] as? [String: Any])
        #expect(abs(try #require(sound["integratedLoudness"] as? Double) + 23) < 0.1)
        #expect(abs(try #require(sound["loudnessRange"] as? Double)) < 0.1)
        #expect(abs(try #require(sound["truePeak"] as? Double) + 23) < 0.1)
        #expect(report["verdict"] as? String == "pass")
        #expect((sound["duration"] as? [String: Any])?["value"] as? Int == 65 * 8000)
    }

    /// Silence that lies across the seam of two parts of a plain file, to the sample.
    @Test func runsGoOnAcrossSeams() throws {
        let path = try sound(
            "hole.wav", "aevalsrc='if(between(n,230000,250001),0,0.5*(1-2*mod(n,2)))':s=8000:d=65")
        let result = try qc("--json", "--policy", try policy("  - {id: s, check: silence, threshold: -60}\n"), path)
        let finding = try #require((try json(result)["findings"] as? [[String: Any]])?.first)
        #expect((finding["start"] as? [String: Any])?["value"] as? Int == 230_000)
        #expect((finding["end"] as? [String: Any])?["value"] as? Int == 250_002)
        #expect(result.status == 1 && finding["id"] as? String == "s@0:230000/8000")
    }

    @Test func blackAndStillPicturesAreFoundToTheFrame() throws {
        let path = folder.path + "/film.mkv"
        // 25 frames a second: 49 frames of black, then 50, and a last picture that stays for 51.
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc=s=64x48:r=25:d=8", "-vf",
            "drawbox=color=black:t=fill:enable='between(n,50,98)+between(n,124,173)',"
                + "tpad=stop_mode=clone:stop_duration=2", "-c:v", "ffv1", "-pix_fmt", "yuv420p", "-y", path,
        ])
        let result = try qc(
            "--json", "--policy",
            try policy("  - {id: b, check: black}\n  - {id: f, check: freeze, severity: warn}\n"), path)
        let findings = try #require(try json(result)["findings"] as? [[String: Any]])
        func seconds(_ finding: [String: Any], _ key: String) -> Double? {
            (finding[key] as? [String: Any])?["seconds"] as? Double
        }
        let black = findings.filter { $0["rule"] as? String == "b" }
        #expect(black.count == 1)
        #expect(
            black.first.flatMap { seconds($0, "start") } == 4.96 && black.first.flatMap { seconds($0, "end") } == 6.96)
        let still = findings.filter { $0["rule"] as? String == "f" }
        #expect(still.compactMap { seconds($0, "start") } == [4.96, 7.96])
        #expect(still.compactMap { seconds($0, "end") } == [6.96, 10])
    }

    @Test func reportsAreWrittenBesides() throws {
        let path = try sound("a & b.wav", "sine=frequency=1000:duration=1")
        let policy = try policy(
            """
              - {id: loud, check: loudness.integrated, min: -1, message: 'a "<b>", {measured}'}
              - {id: stereo, field: 'tracks[0].audio.channels', equals: 1}
              - {id: black, check: black}
            """)
        let result = try qc(
            "--policy", policy, "--junit", "r.xml", "--html", "r.html", "--csv", "r.csv", path, "missing.wav")
        #expect(result.status == 2)
        let xml = try folder.bytes("r.xml")
        let document = try XMLChecker.elements(xml)
        #expect(document.filter { $0 == "testcase" }.count == 4)
        #expect(document.contains("failure") && document.contains("skipped") && document.contains("error"))
        let page = String(decoding: try folder.bytes("r.html"), as: UTF8.self)
        #expect(page.contains("a &quot;&lt;b&gt;&quot;") && !page.contains("<script") && !page.contains("http"))
        let lines = String(decoding: try folder.bytes("r.csv"), as: UTF8.self).split(separator: "\r\n")
        #expect(lines.count == 3 && lines[1].contains("\"a \"\"<b>\"\","))
        #expect(try qc("--policy", policy, "--csv", "r.csv", path).status == 2)
        #expect(try qc("--policy", policy, "--force", "--csv", "r.csv", path).status == 1)
    }

    /// Proxies that ffmpeg makes: a good one, and three that an editor would stumble over.
    @Test func proxiesAreHeldAgainstTheirSource() throws {
        let source = folder.path + "/source.mov"
        let inputs = ["-f", "lavfi", "-i", "testsrc=s=64x48:r=25:d=2", "-f", "lavfi", "-i", "sine=d=2"]
        _ = try FFmpeg.run(
            inputs + ["-c:v", "mjpeg", "-c:a", "pcm_s16le", "-timecode", "10:00:00:00", "-y", source])
        func failures(_ arguments: [String]) throws -> [String] {
            let path = folder.path + "/proxy.mov"
            _ = try FFmpeg.run(["-i", source] + arguments + ["-y", path])
            let result = try qc("--json", "--proxy-of", source, path)
            let report = try json(result)
            let rules = (report["rules"] as? [[String: Any]] ?? []).filter { $0["status"] as? String != "pass" }
            #expect(result.status == (rules.isEmpty ? 0 : 1))
            return rules.compactMap { $0["id"] as? String }
        }
        let codecs = ["-c:v", "mpeg4", "-c:a", "pcm_s16le"]
        #expect(try failures(codecs) == [])
        #expect(try failures(codecs + ["-an"]).contains("proxy-audio-tracks"))
        #expect(try failures(codecs + ["-timecode", "10:00:00:01"]) == ["proxy-timecode"])
        #expect(try failures(codecs + ["-frames:v", "49"]) == ["proxy-frame-count"])
        #expect(
            try failures(codecs + ["-vf", "setpts=PTS+if(gte(N\\,20)\\,1/TB/25\\,0)", "-fps_mode", "passthrough"])
                .contains("proxy-frame-times"))
    }

    @Test func lengthsOfSoundAndPicturesAreCompared() throws {
        let path = folder.path + "/short.mkv"
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc=s=64x48:r=25:d=2", "-f", "lavfi", "-i", "sine=r=48000:d=1.5", "-c:v", "ffv1",
            "-c:a", "flac", "-y", path,
        ])
        let result = try qc("--policy", try policy("  - {id: l, check: lengthDifference, max: 0.1}\n"), path)
        #expect(result.status == 1 && result.output.contains("lengthDifference is 0.500 s"))
    }

    @Test(arguments: [
        ("  - {id: a, check: loudnes.integrated, max: 0}", "did you mean 'loudness.integrated'?"),
        ("  - {id: a, field: 'tracks[0].video.displaysize', exists: true}", "did you mean 'displaySize'?"),
        ("  - {id: a, check: black}\n  - {id: a, check: freeze}", "line 3: two rules"),
    ])
    func errorsInPoliciesNameTheLineAndTheRemedy(rules: String, wanted: String) throws {
        let result = try qc("--policy", try policy(rules + "\n"), Repository.sampleMovie)
        #expect(result.status == 2 && result.errorLines.count == 1 && result.error.contains(wanted), "\(result.error)")
    }

    @Test func aTextThatIsNotUTF8IsToldWithItsLine() throws {
        let path = try folder.write("policy.yml", Array("rules:\n  - {id: ".utf8) + [0xE4] + Array("}\n".utf8))
        let result = try qc("--policy", path, Repository.sampleMovie)
        #expect(result.status == 2 && result.errorLines.count == 1, "\(result.error)")
        #expect(result.error.contains("line 2: the text is not UTF-8"), "\(result.error)")
    }

    @Test func hostilePoliciesEndSoon() throws {
        let many = (0..<10_000).map { "  - {id: r\($0), field: container.format, oneOf: [mov, mp4]}\n" }.joined()
        #expect(try qc("--policy", try policy(many), Repository.sampleMovie).status == 0)
        let measured = (0..<10_000).map { "  - {id: r\($0), check: truePeak, max: -\($0)}\n" }.joined()
        let result = try qc("--json", "--quiet", "--policy", try policy(measured), Repository.sampleMovie)
        let rules = try json(result)["rules"] as? [Any]
        #expect(result.status == 1 && rules?.count == 10_000)
        let found = (0..<10_000).map { "  - {id: r\($0), check: clipping, threshold: 1}\n" }.joined()
        #expect(try qc("--quiet", "--policy", try policy(found), Fixtures.folder + "/pcm-s16-clipped.wav").status == 1)
        let thresholds = (0..<10_000).map { "  - {id: r\($0), check: freeze, threshold: 0.\($0)}\n" }.joined()
        #expect(try qc("--policy", try policy(thresholds), Repository.sampleMovie).error.contains("more than 16"))
        let deep = "  - {id: a, any: " + String(repeating: "[", count: 100_000)
        #expect(try qc("--policy", try policy(deep), Repository.sampleMovie).status == 2)
        let nested = "  - {id: a, not: " + String(repeating: "{not: ", count: 40)
        #expect(try qc("--policy", try policy(nested), Repository.sampleMovie).status == 2)
        let dashes = String(repeating: "- ", count: 50_000)
        #expect(try qc("--policy", try policy(dashes), Repository.sampleMovie).status == 2)
        let large = String(repeating: "# comment\n", count: 500_000)
        #expect(try qc("--policy", try policy(large), Repository.sampleMovie).error.contains("4 MB"))
        #expect(try qc("--policy", "nothing", Repository.sampleMovie).error.contains("ebu-r128"))
    }

    @Test func policiesOfTheProgramAreGood() throws {
        for name in BuiltInPolicy.allCases {
            let shown = try qc("--show-policy", "--policy", name.rawValue)
            #expect(shown.status == 0)
            let path = try folder.write("\(name.rawValue).yml", shown.bytes)
            let result = try qc("--quiet", "--json", "--policy", path, Repository.sampleMovie)
            #expect(result.status <= 1)
            #expect(try json(result)["policy"] as? String == name.rawValue)
        }
    }
}

/// Reads XML and gives the names of its elements, in order.
private enum XMLChecker {
    static func elements(_ bytes: [UInt8]) throws -> [String] {
        let result = try Program.run(
            "python3",
            [
                "-c",
                "import sys, xml.etree.ElementTree as e; print(*[x.tag for x in e.parse(sys.stdin.buffer).iter()], sep='\\n')",
            ], input: bytes)
        guard result.status == 0 else { throw TestSupportError(result.error) }
        return result.output.split(separator: "\n").map(String.init)
    }
}
