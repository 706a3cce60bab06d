import Foundation
import TestSupport
import Testing

/// Pictures and sound held against another file; what is wanted is ffmpeg's word.
@Suite struct QCReferenceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func compare(_ file: String, with reference: String, _ more: String...) throws -> [String: Any] {
        let result = try Program.run(
            Program.mediatool,
            ["qc", "--json", "--quiet", "--force", "--reference", reference, "--frames", "frames.csv", file] + more,
            folder: folder.path)
        let report = try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any])
        let measurements = try #require(report["measurements"] as? [String: Any], "\(result.error)")
        return try #require(measurements["reference"] as? [String: Any])
    }

    private func table() throws -> [[String: String]] {
        let lines = String(decoding: try folder.bytes("frames.csv"), as: UTF8.self)
            .split(separator: "\r\n").map {
                $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            }
        let names = try #require(lines.first)
        return lines.dropFirst().map { Dictionary(zip(names, $0)) { first, _ in first } }
    }

    /// The numbers of a filter's own list: `name:value` a picture.
    private func filter(_ name: String, _ file: String, _ reference: String) throws -> [[String: Double]] {
        _ = try FFmpeg.run([
            "-i", file, "-i", reference, "-lavfi", "[0:v][1:v]\(name)=stats_file=\(folder.path)/stats", "-f", "null",
            "-",
        ])
        return String(decoding: try folder.bytes("stats"), as: UTF8.self).split(separator: "\n").map { line in
            var values: [String: Double] = [:]
            for word in line.split(separator: " ") {
                let sides = word.split(separator: ":")
                if sides.count == 2 { values[String(sides[0])] = sides[1] == "inf" ? .infinity : Double(sides[1]) }
            }
            return values
        }
    }

    @Test(arguments: [
        ("av.mp4", ["-c:v", "mpeg4", "-q:v", "9"]),
        ("hevc-10bit.mp4", ["-c:v", "ffv1", "-vf", "gblur=2", "-pix_fmt", "yuv420p10le"]),
        ("mjpeg.avi", ["-c:v", "mjpeg", "-q:v", "20"]), ("prores.mov", ["-c:v", "prores", "-qscale:v", "30"]),
    ])
    // QuickTime, because ffmpeg pairs by times that are not after another: Matroska's milliseconds lead it to the frame before.
    func everyPictureIsAsTheFiltersOfFFmpegSay(fixture: String, encoding: [String]) throws {
        let (reference, file) = (try Fixtures.path(fixture), folder.path + "/e.mov")
        _ = try FFmpeg.run(["-i", reference, "-an"] + encoding + ["-y", file])
        let found = try #require(try compare(file, with: reference)["pictures"] as? [String: Any])
        #expect(found["unpaired"] as? Int == 0)
        let (psnr, ssim) = (try filter("psnr", file, reference), try filter("ssim", file, reference))
        let rows = try table()
        #expect(rows.count == psnr.count && !rows.isEmpty && found["count"] as? Int == rows.count)
        for (row, (psnr, ssim)) in zip(rows, zip(psnr, ssim)) {
            // The filters print two and six digits.
            for (ours, theirs) in [
                ("psnr", "psnr_avg"), ("psnrLuma", "psnr_y"), ("psnrCb", "psnr_u"), ("psnrCr", "psnr_v"),
            ] {
                let (one, other) = (Double(row[ours] ?? "") ?? -1, psnr[theirs] ?? -2)
                #expect(one == other || abs(one - other) <= 0.00501, "\(ours) \(row)")
            }
            for (ours, theirs) in [("ssim", "All"), ("ssimLuma", "Y"), ("ssimCb", "U"), ("ssimCr", "V")] {
                #expect(abs((Double(row[ours] ?? "") ?? -1) - (ssim[theirs] ?? -2)) <= 0.0000015, "\(ours) \(row)")
            }
        }
        let worst = try #require((found["psnr"] as? [String: Any])?["worstFrame"] as? Int)
        let least = try #require(psnr.compactMap { $0["psnr_avg"] }.min())
        #expect(psnr[worst]["psnr_avg"] == least)
    }

    @Test func theSameFileDiffersInNothing() throws {
        let path = try Fixtures.path("av.mp4")
        let found = try compare(path, with: path)
        let pictures = try #require(found["pictures"] as? [String: Any])
        #expect(pictures["count"] as? Int == 75 && pictures["unpaired"] as? Int == 0)
        let (psnr, ssim) = (pictures["psnr"] as? [String: Any], pictures["ssim"] as? [String: Any])
        #expect(psnr?["all"] == nil && psnr?["worst"] == nil)
        #expect(ssim?["all"] as? Double ?? 0 > 0.999999)
        let sound = try #require(found["sound"] as? [String: Any])
        #expect((sound["offset"] as? [String: Any])?["value"] as? Int == 0 && sound["difference"] == nil)
    }

    /// A proxy of half the size and another rate of sound: the reference is brought to its form.
    @Test func othersAreBroughtToTheFilesForm() throws {
        let path = folder.path + "/half.mov"
        _ = try FFmpeg.run([
            "-i", try Fixtures.path("av.mp4"), "-vf", "scale=80:44", "-c:v", "mpeg4", "-q:v", "2", "-ar", "44100",
            "-c:a",
            "pcm_s16le", "-y", path,
        ])
        let found = try compare(path, with: try Fixtures.path("av.mp4"))
        let pictures = try #require(found["pictures"] as? [String: Any])
        #expect((pictures["psnr"] as? [String: Any])?["all"] as? Double ?? 0 > 28)
        #expect((found["sound"] as? [String: Any])?["correlation"] as? Double ?? 0 > 0.99)
    }

    @Test func soundsThatAreAlikeNowhereHaveNoOffset() throws {
        let found = try compare(try Fixtures.path("qc-tone.wav"), with: try Fixtures.path("pcm-s16-stereo.wav"))
        let sound = try #require(found["sound"] as? [String: Any])
        #expect(sound["offset"] == nil && abs(sound["correlation"] as? Double ?? 1) < 0.3)
    }

    @Test(arguments: [4410, -2205]) func soundIsPutInStep(samples: Int) throws {
        let (late, reference) = (folder.path + "/late.wav", folder.path + "/reference.wav")
        let delay = ["-af", "adelay=\(abs(samples))S:all=1,volume=0.5"]
        let source = ["-f", "lavfi", "-i", "anoisesrc=r=44100:d=5:seed=4:amplitude=0.5"]
        _ = try FFmpeg.run(source + (samples > 0 ? delay : ["-af", "volume=0.5"]) + ["-c:a", "pcm_f32le", "-y", late])
        let shift = samples < 0 ? ["-af", "adelay=\(-samples)S:all=1"] : []
        _ = try FFmpeg.run(source + shift + ["-c:a", "pcm_f32le", "-y", reference])
        let sound = try #require(try compare(late, with: reference)["sound"] as? [String: Any])
        #expect((sound["offset"] as? [String: Any])?["value"] as? Int == samples)
        // Half of it is left.
        #expect(abs((sound["difference"] as? Double ?? 0) + 6.02) < 0.01)
        #expect(sound["correlation"] as? Double ?? 0 > 0.999)
    }

    /// Planes of red, green and blue, as the filters compare them too.
    @Test func redGreenAndBlueAreComparedAsTheyAre() throws {
        let (reference, file) = (folder.path + "/rgb.mov", folder.path + "/e.mov")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=64x48:d=0.2", "-c:v", "png", "-pix_fmt", "rgb24", reference,
        ])
        _ = try FFmpeg.run(["-i", reference, "-vf", "noise=alls=20:all_seed=3", "-c:v", "png", file])
        _ = try compare(file, with: reference)
        let (psnr, ssim) = (try filter("psnr", file, reference), try filter("ssim", file, reference))
        let rows = try table()
        #expect(rows.count == 5 && psnr.count == 5)
        for (row, (psnr, ssim)) in zip(rows, zip(psnr, ssim)) {
            #expect(abs((Double(row["psnr"] ?? "") ?? -1) - (psnr["psnr_avg"] ?? -2)) <= 0.00501)
            #expect(abs((Double(row["ssim"] ?? "") ?? -1) - (ssim["All"] ?? -2)) <= 0.0000015)
        }
    }

    private func result(_ file: String, with reference: String, _ more: String...) throws -> Program.Result {
        try Program.run(
            Program.mediatool, ["qc", "--quiet", "--reference", reference, file] + more, folder: folder.path)
    }

    /// What only the file lacks is a fault; what the reference lacks cannot be compared.
    @Test func whatTheFileLacksFails() throws {
        let (whole, sound, silent) = (
            try Fixtures.path("av.mp4"), try Fixtures.path("audio-only.mp4"), folder.path + "/silent.wav"
        )
        let noPictures = try result(sound, with: whole)
        #expect(noPictures.status == 1 && noPictures.output.contains("as the file has no pictures"))
        #expect(try result(whole, with: sound).output.contains("not applicable  psnr"))
        let mute = folder.path + "/mute.mp4"
        _ = try FFmpeg.run(["-i", whole, "-an", "-c", "copy", mute])
        #expect(try result(mute, with: whole).output.contains("as the file has no sound"))
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "anullsrc=r=48000:cl=mono", "-t", "1", silent])
        let quiet = try result(silent, with: try Fixtures.path("qc-tone.wav"))
        #expect(quiet.status == 1 && quiet.output.contains("as the file is silent"))
        #expect(
            try result(try Fixtures.path("qc-tone.wav"), with: silent).output.contains("not applicable  sound-offset"))
    }

    @Test func picturesThatAreNeverShownTogetherFail() throws {
        let (early, late) = (try Fixtures.path("av.mp4"), folder.path + "/late.mkv")
        _ = try FFmpeg.run(["-itsoffset", "100", "-i", early, "-an", "-c", "copy", late])
        let compared = try result(early, with: late)
        #expect(compared.status == 1 && compared.output.contains("pictures: none compared"), "\(compared.output)")
        #expect(compared.output.contains("fail  psnr"))
    }

    /// Left and right that cancel each other out, beside the same, and beside another number of channels.
    @Test func channelsThatCancelEachOtherOutAndOtherCountsAreCompared() throws {
        let (inverse, mono) = (folder.path + "/inverse.wav", folder.path + "/mono.wav")
        let source = ["-f", "lavfi", "-i", "anoisesrc=r=44100:d=2:seed=4:amplitude=0.5"]
        _ = try FFmpeg.run(source + ["-af", "pan=stereo|c0=c0|c1=-1*c0", "-c:a", "pcm_s16le", inverse])
        _ = try FFmpeg.run(source + ["-c:a", "pcm_s16le", mono])
        let same = try #require(try compare(inverse, with: inverse)["sound"] as? [String: Any])
        #expect((same["offset"] as? [String: Any])?["value"] as? Int == 0)
        #expect(same["correlation"] as? Double ?? 0 > 0.999)
        let left = try #require(try compare(inverse, with: mono)["sound"] as? [String: Any])
        #expect((left["offset"] as? [String: Any])?["value"] as? Int == 0)
    }

    @Test func reportsReplaceNoFileThatIsComparedWith() throws {
        let (reference, policy) = (
            try folder.write(
                "reference.wav", Array(Data(contentsOf: URL(fileURLWithPath: Fixtures.path("qc-tone.wav"))))),
            try folder.write("policy.yml", Array("rules:\n  - {id: d, check: damage}\n".utf8))
        )
        let tone = try Fixtures.path("qc-tone.wav")
        for (arguments, path) in [
            (["--reference", reference], reference), (["--proxy-of", reference], reference),
            (["--policy", policy], policy),
        ] {
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            let result = try Program.run(
                Program.mediatool, ["qc", "--quiet", "--force"] + arguments + ["--csv", path, tone], folder: folder.path
            )
            #expect(result.status == 2 && result.error.contains("the output is an input file"), "\(result.error)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        }
        for name in ["--reference", "--proxy-of"] {
            let result = try Program.run(Program.mediatool, ["qc", name, "-", tone], folder: folder.path)
            #expect(result.status == 64 && result.error.contains("cannot be standard input"), "\(result.error)")
        }
    }
}
