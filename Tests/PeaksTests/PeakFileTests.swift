import MediaBase
import Peaks
import Testing

@Suite struct PeakFileTests {
    /// The header of a version 2 file, as the format is written down, and data after it.
    private func file(
        version: UInt32 = 2, flags: UInt32 = 0, rate: UInt32 = 48000, samplesPerPixel: UInt32 = 256,
        length: UInt32 = 1, channels: UInt32? = 1, data: [UInt8] = [0, 0, 0, 0]
    ) -> [UInt8] {
        ([version, flags, rate, samplesPerPixel, length] + (channels.map { [$0] } ?? []))
            .flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) } } + data
    }

    private func code(_ bytes: [UInt8]) -> MediaError.Code? {
        do throws(MediaError) {
            _ = try PeakFile.decode(bytes)
            return nil
        } catch { return error.code }
    }

    private func code(_ text: String) -> MediaError.Code? { code([UInt8](text.utf8)) }

    @Test(arguments: Golden.cases)
    func readsBothForms(golden: Golden.Case) throws {
        let binary = try Golden.bytes("\(golden).dat")
        let text = try Golden.bytes("\(golden).json")
        let peaks = try PeakFile.decode(binary)
        #expect(try PeakFile.decode(text) == peaks)
        #expect(peaks.bits == golden.bits && peaks.samplesPerPixel == golden.samplesPerPixel)
        #expect(peaks.channels == (golden.isSplit ? golden.channels : 1) && peaks.sampleRate == 48000)
        #expect(try PeakFile.encode(peaks, as: .binary) == binary)
        #expect(try PeakFile.encode(peaks, as: .json) == text)
        #expect(PeakFile.format(ofPrefix: binary.prefix(20)) == .binary)
        #expect(PeakFile.format(ofPrefix: text.prefix(20)) == .json)
    }

    @Test func everyTruncationIsRefused() throws {
        let binary = try Golden.bytes("2ch-split-256-8bit.dat")
        let text = try Golden.bytes("2ch-split-256-8bit.json")
        for count in 0..<binary.count { #expect(code(Array(binary.prefix(count))) != nil) }
        // The last byte of the text is its line break.
        for count in 0..<text.count - 1 { #expect(code(Array(text.prefix(count))) != nil) }
    }

    @Test func lyingHeaders() {
        #expect(code(file()) == nil)
        #expect(code(file(version: 1, channels: nil)) == nil)
        #expect(code(file(version: 3)) == .unknownFormat)
        #expect(code([]) == .unknownFormat)
        #expect(code(file(flags: 2)) == .damaged)
        #expect(code(file(rate: 0)) == .damaged)
        #expect(code(file(rate: 0x8000_0000)) == .damaged)
        #expect(code(file(samplesPerPixel: 1)) == .damaged)
        #expect(code(file(samplesPerPixel: 0xFFFF_FFFF)) == .damaged)
        #expect(code(file(channels: 0)) == .damaged)
        #expect(code(file(channels: 25)) == .damaged)
        #expect(code(file(channels: 0xFFFF_FFFF)) == .damaged)
        #expect(code(file(length: 2)) == .damaged)
        #expect(code(file(length: 0)) == .damaged)
        #expect(code(file(length: .max)) == .damaged)
        #expect(code(file(length: .max, channels: 24)) == .damaged)
        #expect(code(file(flags: 1)) == .damaged)
        #expect(code(file(data: [0, 0, 0, 0, 0])) == .damaged)
        #expect(code(file(length: 0, data: [])) == nil)
    }

    private let head = "{\"version\":2,\"channels\":1,\"sample_rate\":8000,\"samples_per_pixel\":2,\"bits\":16,"

    @Test func textInOtherOrder() throws {
        // Version 1 as audiowaveform wrote it: no version, no channels.
        let text = " {\"data\": [ -3 ,\n4 ], \"bits\":8,\"length\":1,\"sample_rate\":8000,\"samples_per_pixel\":2}\r\n"
        let peaks = try PeakFile.decode([UInt8](text.utf8))
        #expect(peaks.data == [-3, 4] && peaks.channels == 1 && peaks.bits == 8 && peaks.samplesPerPixel == 2)
    }

    @Test(arguments: [
        "\"length\":2,\"data\":[1,2]}", "\"length\":1,\"data\":[1,2,3]}", "\"length\":-1,\"data\":[1,2]}",
        "\"length\":1,\"data\":[1,32768]}", "\"length\":1,\"data\":[1,2.5]}", "\"length\":1,\"data\":[1,2e3]}",
        "\"length\":1,\"data\":[1,02]}", "\"length\":1,\"data\":[1,]}", "\"length\":1,\"data\":[1 2]}",
        "\"length\":1,\"data\":[1,2]} x", "\"length\":1,\"data\":[1,2],}", "\"length\":1,\"data\":[1,2],\"bits\":16}",
        "\"length\":1,\"data\":[1,2],\"data\":[1,2]}", "\"length\":1}", "\"data\":[1,2]}",
        "\"length\":1,\"data\":null}",
        "\"length\":99999999999999999999,\"data\":[1,2]}", "\"length\":1,\"data\":[1,99999999999999999999]}",
        "\"length\":1,\"data\":[1,2],\"other\":1}", "\"length\":1,\"data\":[[1,2]]}", "\"length\":1,\"data\":[-,2]}",
        "\"length\":1,\"data\":[1,--2]}",
    ])
    func damagedText(rest: String) {
        #expect(code(head + rest) == .damaged)
    }

    @Test func keysMayBeEscaped() {
        #expect(code(head + "\"le\\u006egth\":1,\"data\":[1,2]}") == nil)
    }

    @Test func textLimits() {
        func text(_ rate: Int, _ samplesPerPixel: Int, _ channels: Int, bits: Int = 16) -> String {
            "{\"channels\":\(channels),\"sample_rate\":\(rate),\"samples_per_pixel\":\(samplesPerPixel),"
                + "\"bits\":\(bits),\"length\":0,\"data\":[]}"
        }
        #expect(code(text(8000, 2, 24)) == nil)
        #expect(code(text(0, 2, 1)) == .damaged)
        #expect(code(text(8000, 1, 1)) == .damaged)
        #expect(code(text(8000, 1 << 31, 1)) == .damaged)
        #expect(code(text(8000, 2, 25)) == .damaged)
        #expect(code(text(8000, 2, 0)) == .damaged)
        #expect(code(text(8000, 2, 1, bits: 12)) == .damaged)
        let version3 = "{\"version\":3,\"sample_rate\":1,\"samples_per_pixel\":2,\"length\":0,\"data\":[]}"
        #expect(code(version3) == .unsupported)
    }

    @Test func whatAFileCannotHold() throws {
        let one = try Peaks(sampleRate: 8000, spacing: Peaks.Spacing(samples: 1), channels: 1, data: [])
        let fraction = try Peaks(sampleRate: 8000, spacing: Peaks.Spacing(samples: 5, points: 2), channels: 1, data: [])
        let many = try Peaks(sampleRate: 8000, spacing: Peaks.Spacing(samples: 2), channels: 25, data: [])
        for peaks in [one, fraction, many] {
            #expect(throws: MediaError.self) { try PeakFile.encode(peaks, as: .binary) }
            #expect(throws: MediaError.self) { try PeakFile.encode(peaks, as: .json) }
        }
    }

    @Test func foreignFilesAreNotPeaks() {
        #expect(PeakFile.format(ofPrefix: []) == nil)
        #expect(PeakFile.format(ofPrefix: [UInt8]("RIFF\u{24}\u{8}\u{0}\u{0}WAVEfmt     ".utf8)) == nil)
        #expect(PeakFile.format(ofPrefix: [UInt8](repeating: 0, count: 64)) == nil)
    }
}
