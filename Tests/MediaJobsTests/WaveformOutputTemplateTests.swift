import SystemCalls
import SystemPackage
import Testing

@testable import MediaJobs

@Suite struct WaveformOutputTemplateTests {
    @Test func replacesStemAndLevel() {
        let template = WaveformOutputTemplate("peaks/{stem}-{spp}.dat")
        #expect(template.tellsInputs && template.tellsLevels)
        #expect(template.path(for: "in/a.b.wav", samplesPerPixel: 256) == "peaks/a.b-256.dat")
        #expect(template.path(for: "-", samplesPerPixel: 64) == "peaks/stdin-64.dat")
        #expect(template.path(for: "in/.hidden", samplesPerPixel: 2) == "peaks/.hidden-2.dat")
    }

    @Test func whatIsNoMarkStands() {
        let template = WaveformOutputTemplate("{other}{ste}{stem.dat")
        #expect(!template.tellsInputs && !template.tellsLevels)
        #expect(template.path(for: "a.wav", samplesPerPixel: 256) == "{other}{ste}{stem.dat")
        // What was put in is not looked at again.
        #expect(WaveformOutputTemplate("{stem}").path(for: "{spp}.wav", samplesPerPixel: 8) == "{spp}")
    }

    @Test func wordsInBracesThatStandForNothing() {
        func unknown(_ path: FilePath) -> String? { WaveformOutputTemplate(path).unknownPlaceholder }
        #expect(unknown("{stem}-{spp}.dat") == nil)
        #expect(unknown("{}{1}{A}{stem.dat") == nil)
        #expect(unknown("{stem}-{name}.dat") == "{name}")
        #expect(unknown("{{step}}.dat") == "{step}")
    }

    @Test func keepsBytesThatAreNotUTF8() {
        let input = FilePath(bytes: Array("caf".utf8) + [0xE9] + Array(".wav".utf8))
        let path = WaveformOutputTemplate("{stem}.dat").path(for: input, samplesPerPixel: 256)
        #expect(path.bytes == Array("caf".utf8) + [0xE9] + Array(".dat".utf8))
    }
}
