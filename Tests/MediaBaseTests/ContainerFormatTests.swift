import MediaBase
import Testing

@Suite struct ContainerFormatTests {
    @Test func aFormatIsKnownByItsFirstName() {
        let family = ContainerFormat("mov,mp4,m4a,3gp,3g2,mj2,later")
        #expect(family == .isoMedia && family.hashValue == ContainerFormat.isoMedia.hashValue)
        #expect(family.name == "mov" && family.names.count == 7 && family.list == "mov,mp4,m4a,3gp,3g2,mj2,later")
        #expect(ContainerFormat("mp4") != .isoMedia)
        #expect(ContainerFormat("").name == "" && ContainerFormat("").names.isEmpty)
    }

    /// Containers with time stamps that name every sample, and one in which they are rounded to milliseconds.
    @Test func soundCanBeLookedUpToTheSample() {
        let exact: [ContainerFormat] = [.isoMedia, .wav, .wave64, .aiff, .caf, .au, .flac]
        #expect(exact.allSatisfy { $0.isSampleExact })
        #expect(![ContainerFormat.matroska, .transportStream, .avi, .mp3, .ogg].contains { $0.isSampleExact })
    }

    @Test func streamsWithoutAnIndexAreScanned() {
        #expect(
            [ContainerFormat.transportStream, .programStream, .mp3, .adts].allSatisfy { $0.needsScan && !$0.hasIndex })
        #expect(![ContainerFormat.isoMedia, .matroska, .avi].contains { $0.needsScan || !$0.hasIndex })
    }
}
