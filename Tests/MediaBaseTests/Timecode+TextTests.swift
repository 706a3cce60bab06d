import MediaBase
import Testing

@Suite struct TimecodeTextTests {
    private func refusal(_ text: String, _ rate: Timecode.Rate) -> MediaError? {
        do {
            _ = try Timecode(text, rate: rate)
            return nil
        } catch { return error }
    }

    @Test(arguments: ["00:01:00;00", "00:01:00;01", "00:09:00;01", "11:59:00;00"])
    func droppedNumbersAreRefused(text: String) throws {
        let error = try #require(refusal(text, try rate(30000, 1001, drop: true)))
        #expect(error.code == .invalidArgument)
        #expect(error.message.contains("leaves out"))
        #expect(error.message.contains("frame 02"))
    }

    @Test func droppedNumbersAtTheDoubleRate() throws {
        let fast = try rate(60000, 1001, drop: true)
        #expect(refusal("00:01:00;03", fast)?.code == .invalidArgument)
        #expect(refusal("00:01:00;04", fast) == nil)
        #expect(refusal("00:10:00;00", fast) == nil)
    }

    @Test func theSeparatorHasToFitTheRate() throws {
        #expect(refusal("00:00:10:00", try rate(30000, 1001, drop: true))?.message.contains("HH:MM:SS;FF") == true)
        #expect(refusal("00:00:10;00", try rate(30000, 1001))?.message.contains("HH:MM:SS:FF") == true)
    }

    @Test(arguments: [
        "", ":", ";", "::::", ":::", "1:2:3", "1:2:3:", ":1:2:3", "1:2:3:4:5", "00:60:00:00", "00:00:60:00",
        "00:00:00:25", "00:00:00:0001", "0a:00:00:00", "00:00:00:0.5", "00:00: 1:00", "+1:00:00:00", "--1:00:00:00",
        "00;00;00;00", "9999999999999:00:00:00", "٠٠:00:00:00", "00:00:00:00\n", "1e5:00:00:00",
    ])
    func otherTextIsRefused(text: String) throws {
        #expect(refusal(text, try rate(25))?.code == .invalidArgument)
    }

    @Test func fieldsOutOfRangeAreRefused() throws {
        let rate = try rate(25)
        for fields in [
            Timecode.Fields(hours: -1, minutes: 0, seconds: 0, frames: 0),
            .init(hours: 0, minutes: -1, seconds: 0, frames: 0), .init(hours: 0, minutes: .max, seconds: 0, frames: 0),
            .init(hours: 0, minutes: 0, seconds: .min, frames: 0), .init(hours: 0, minutes: 0, seconds: 0, frames: -1),
            .init(hours: .max, minutes: 0, seconds: 0, frames: 0),
        ] {
            #expect(throws: MediaError.self, "\(fields)") { try Timecode(fields, rate: rate) }
        }
    }

    @Test func textHasTheDigitsItNeeds() throws {
        #expect(try Timecode("1:2:3:4", rate: try rate(25)).description == "01:02:03:04")
        #expect(try Timecode("-00:00:01:00", rate: try rate(25)).frameNumber == -25)
        #expect(try Timecode("123:00:00:00", rate: try rate(25)).description == "123:00:00:00")
        #expect(try Timecode("00:00:00:119", rate: try rate(120)).description == "00:00:00:119")
        #expect(try Timecode("00:00:00:5", rate: try rate(120)).description == "00:00:00:005")
        #expect(try Timecode("00:00:00:99", rate: try rate(100)).description == "00:00:00:99")
    }

    @Test func fieldsReadWithoutARate() throws {
        let fields = try Timecode.Fields(parsing: "01:02:03;04")
        #expect(fields == Timecode.Fields(hours: 1, minutes: 2, seconds: 3, frames: 4, isDropFrame: true))
        #expect(fields.description == "01:02:03;04")
        #expect(throws: MediaError.self) { try Timecode.Fields(parsing: "01:02:03") }
    }
}
