import Foundation
import MediaBase
import Peaks
import SystemPackage
import TestSupport
import Testing

@testable import MediaJobs

@Suite struct PeaksFileJobTests {
    private let folder: TemporaryFolder
    /// The golden peaks of six channels, 64 samples a point, 16 bits.
    private let golden = Repository.path("golden/waveform/6ch-split-64-16bit.dat")

    init() throws { folder = try TemporaryFolder() }

    private func run(
        _ path: String, _ name: String, _ format: WaveformOutput.Format, _ scale: WaveformOutput.Scale = .standard,
        bits: Int? = nil, _ change: (inout WaveformOptions) throws -> Void = { _ in }
    ) throws -> PeaksFileReport {
        var options = WaveformOptions()
        try change(&options)
        let input = try #require(try PeaksFileInput(path: FilePath(path)))
        let output = WaveformOutput(path: FilePath(folder.path(name)), format: format, scale: scale, bits: bits)
        return try PeaksFileJob(input, options: options)
            .run([output], into: OutputFileSet(force: false, inputs: []))
    }

    private func golden(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: Repository.path("golden/waveform/" + name))))
    }

    /// The goldens of other levels, depths and forms were made from the samples, not from these peaks.
    @Test func levelsFormsAndDepthsAreThoseOfTheSamples() throws {
        _ = try run(golden, "a.dat", .dat, .level(.samplesPerPixel(256)))
        #expect(try folder.bytes("a.dat") == golden("6ch-split-256-16bit.dat"))
        _ = try run(golden, "b.json", .json)
        #expect(try folder.bytes("b.json") == golden("6ch-split-64-16bit.json"))
        _ = try run(folder.path("b.json"), "c.dat", .peaksjs, .level(.samplesPerPixel(256)))
        #expect(try folder.bytes("c.dat") == golden("6ch-split-256-8bit.dat"))
    }

    /// 8 bits become 16 by 256; what was cut off stays so.
    @Test func depthsThatGrow() throws {
        let coarse = Repository.path("golden/waveform/1ch-mixed-64-8bit.json")
        _ = try run(coarse, "a.dat", .dat, bits: 16)
        let values = try PeakFile.decode(folder.bytes("a.dat")).data
        #expect(try values == PeakFile.decode(golden("1ch-mixed-64-8bit.dat")).data.map { $0 * 256 })
    }

    @Test func onlyExactMultiples() throws {
        for level in [63, 65, 96, 32] {
            #expect { try run(golden, "a.dat", .dat, .level(.samplesPerPixel(level))) } throws: {
                ($0 as? MediaError)?.code == .invalidArgument
            }
        }
        #expect(try folder.names().isEmpty)
    }

    /// 4990 frames are 78 points of 64; 0.05 s to 0.06 s are frames 2400 to 2880, which points 37 to 44 hold.
    @Test func rangesAreWidenedToPoints() throws {
        let report = try run(golden, "a.csv", .csv) {
            $0.start = try TimeExpression(parsing: "0.05")
            $0.end = try TimeExpression(parsing: "0.06")
            $0.channels = .single(2)
        }
        #expect(report.start == MediaTime(value: 37 * 64, timescale: 48000))
        #expect(report.duration == MediaTime(value: 8 * 64, timescale: 48000))
        let all = try PeakFile.decode(golden("6ch-split-64-16bit.dat"))
        let wanted = (37..<45).map { "\(all.data[$0 * 12 + 4]),\(all.data[$0 * 12 + 5])\n" }.joined()
        #expect(String(decoding: try folder.bytes("a.csv"), as: UTF8.self) == wanted)
        #expect(report.channels.count == 1 && report.peaksFile.channels == 6 && report.peaksFile.points == 78)
    }

    @Test func whatIsNotThereIsRefused() throws {
        func code(_ change: (inout WaveformOptions) throws -> Void) throws -> MediaError.Code? {
            do {
                _ = try run(golden, "never.dat", .dat, .standard, change)
                return nil
            } catch let error as MediaError { return error.code }
        }
        #expect(try code { $0.channels = .single(6) } == .invalidArgument)
        #expect(try code { $0.track = try TrackSelector(parsing: "0") } == .invalidArgument)
        #expect(try code { $0.start = try TimeExpression(parsing: "1") } == .outOfRange)
        #expect(try code { $0.end = try TimeExpression(parsing: "0") } == .invalidArgument)
        #expect(try code { $0.start = try TimeExpression(parsing: "5f") } == .invalidArgument)
        #expect(try folder.names().isEmpty)
    }
}
