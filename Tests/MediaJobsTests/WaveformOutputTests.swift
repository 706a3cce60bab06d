import MediaJobs
import SystemPackage
import Testing

@Suite struct WaveformOutputTests {
    @Test func extensionsSayTheFormat() {
        func format(_ path: String) -> String? { WaveformOutput.Format(extensionOf: FilePath(path))?.rawValue }
        #expect(
            ["a.dat", "a.JSON", "x/a.csv", "a.txt", "a.PNG", "a.b.svg"].map(format) == [
                "dat", "json", "csv", "txt", "png", "svg",
            ])
        #expect(format("talk.wavesurfer.json") == "wavesurfer" && format("talk.peaksjs.DAT") == "peaksjs")
        #expect(format("wavesurfer.json") == "json" && format("talk.wavesurfer.dat") == "dat")
        #expect(["a", "a.wav", ".json", "-", "a.dat/b", "a."].allSatisfy { format($0) == nil })
    }

    @Test func peaksjsHasEightBits() {
        #expect(WaveformOutput(path: "a", format: .peaksjs, bits: 16).bits == 8)
        #expect(WaveformOutput(path: "a", format: .dat).bits == nil)
    }
}
