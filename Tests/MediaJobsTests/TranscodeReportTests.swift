import AssetKit
import Inspection
import JSONText
import MediaBase
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import MediaJobs

/// The JSON of proxies and exports: the same members in the same order, except for those that only one of them has.
@Suite struct TranscodeReportTests {
    private func report() -> TranscodeReport {
        var report = TranscodeReport(
            output: "o.mov", preset: "p", sizeBytes: 3, duration: MediaTime(value: 1, timescale: 2), leftOut: [],
            damage: DamageSummary(DamageReport()))
        report.warnings = ["a warning"]
        return report
    }

    private func json(_ report: TranscodeReport) throws -> String {
        String(decoding: try OrderedJSONEncoder(layout: .compact).encode(report), as: UTF8.self)
    }

    private let half = #"{"value":1,"timescale":2,"seconds":0.5}"#

    @Test func anExport() throws {
        var report = report()
        report.copied = false
        report.subtitles = [.init(codec: "mov_text", language: "eng")]
        report.audio = [
            .init(
                codec: "aac", sampleRate: 48000, channels: 2, channelLayout: "stereo",
                delivered: .init(start: MediaTime(value: 1, timescale: 2), end: .positiveInfinity))
        ]
        let infinite = #"{"value":0,"timescale":0,"seconds":null,"flags":["positiveInfinity"]}"#
        #expect(
            try json(report)
                == #"{"output":"o.mov","preset":"p","copied":false,"sizeBytes":3,"duration":\#(half),"audio":[{"#
                + #""codec":"aac","sampleRate":48000,"channels":2,"channelLayout":"stereo","delivered":{"#
                + #""start":\#(half),"end":\#(infinite)}}],"subtitles":[{"codec":"mov_text","language":"eng"}],"#
                + #""leftOut":[],"warnings":["a warning"]}"#)
    }

    @Test func aProxy() throws {
        var report = report()
        report.video = .init(
            trackIndex: 0, trackID: 1, codec: "h264", encodedSize: Dimensions(width: 4, height: 2), frameCount: 5)
        report.audio = [.init(trackIndex: 1, trackID: 2, codec: "aac", copied: true, sampleRate: 48000, channels: 3)]
        report.comparison = .init(
            changes: ["a change"], differences: [.init(name: "dates", wanted: "a", found: "b")],
            checks: [.init(name: "dates", trackIndex: 1, passed: false, wanted: "a", found: "b")])
        #expect(
            try json(report)
                == #"{"output":"o.mov","preset":"p","sizeBytes":3,"duration":\#(half),"video":{"trackIndex":0,"#
                + #""trackID":1,"codec":"h264","encodedSize":{"width":4,"height":2},"frameCount":5},"audio":[{"#
                + #""trackIndex":1,"trackID":2,"codec":"aac","copied":true,"sampleRate":48000,"channels":3}],"#
                + #""leftOut":[],"changes":["a change"],"differences":[{"name":"dates","wanted":"a","found":"b"}],"#
                + #""checks":[{"name":"dates","trackIndex":1,"passed":false,"wanted":"a","found":"b"}]}"#)
    }

    @Test func pathsThatAreNotUTF8AndDamage() throws {
        var report = report()
        report.output = .init(bytes: [0xFF])
        report.damage.packets = 2
        let text = try json(report)
        #expect(text.hasPrefix(#"{"output":"\#u{FFFD}","outputBytes":"/w==","preset""#))
        #expect(text.hasSuffix(#""damage":{"packets":2,"truncated":false,"ranges":[],"skippedBytes":0}}"#))
    }

    /// The reasons are words that follow "because".
    @Test func leftOutTracksAreNamed() throws {
        let source = try Asset(path: FilePath(try Fixtures.path("av.mp4"))).loadNow(.tracks)
        let left = LeftOutTrack.others(of: source, besides: source.filter { $0.mediaType == .audio })
        let track = try #require(left.first)
        #expect(left.count == 1 && track.warning == "track 0 (video) was left out: it was not asked for")
        #expect(
            try String(decoding: OrderedJSONEncoder(layout: .compact).encode(track), as: UTF8.self)
                == #"{"trackIndex":0,"trackID":1,"type":"video","codec":"h264","reason":"it was not asked for"}"#)
    }
}
