import MediaBase
import TestSupport
import Testing

@Suite struct TimeExpressionParsingTests {
    /// By hand; the timescale is that of the last decimal written.
    @Test(arguments: [
        ("12.5", "125/10"), ("12.5s", "125/10"), ("12.50", "1250/100"), ("0", "0/1"), ("7s", "7/1"), (".5", "5/10"),
        ("-1", "-1/1"), ("-0.25", "-25/100"), ("1:02:03.250", "3723250/1000"), ("02:03.5", "1235/10"),
        ("90:00", "5400/1"), ("00:00:00.000000001", "1/1000000000"), ("-00:00:01", "-1/1"), ("100:00:00", "360000/1"),
        ("9009/30000", "9009/30000"), ("-1/3", "-1/3"), ("4294967296/8589934592", "1/2"),
        ("0.0000000005", "1/2000000000"), ("999999999999", "999999999999/1"),
    ])
    func exactTimes(text: String, expected: String) throws {
        let parsed = try TimeExpression(parsing: text)
        guard case .time(let time) = parsed else {
            Issue.record("\(text) became \(parsed)")
            return
        }
        #expect(shape(time) == "\(expected) 0")
    }

    /// What scripts print fits no 32-bit timescale.
    ///
    /// By Python: `Fraction(text).limit_denominator(2**31 - 1)`, of 0.1 + 0.2; 89489.5 / 30000; math.pi; 100 / 3; frame
    /// 89 at 29.97.
    @Test(arguments: [
        ("0.30000000000000004", "3/10"), ("2.9829833333333333", "178979/60000"),
        ("3.141592653589793", "3254528439/1035948577"), ("33.333333333333336", "100/3"),
        ("2.9696333333333333", "89089/30000"),
        ("-33.333333333333336", "-100/3"), ("7.12345678901234567", "15117558174/2122222205"),
        ("0.000000000000000001", "0/1"), ("0.999999999999999999", "1/1"), ("0:59.99999999999999", "60/1"),
    ])
    func longDecimalsAreTheNearestTimeAndSaySo(text: String, expected: String) throws {
        let parsed = try TimeExpression(parsing: text)
        guard case .time(let time) = parsed else {
            Issue.record("became \(parsed)")
            return
        }
        #expect(shape(time) == "\(expected) 1")
    }

    @Test func otherForms() throws {
        #expect(try TimeExpression(parsing: "end") == .end)
        #expect(try TimeExpression(parsing: "250f") == .frame(250))
        #expect(try TimeExpression(parsing: "-3f") == .frame(-3))
        #expect(try TimeExpression(parsing: "9223372036854775807f") == .frame(.max))
        #expect(try TimeExpression(parsing: "50%") == .percentage(Rational(1, 2)))
        #expect(try TimeExpression(parsing: "33.3%") == .percentage(Rational(333, 1000)))
        let fields = Timecode.Fields(hours: 1, minutes: 0, seconds: 0, frames: 12)
        #expect(try TimeExpression(parsing: "01:00:00:12") == .timecode(fields))
        let drop = Timecode.Fields(hours: 1, minutes: 0, seconds: 0, frames: 12, isDropFrame: true, isNegative: true)
        #expect(try TimeExpression(parsing: "-01:00:00;12") == .timecode(drop))
    }

    @Test(arguments: [
        "", "-", "--1", "+1", " 1", "1 ", "1.", ".", "-.", "1..2", "1.2.3", "nan", "NaN", "inf", "-inf", "infinity",
        "1e300", "1e5", "0x10", "1,5", "abc", "s", "f", "%", "1.5f", "1ff", "5%%", "1%s", "END", "-end", "end ", "1/",
        "/1", "1/0", "1/2/3", "1.5/2", "1/-2", "1/2s", ":", "1:", ":1", "::", "1:60", "1:5.", "1:.5", "1:2:3.5s",
        "1:60:00", "1:123", "1:2:3:4.5", "1:2;3", "1;2", "1:2:3:4:5", "12:34:56%", "1000000000000",
        "99999999999999999999999999999999999999999", "0.0000000000000000000001", "9223372036854775808f",
        "1/4294967297", "9999999999999:00", "9999999999999:00:00", "１２", "١", "1\u{0}", "10000000000000%",
        "0.00000000000000000001%",
    ])
    func otherTextIsRefusedWithTheForms(text: String) {
        let error = #expect(throws: MediaError.self) { try TimeExpression(parsing: text) }
        #expect(error?.code == .invalidArgument)
        for form in ["12.5s", "[HH:]MM:SS[.fff]", "HH:MM:SS:FF", "HH:MM:SS;FF", "250f", "50%", "9009/30000", "end"] {
            #expect(error?.message.contains(form) == true, "\(form)")
        }
    }

    @Test func messagesStayShort() {
        let error = #expect(throws: MediaError.self) {
            try TimeExpression(parsing: String(repeating: "9", count: 1_000_000))
        }
        #expect((error?.message.utf8.count ?? .max) < 400)
    }

    @Test func noTextTraps() {
        var generator = SeededGenerator(state: 5)
        let alphabet = Array("0123456789:;.-/%fsend ")
        for _ in 0..<50000 {
            let length = Int.random(in: 0..<24, using: &generator)
            let text = String((0..<length).map { _ in alphabet.randomElement(using: &generator) ?? "0" })
            guard let parsed = try? TimeExpression(parsing: text) else { continue }
            if case .time(let time) = parsed { #expect(time.isNumeric, "\(text)") }
        }
    }
}
