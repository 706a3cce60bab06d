import MediaBase
import Testing

@Suite struct MediaLimitsTests {
    @Test(arguments: MediaLimits.Name.allCases) func eachNameIsALimitOfItsOwn(name: MediaLimits.Name) {
        var limits = MediaLimits()
        limits[name] = 7
        #expect(limits[name] == 7)
        for other in MediaLimits.Name.allCases where other != name {
            #expect(limits[other] == MediaLimits()[other] && limits[other] > 7)
        }
    }

    @Test func errorsNameTheLimit() {
        var limits = MediaLimits()
        limits.pixels = 1000
        let error = limits.error(.pixels, "the track has pictures of 40x30")
        #expect(error.code == .limitExceeded)
        #expect(error.message.contains("40x30") && error.message.contains("pixels=1000"))
    }
}
