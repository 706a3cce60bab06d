import Foundation
import TestSupport
import Testing

/// One colour, (200, 40, 30), goes through every way in which pictures are written; ffmpeg says what comes out of it.
@Suite struct ColorTagsTests {
    /// What ffmpeg's encoder is given for a source: conversion, codec and tags.
    enum Source: String, CaseIterable {
        case tagged709, tagged601, untagged, fullRange, rgb, taggedRGB

        func arguments(isStandard: Bool) -> [String] {
            func luma(_ matrix: String, range: String = "tv") -> String {
                "scale=out_color_matrix=\(matrix):out_range=\(range),format=yuv420p"
            }
            func tagged(_ matrix: String, range: String = "tv") -> [String] {
                FFmpeg.colorTags(
                    after: luma(matrix, range: range), matrix: matrix, primaries: matrix, transfer: matrix, range: range
                )
            }
            let x264 = ["-c:v", "libx264", "-crf", "5"]
            return switch self {
            case .tagged709: tagged("bt709") + x264
            case .tagged601: tagged("smpte170m") + x264
            // By the size, as players assume it.
            case .untagged:
                [
                    "-vf",
                    luma(isStandard ? "smpte170m" : "bt709")
                        + ",setparams=colorspace=unknown:color_primaries=unknown:color_trc=unknown",
                ] + x264
            case .fullRange: tagged("bt709", range: "pc") + x264
            case .rgb: ["-c:v", "qtrle", "-pix_fmt", "rgb24"]
            case .taggedRGB:
                FFmpeg.colorTags(after: "format=rgb24", primaries: "bt709", transfer: "iec61966-2-1")
                    + ["-c:v", "libx264rgb", "-crf", "1"]
            }
        }
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func make(_ source: Source, size: String) throws -> String {
        let path = folder.path("in.mov")
        let input = ["-f", "lavfi", "-i", "color=c=0xC8281E:r=25:d=0.12:s=\(size),format=gbrp"]
        _ = try FFmpeg.run(input + source.arguments(isStandard: size == "320x128") + [path])
        return path
    }

    private func tags(_ path: String) throws -> String {
        try FFmpeg.probe([
            "-select_streams", "v", "-show_entries", "stream=color_range,color_space,color_transfer,color_primaries",
            "-of", "csv=p=0", path,
        ]).first ?? ""
    }

    /// The colour by the file's tags; without a matrix by the one that players assume of the size.
    private func expectColor(_ name: String, _ comment: String) throws {
        let path = folder.path(name)
        let entries = ["-select_streams", "v", "-show_entries", "stream=width,height,color_space", "-of", "csv=p=0"]
        let words = try #require(FFmpeg.probe(entries + [path]).first).split(separator: ",").map(String.init)
        let (width, height) = (try #require(Int(words[0])), try #require(Int(words[1])))
        let isStandard = width <= 1024 && height <= 608
        let matrix = words[2] == "unknown" ? (isStandard ? "smpte170m" : "bt709") : "auto"
        let pixels = try FFmpeg.run([
            "-i", path, "-frames:v", "1", "-vf", "scale=in_color_matrix=\(matrix)", "-pix_fmt", "rgb24", "-f",
            "rawvideo", "-",
        ])
        let middle = (height / 2 * width + width / 2) * 3
        let color = pixels[middle..<middle + 3].map(Int.init)
        let isNear = zip(color, [200, 40, 30]).allSatisfy { abs($0 - $1) <= 4 }
        let tags = try tags(path)
        #expect(isNear, "\(comment): \(color), \(tags)")
    }

    private func run(_ arguments: [String]) throws {
        let result = try Program.run(Program.mediatool, arguments + ["--quiet", "--force"], folder: folder.path)
        #expect(result.status == 0, "\(arguments): \(result.error)")
    }

    @Test(arguments: Source.allCases, ["320x128", "1040x128"])
    func framesAreTaggedAsTheyWereConverted(source: Source, size: String) throws {
        let path = try make(source, size: size)
        for wanted in ["160x120", "1040x128"] {
            try run(["export", path, "-o", "o.mov", "--size", wanted, "--speed", "fastest"])
            try expectColor("o.mov", "\(source) \(size) to \(wanted)")
            // Range, matrix, transfer function and primaries.
            #expect(try tags(folder.path("o.mov")) == "tv,bt709,bt709,bt709")
        }
    }

    @Test(arguments: Source.allCases, ["320x128", "1040x128"])
    func picturesKeepTheirColors(source: Source, size: String) throws {
        let path = try make(source, size: size)
        let ways = [
            ["export", "--height", "90"], ["proxy", "--height", "90"], ["proxy", "--preset", "prores-proxy"],
            ["proxy", "--preset", "dnxhr-lb"],
        ]
        for way in ways {
            try run([way[0], path, "-o", "o.mov"] + way.dropFirst())
            try expectColor("o.mov", "\(source) \(size) \(way)")
        }
    }
}
