import AssetKit
import MediaBase
import SystemPackage
import TestSupport
import Testing

@testable import MediaJobs

/// The settings that a request makes of a preset, a track and its options.
@Suite struct TranscodeRequestTests {
    private func track(_ type: MediaType = .video, of name: String = "av.mp4") throws -> AssetTrack {
        let tracks = try Asset(path: FilePath(try Fixtures.path(name))).loadNow(.tracks)
        return try #require(tracks.first { $0.mediaType == type })
    }

    private func preset(_ name: String) throws -> ProxyPreset {
        try #require(ProxyPreset.all.first { $0.name == name })
    }

    @Test func presetsHaveNamesOfTheirOwn() {
        #expect(Set(ProxyPreset.all.map(\.name)).count == ProxyPreset.all.count)
        #expect(ProxyPreset.all.allSatisfy { !$0.summary.isEmpty && [.mov, .mp4].contains($0.fileType) })
    }

    /// The video codec, the keyframe interval for 25 frames per second, and the audio codec in QuickTime and MPEG-4.
    @Test(arguments: [
        ("h264-540p", "h264", 25, "aac", "aac"), ("h264-720p", "h264", 25, "aac", "aac"),
        ("h264-1080p", "h264", 25, "aac", "aac"), ("h264-intra-540p", "h264", 1, "pcm", "aac"),
        ("prores-proxy", "proRes422Proxy", nil, "pcm", "aac"), ("dnxhr-lb", "dnxhrLB", nil, "pcm", "aac"),
        ("web", "h264", 50, "aac", "aac"),
    ])
    func aPresetHasItsSettings(name: String, codec: String, interval: Int?, mov: String, mp4: String) throws {
        let request = TranscodeRequest(preset: .proxy(try preset(name)))
        let (video, audio) = (try track(), try track(.audio))
        let settings = try #require(try request.videoSettings(for: video, of: nil, in: .mov))
        #expect(settings.codec.rawValue == codec && settings.maximumKeyFrameInterval == interval)
        #expect(try request.audioSettings(for: audio, in: .mov).codec.rawValue == mov)
        #expect(try request.audioSettings(for: audio, in: .mp4).codec.rawValue == mp4)
        #expect((request.audioChange(in: .mp4) != nil) == (mov != mp4))
    }

    @Test func optionsReplaceThePresetsSettings() throws {
        for kind in [TranscodeRequest.Preset.proxy(try preset("h264-540p")), .export(.mediumQuality)] {
            var request = TranscodeRequest(preset: kind)
            (request.quality, request.keyFrameInterval, request.height, request.speed) = (30, 7, 90, .fast)
            (request.audioCodec, request.audioBitRate) = (.opus, 64_000)
            var settings = try #require(try request.videoSettings(for: try track(), of: nil, in: .mov))
            #expect(settings.quality == 30 && settings.bitRate == nil && settings.speed == .fast)
            #expect(settings.maximumKeyFrameInterval == 7 && settings.dimensions?.height == 90)
            let audio = try request.audioSettings(for: try track(.audio), in: .mkv)
            #expect(audio.codec == .opus && audio.bitRate == 64_000)
            (request.quality, request.bitRate) = (nil, 500_000)
            settings = try #require(try request.videoSettings(for: try track(), of: nil, in: .mov))
            #expect(settings.quality == nil && settings.bitRate == 500_000)
        }
    }

    @Test func codecsWithOneQualityRefuseOthers() throws {
        for kind in [TranscodeRequest.Preset.proxy(try preset("prores-proxy")), .export(.proRes422LPCM)] {
            var request = TranscodeRequest(preset: kind)
            request.quality = 20
            #expect(throws: MediaError.self) { try request.videoSettings(for: try track(), of: nil, in: .mov) }
        }
    }

    @Test(arguments: [
        ("a.mov", true), ("a.mp4", true), ("a.mkv", false), ("a.wav", false), ("a.txt", nil), ("a", nil),
    ])
    func theExtensionDeterminesTheType(name: String, isForProxies: Bool?) {
        let (path, proxy) = (FilePath(name), TranscodeRequest.Preset.proxy(ProxyPreset.all[0]))
        #expect((try? TranscodeRequest.Preset.export(nil).fileType(of: path)) != nil || isForProxies == nil)
        #expect(((try? proxy.fileType(of: path)) != nil) == (isForProxies ?? false))
    }

    /// The default preset, and the audio codec without a preset.
    @Test(arguments: [
        (MediaFileType.mov, "highestQuality", "aac"), (.webm, "vp9HighestQuality", "opus"), (.wav, "appleM4A", "pcm"),
        (.flac, "appleM4A", "flac"), (.ogg, "appleM4A", "opus"), (.mka, "appleM4A", "opus"), (.m4a, "appleM4A", "aac"),
    ])
    func aTypeOfFileHasADefaultPreset(type: MediaFileType, name: String, codec: String) throws {
        let request = TranscodeRequest(preset: .export(nil))
        #expect(request.presetName(in: type) == name && !request.copies)
        #expect(try request.audioSettings(for: try track(.audio), in: type).codec.rawValue == codec)
    }
}
