import MediaBase
import Testing

@testable import Network

/// Judges answers of servers, and the networks that they are in.
@Suite struct AnswerTests {
    @Test func rangesAreParsed() {
        let range = ContentRange("bytes 100-199/1000")
        #expect(range?.start == 100 && range?.end == 200 && range?.size == 1000)
        #expect(ContentRange("BYTES 0-0/*")?.size == nil)
        #expect(ContentRange("bytes 0-0/*")?.end == 1)
    }

    @Test(arguments: [
        "", "bytes */1000", "bytes 5-4/10", "bytes 0-9", "items 0-9/10", "bytes 0-9/x", "bytes -9/10", "bytes 0-/10",
        "bytes 0-18446744073709551615/*", "bytes 0-9/10/11",
    ])
    func otherRangesAreRefused(text: String) { #expect(ContentRange(text) == nil) }

    @Test(arguments: [
        (401, "permissionDenied", false), (403, "permissionDenied", false), (404, "notFound", false),
        (408, "inputOutput", true), (410, "notFound", false), (416, "inputOutput", false), (429, "inputOutput", true),
        (500, "inputOutput", true), (501, "inputOutput", false), (503, "inputOutput", true),
    ])
    func statusesAreJudged(status: Int, code: String, mayPass: Bool) {
        var answer = Transfer.Answer()
        answer.status = status
        answer.headers["retry-after"] = "7"
        answer.body = Array("<Error><Code>SlowDown</Code><Message>x</Message></Error>".utf8)
        let failure = RetryPolicy.failure(in: answer)
        #expect(failure?.error.code.rawValue == code)
        #expect(failure?.mayPass == mayPass)
        #expect(failure?.pause == (mayPass ? 7 : nil))
        #expect(failure?.error.message.hasSuffix("(HTTP \(status), SlowDown)") == true)
    }

    @Test(arguments: [200, 206, 302])
    func successesAreNoFailures(status: Int) {
        var answer = Transfer.Answer()
        answer.status = status
        #expect(RetryPolicy.failure(in: answer) == nil)
    }

    @Test func pausesGrowAndEnd() {
        for number in 0..<40 {
            let pause = RetryPolicy.pause(before: number, asked: nil)
            let longest = Duration.milliseconds(250 << min(number, 5))
            #expect((longest / 2...longest).contains(pause))
        }
        #expect(RetryPolicy.pause(before: 0, asked: 3) == .seconds(3))
        #expect(RetryPolicy.pause(before: 0, asked: 86_400) == .seconds(30))
        #expect(RetryPolicy.pause(before: 0, asked: -5) == .zero)
    }

    /// IANA's special-purpose registries, and addresses of public servers.
    @Test(arguments: [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "fd12::1", "::ffff:10.0.0.1",
        "64:ff9b::7f00:1", "ff02::1",
    ])
    func privateNetworksAreKnown(number: String) {
        #expect(!NetworkRange.isPublic(number: number))
        #expect(NetworkRange.isPrivate(host: number.contains(":") ? "[\(number)]" : number))
    }

    @Test(arguments: [
        "93.184.216.34", "172.15.0.1", "172.32.0.1", "100.63.0.1", "2001:4860:4860::8888", "::ffff:8.8.8.8",
    ])
    func publicNetworksAreKnown(number: String) {
        #expect(NetworkRange.isPublic(number: number))
        #expect(!NetworkRange.isPrivate(host: number.contains(":") ? "[\(number)]" : number))
    }

    @Test func namesOfThisMachineArePrivate() {
        #expect(NetworkRange.isPrivate(host: "localhost") && NetworkRange.isPrivate(host: "x.localhost"))
        #expect(!NetworkRange.isPrivate(host: "example.com"))
    }
}
