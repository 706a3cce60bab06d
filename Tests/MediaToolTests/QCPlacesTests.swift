import Foundation
import TestSupport
import Testing

/// Where findings lie, and how many of them are listed.
@Suite struct QCPlacesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func report(_ rules: String, _ path: String, _ more: [String] = []) throws -> [String: Any] {
        let policy = try folder.write("policy.yml", Array(("rules:\n" + rules).utf8))
        let result = try Program.run(
            Program.mediatool, ["qc", "--json", "--quiet", "--policy", policy, path] + more, folder: folder.path)
        return try #require(
            try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any], "\(result.error)")
    }

    private func findings(_ rules: String, _ path: String, _ more: [String] = []) throws -> [[String: Any]] {
        try #require(try report(rules, path, more)["findings"] as? [[String: Any]])
    }

    /// Start and end of a finding as they are written exactly.
    private func places(_ findings: [[String: Any]]) -> [[String]] {
        findings.map { finding in
            ["start", "end"].map { key in
                guard let time = finding[key] as? [String: Any] else { return "-" }
                return "\(time["value"] ?? "-")/\(time["timescale"] ?? "-")"
            }
        }
    }

    private func sound(_ name: String, _ expression: String, _ more: [String] = []) throws -> String {
        let path = folder.path(name)
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "aevalsrc=\(expression)"] + more + ["-y", path])
        return path
    }

    /// One sample of the second channel stands out, 35 s in, so that a plain file's parts have a seam before it; the same
    /// in FLAC, which is decoded.
    @Test(arguments: ["wav", "flac"]) func peaksArePlacedToTheSample(type: String) throws {
        let path = try sound(
            "peak.\(type)", "'0.01*sin(2*PI*440*t)|if(eq(n,280007),0.5,0.01*sin(2*PI*300*t))':s=8000:d=40")
        let rules = "  - {id: t, check: truePeak, max: -10}\n  - {id: s, check: samplePeak, max: -10}\n"
        let found = try findings(rules, path)
        #expect(places(found) == [["280007/8000", "280008/8000"], ["280007/8000", "280008/8000"]])
        #expect(found.allSatisfy { $0["channel"] as? Int == 1 && $0["trackIndex"] as? Int == 0 })
    }

    /// 400 ms louder than all else, from the 250th step of 10 ms on; of three seconds the first that hold all of it.
    @Test func loudestWindowsHaveBothEnds() throws {
        let path = try sound("loud.wav", "'if(between(n,20000,23199),0.5,0.001)*sin(2*PI*1000*t)':s=8000:d=8")
        let rules =
            "  - {id: m, check: loudness.momentaryMaximum, max: -30}\n"
            + "  - {id: s, check: loudness.shortTermMaximum, max: -30}\n"
        let found = places(try findings(rules, path))
        let ticks = try found.map { place in try place.map { try #require(Int($0.split(separator: "/")[0])) } }
        #expect(ticks.count == 2 && ticks[0][1] - ticks[0][0] == 3200 && abs(ticks[0][0] - 20_000) <= 80)
        #expect(ticks[1][1] - ticks[1][0] == 24_000 && ticks[1][0] <= 20_000 && ticks[1][1] >= 23_200)
    }

    /// Frames 10 to 12 and 30 are the ones before them again.
    @Test func repeatedFramesAreListed() throws {
        let path = folder.path("film.mkv")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "color=s=64x48:r=25:d=2,format=gray", "-vf",
            "geq=lum='4*if(between(N,10,12),9,if(eq(N,30),29,N))'", "-c:v", "ffv1", "-y", path,
        ])
        let found = try findings("  - {id: d, check: duplicateFrames}\n", path)
        #expect(places(found) == [["400/1000", "520/1000"], ["1200/1000", "1240/1000"]])
        #expect(found.compactMap { $0["measured"] as? String } == ["3 of 4 frames", "1 of 4 frames"])
    }

    @Test func damageIsPlaced() throws {
        let path = try Fixtures.path("damaged.mp4")
        let report = try report("  - {id: d, check: damage}\n", path)
        let damage = (report["measurements"] as? [String: Any])?["damage"] as? [String: Any]
        let ranges = try #require(damage?["ranges"] as? [[String: Any]])
        let findings = try #require(report["findings"] as? [[String: Any]])
        #expect(!ranges.isEmpty && findings.count == ranges.count)
        for (finding, range) in zip(findings, ranges) {
            #expect(finding["trackIndex"] as? Int == range["trackIndex"] as? Int)
            let (start, end) = (finding["start"] as? [String: Any], finding["end"] as? [String: Any])
            #expect(start?["seconds"] as? Double == (range["start"] as? [String: Any])?["seconds"] as? Double)
            #expect((end?["seconds"] as? Double ?? 0) > (start?["seconds"] as? Double ?? 0))
        }
        let bytes = try Fixtures.bytes("pcm-s16-stereo.wav")
        let cut = try folder.write("cut.wav", bytes.prefix(bytes.count / 2))
        let last = try #require(try self.findings("  - {id: d, check: damage}\n", cut).last)
        #expect(last["start"] != nil && (last["measured"] as? String)?.contains("breaks off") == true)
    }

    /// The second channel is inverted for ten seconds of forty; the whole is still alike.
    @Test(arguments: ["wav", "flac"]) func invertedPartsAreFound(type: String) throws {
        let path = try sound(
            "phase.\(type)",
            "'0.3*sin(2*PI*440*t)|0.3*sin(2*PI*440*t)*if(gte(t,20)*lt(t,30),-1,1)':s=8000:d=40")
        let found = try findings("  - {id: p, check: correlation, min: -0.5}\n", path)
        #expect(places(found) == [["160000/8000", "240000/8000"]])
        #expect(found.first?["measured"] as? String == "-1.000")
        #expect(try findings("  - {id: p, check: correlation, min: -1}\n", path).isEmpty)
    }

    /// Clipped at half its height and then brought to -0.9 dBFS.
    @Test func flatTopsBelowFullScaleAreClipping() throws {
        let path = try sound("flat.wav", "'0.9*max(-1,min(1,2*sin(2*PI*100.3*t)))':s=48000:d=1")
        let report = try report("  - {id: c, check: clipping}\n", path)
        #expect(report["verdict"] as? String == "fail")
        let count = ((report["rules"] as? [[String: Any]])?.first)?["findingCount"] as? Int
        #expect((198...201).contains(count ?? 0))
        let clean = try sound("clean.wav", "'0.9*sin(2*PI*100.3*t)':s=48000:d=1")
        #expect(try findings("  - {id: c, check: clipping}\n", clean).isEmpty)
    }

    @Test func asManyFindingsAreListedAsAreAskedFor() throws {
        let path = try sound("square.wav", "'max(-1,min(1,3*sin(2*PI*1000*t)))|0.1':s=48000:d=3")
        let rules = "  - {id: c, check: clipping}\n  - {id: t, check: truePeak, max: -6}\n"
        func counts(_ more: [String]) throws -> [Int] {
            let report = try report(rules, path, more + ["--csv", "r.csv", "--force"])
            let found = try #require(report["findings"] as? [[String: Any]])
            let rules = try #require(report["rules"] as? [[String: Any]])
            let tracks = try #require((report["measurements"] as? [String: Any])?["tracks"] as? [[String: Any]])
            let runs = try #require(tracks.first?["runs"] as? [[String: Any]])
            let ranges = (runs.first?["ranges"] as? [Any])?.count ?? 0
            let rows = String(decoding: try folder.bytes("r.csv"), as: UTF8.self).split(separator: "\r\n").count - 1
            #expect(rows == found.count && runs.first?["count"] as? Int == rules.first?["findingCount"] as? Int)
            return [found.count, rules.first?["findingCount"] as? Int ?? 0, ranges]
        }
        // Three seconds of a thousand periods with two flat tops each.
        #expect(try counts([]) == [201, 6000, 200])
        #expect(try counts(["--findings", "5"]) == [6, 6000, 5])
        #expect(try counts(["--findings", "10000"]) == [6001, 6000, 6000])
        let refused = try Program.run(Program.mediatool, ["qc", "--findings", "0", path])
        #expect(refused.status == 64)
    }

    /// One frame of a hundred is grey.
    @Test func oneRuinedPictureOfAHundredFails() throws {
        let (reference, file) = (folder.path("a.mkv"), folder.path("b.mkv"))
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=4", "-c:v", "ffv1", reference])
        _ = try FFmpeg.run([
            "-i", reference, "-vf", "drawbox=color=gray:t=fill:enable='eq(n,50)'", "-c:v", "ffv1", file,
        ])
        func result(_ file: String) throws -> Program.Result {
            try Program.run(Program.mediatool, ["qc", "--json", "--quiet", "--reference", reference, file])
        }
        let failed = try result(file)
        let report = try #require(try JSONSerialization.jsonObject(with: Data(failed.bytes)) as? [String: Any])
        let found = try #require(report["findings"] as? [[String: Any]])
        #expect(failed.status == 1)
        for id in ["psnr-of-the-worst", "ssim-of-the-worst"] {
            #expect(places(found.filter { $0["rule"] as? String == id }) == [["2000/1000", "2040/1000"]], "\(id)")
        }
        #expect(try result(reference).status == 0)
    }

    /// 29.97 is read as `export` reads it; a rate that is another one is another one.
    @Test func ratesAreComparedAsRates() throws {
        let path = folder.path("film.mov")
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "testsrc2=s=64x48:r=30000/1001:d=1", "-c:v", "mpeg4", path])
        let field = "field: 'tracks[type=video].video.frameRate.nominal'"
        let rules = """
              - {id: a, \(field), equals: 29.97}
              - {id: b, \(field), oneOf: [25, 29.97]}
              - {id: c, \(field), min: 29.97, max: 29.97}
              - {id: d, \(field), equals: 30000/1001}
              - {id: e, \(field), equals: 30}
              - {id: f, \(field), max: 29.96}
              - {id: g, \(field), equals: 29.96}
            """
        let states = (try report(rules, path)["rules"] as? [[String: Any]])?.compactMap { $0["status"] as? String }
        #expect(states == ["pass", "pass", "pass", "pass", "fail", "fail", "fail"])
    }
}
