import AssetKit
import MediaBase
import SystemPackage
import TestSupport
import Testing

@testable import MediaJobs

/// The tracks and ranges that are planned for one file.
@Suite struct TranscodePlanTests {
    private func plan(
        _ name: String, _ preset: TranscodeRequest.Preset, _ type: MediaFileType = .mov,
        _ change: (inout TranscodeRequest) -> Void = { _ in }
    ) throws -> TranscodePlan {
        var request = TranscodeRequest(preset: preset)
        change(&request)
        return try TranscodePlan(request, file: Asset(path: FilePath(try Fixtures.path(name))), fileType: type)
    }

    private let proxy = TranscodeRequest.Preset.proxy(ProxyPreset.all[0])

    /// What is done with each track, in the order of the output.
    private func tracks(_ plan: TranscodePlan) -> [String] {
        plan.tracks.map { track in
            switch track {
            case .video(_, .encode, let isTurned): isTurned ? "turned video" : "video"
            case .video: "copied video"
            case .audio(_, .encode): "audio"
            case .audio: "copied audio"
            case .subtitles: "subtitles"
            case .data: "data"
            case .frames: "frames"
            case .mix: "mix"
            }
        }
    }

    @Test func tracksAreEncodedOrCopied() throws {
        #expect(try tracks(plan("av.mp4", proxy)) == ["video", "audio"])
        #expect(try tracks(plan("av.mp4", .export(nil))) == ["video", "audio"])
        #expect(try tracks(plan("av.mp4", .export(.passthrough))) == ["copied video", "copied audio"])
        #expect(try tracks(plan("av.mp4", .export(nil), .wav)) == ["audio"])
        #expect(try tracks(plan("av.mp4", proxy) { $0.audio = .copy }) == ["video", "copied audio"])
        #expect(try tracks(plan("av.mp4", .export(nil)) { $0.audio = .none }) == ["video"])
        #expect(try tracks(plan("av.mp4", .export(nil)) { $0.export.frameRate = Rational(12) }) == ["frames", "audio"])
    }

    /// A proxy keeps the order of the source, an export begins with the video.
    @Test func theOrderOfTracks() throws {
        let source = try Asset(path: FilePath(try Fixtures.path("many-tracks.mkv"))).loadNow(.tracks)
        let copied = try plan("many-tracks.mkv", proxy).tracks.compactMap(\.sources.first?.index)
        #expect(copied == copied.sorted() && copied.count > 1)
        let exported = try plan("many-tracks.mkv", .export(nil))
        #expect(exported.tracks.first?.isVideo == true)
        let others = Set(source.map(\.index)).subtracting(exported.tracks.flatMap(\.sources).map(\.index))
        #expect(Set(exported.leftOut.map(\.trackIndex)).isSubset(of: others))
    }

    /// A rotation is baked if that is asked for, or if the file cannot store it.
    @Test func rotations() throws {
        let name = "mirrored-rotated-90.mp4"
        #expect(try tracks(plan(name, proxy)).first == "video")
        #expect(try tracks(plan(name, proxy) { $0.bakesRotation = true }).first == "turned video")
        #expect(try tracks(plan(name, .export(nil))).first == "video")
        #expect(try tracks(plan(name, .export(nil), .mkv)).first == "turned video")
    }

    @Test func ranges() throws {
        for preset in [proxy, .export(nil)] {
            let whole = try plan("av.mp4", preset)
            #expect(whole.requested == nil && !whole.namesEnd && whole.range.start == .zero)
            let part = try plan("av.mp4", preset) {
                $0.start = .time(MediaTime(value: 1, timescale: 2))
                $0.end = .time(MediaTime(value: 3, timescale: 2))
            }
            #expect(part.range.start.seconds == 0.5 && part.range.end.seconds == 1.5 && part.namesEnd)
            let late = #expect(throws: MediaError.self) {
                try plan("av.mp4", preset) { $0.start = .time(MediaTime(value: 1000, timescale: 1)) }
            }
            #expect(late?.code == .outOfRange)
        }
    }

    @Test func filesWithoutTheWantedTracks() throws {
        for (name, preset, type, code) in [
            ("audio-only.mp4", proxy, MediaFileType.mov, MediaError.Code.noSuchTrack),
            ("artwork.m4a", proxy, .mov, .noSuchTrack),
            ("qc-moving.mkv", .export(nil), .wav, .noSuchTrack),
        ] {
            let error = #expect(throws: MediaError.self) { try plan(name, preset, type) }
            #expect(error?.code == code, "\(name)")
        }
        let error = #expect(throws: MediaError.self) {
            try plan("av.mp4", .export(nil), .wav) { $0.videoTrack = .index(0) }
        }
        #expect(error?.code == .unsupported)
    }
}
