import AssetKit
import Testing

@Suite struct OutputSettingsAssistantTests {
    private func assistant(
        _ preset: OutputSettingsAssistant.Preset, _ width: Int, _ height: Int, aspect: Rational? = nil
    ) -> OutputSettingsAssistant {
        var assistant = OutputSettingsAssistant(preset: preset)
        var format = FormatDescription(mediaType: .video, codec: "h264")
        format.video = VideoFormat(
            encodedSize: Dimensions(width: width, height: height), sampleAspectRatio: aspect)
        assistant.sourceVideoFormat = format
        return assistant
    }

    @Test func withoutASourceThePresetIsFilled() {
        let assistant = OutputSettingsAssistant(preset: .size1280x720)
        #expect(assistant.videoSettings.dimensions == Dimensions(width: 1280, height: 720))
        #expect(assistant.videoSettings.expectedFrameRate == Rational(30))
        #expect(assistant.audioSettings.sampleRate == 44100)
        #expect(assistant.audioSettings.channelLayout == .stereo)
        #expect(assistant.audioSettings.bitRate == 128_000)
        #expect(assistant.outputFileType == .mov)
    }

    @Test func picturesAreNeverMadeLarger() {
        #expect(assistant(.size1920x1080, 640, 480).videoSettings.dimensions == Dimensions(width: 640, height: 480))
        #expect(assistant(.size960x540, 1080, 1920).videoSettings.dimensions == Dimensions(width: 540, height: 960))
        #expect(assistant(.hevc3840x2160, 8192, 4320).videoSettings.codec == .hevc)
    }

    @Test func theShapeStaysExact() throws {
        let settings = assistant(.size640x480, 1440, 1080, aspect: Rational(4, 3)).videoSettings
        let size = try #require(settings.dimensions)
        let shape = Rational(Int64(size.width), Int64(size.height)).multiplied(by: settings.pixelAspectRatio ?? .zero)
        #expect(shape == Rational(16, 9))
    }

    @Test func frameDurationsAreHonoured() {
        var assistant = assistant(.size1280x720, 1920, 1080)
        assistant.sourceVideoAverageFrameDuration = MediaTime(value: 1001, timescale: 60000)
        let fast = assistant.videoSettings
        #expect(fast.expectedFrameRate == Rational(60000, 1001))
        #expect(fast.maximumKeyFrameInterval == 120)
        assistant.sourceVideoAverageFrameDuration = MediaTime(value: 1, timescale: 15)
        #expect(assistant.videoSettings.bitRate ?? 0 < fast.bitRate ?? 0)
        assistant.sourceVideoMinimumFrameDuration = MediaTime(value: 1, timescale: 60)
        #expect(assistant.videoSettings.maximumKeyFrameInterval == 120)
        assistant.sourceVideoAverageFrameDuration = .indefinite
        #expect(assistant.videoSettings.expectedFrameRate == Rational(30))
    }

    @Test func presetsAreFoundByTheirNames() {
        for preset in OutputSettingsAssistant.Preset.allCases {
            #expect(OutputSettingsAssistant.Preset(rawValue: preset.rawValue) == preset)
        }
        #expect(OutputSettingsAssistant.Preset(rawValue: "9x9") == nil)
    }
}
