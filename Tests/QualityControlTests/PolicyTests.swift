import Inspection
import MediaBase
import Testing

@testable import QualityControl

/// Policies read from text, without a process.
@Suite struct PolicyTests {
    private static func policy(_ rules: String) throws(MediaError) -> Policy {
        try Policy(yaml: "rules:\n\(rules)\n", named: "test")
    }

    @Test func rulesAreReadWithTheirDefaults() throws {
        let policy = try Self.policy(
            """
              - {id: a, check: black}
              - {id: b, check: black, threshold: 0.2, minDuration: 1, tail: 5, severity: warn, message: "m"}
              - {id: c, check: damage}
              - {id: d, check: dualMono, equals: true}
              - {id: e, any: [{field: "tracks[type=video].video.frameRate.nominal", oneOf: [25, 30000/1001]}]}
            pairs: [[a:0, 3]]
            """)
        #expect(policy.name == "test" && policy.rules.map(\.severity) == [.fail, .warn, .fail, .fail, .fail])
        #expect(policy.rules[1].message == "m" && policy.pairs.map(\.second) == [.index(3)])
        guard case .check(.black, let first?, Stretch(), _) = policy.rules[0].condition,
            case .check(.black, let second?, Stretch(tail: 5), _) = policy.rules[1].condition,
            case .check(.damage, nil, _, let damage) = policy.rules[2].condition,
            case .check(.dualMono, nil, _, let dual) = policy.rules[3].condition,
            case .any(let parts) = policy.rules[4].condition, case .field(_, let rate)? = parts.first
        else {
            Issue.record("\(policy.rules)")
            return
        }
        #expect(first == RunParameters(threshold: 0.1, minimumSeconds: 2))
        #expect(second == RunParameters(threshold: 0.2, minimumSeconds: 1))
        #expect(damage.text == "at most 0" && dual.text == "true")
        #expect(rate.isAboutRate && rate.text == "one of 25, 30000/1001")
        let request = policy.request
        #expect(request.checks == [.black, .damage, .dualMono] && request.runs.count == 2)
        #expect(request.needsSound && request.needsPictures && !request.needsScan)
    }

    private static let rates: [(String, PolicyValue, Bool)] = [
        ("equals: 25", PolicyValue.number(25), true), ("equals: 25", .number(25.5), false),
        ("equals: 29.97", .fraction(30000.0 / 1001, "30000/1001"), true),
        ("oneOf: [24, 23.976]", .fraction(24000.0 / 1001, "24000/1001"), true),
        ("min: 25, max: 30", .number(30), true), ("min: 25, max: 30", .number(30.1), false),
        ("max: 29.97", .fraction(30000.0 / 1001, "30000/1001"), true),
        ("matches: '^300'", .fraction(30000.0 / 1001, "30000/1001"), true), ("matches: x", .number(25), false),
        ("exists: true", .number(1), true), ("exists: false", .number(1), false),
        ("min: 1", .text("abc"), false), ("equals: abc", .text("abc"), true), ("equals: 'true'", .bool(true), false),
    ]

    @Test(arguments: rates)
    func testsOfFrameRates(test: String, value: PolicyValue, holds: Bool) throws {
        let policy = try Self.policy("  - {id: a, field: 'tracks[0].video.frameRate.nominal', \(test)}")
        guard case .field(_, let test)? = policy.rules.first?.condition else { return }
        #expect(test.holds(for: value) == holds)
    }

    @Test(arguments: [
        ("  - {id: a, check: loudnes.integrated, max: 0}", "did you mean 'loudness.integrated'?"),
        ("  - {id: a, check: black, treshold: 1}", "did you mean 'threshold'?"),
        ("  - {id: a, field: 'tracks[0].video.displaysize', exists: true}", "did you mean 'displaySize'?"),
        ("  - {id: a, check: black, max: 1}", "'max' says nothing"),
        ("  - {id: a, check: truePeak}", "does not say what"),
        ("  - {id: a, check: truePeak, max: loud}", "'max' is a number"),
        ("  - {id: a, severity: bad, check: black}", "'fail' or 'warn'"),
        ("  - {id: a, check: black}\n  - {id: a, check: freeze}", "line 3: two rules"),
        ("  - {check: black}", "has no id"), ("  - {id: a}", "one of 'field'"),
        ("  - {id: a, any: []}", "list of conditions"), ("  - a", "keys and values"),
        ("  - {id: &x a, check: black}\n  - *x", "aliases"),
        ("  - {id: a, matches: '(', field: container.format}", "regular"),
        ("  - {id: [", "YAML"), ("  - {id: a, all: &a [*a]}", "aliases"), ("  - &r {id: a, all: [*r]}", "aliases"),
        ("  {id: a, check: black}", "list of rules"), ("  - {id: [a], check: black}", "'id' is a text"),
        ("  - {id: a, check: {black: 1}}", "'check' is a text"),
        ("  - {id: a, check: black, threshold: [1]}", "number"),
        ("  - {id: a, check: black, minDuration: -1}", "0 or more"),
        ("  - {id: a, check: black, head: .inf}", "number"),
        ("  - {id: a, field: container.format, exists: 3}", "true or false"),
        ("  - {id: a, field: container.indexFirst, equals: yes}", "rule 'a': 'equals' is true or false here, not"),
        ("  - {id: a, field: container.indexFirst, equals: 'true'}", "not the text 'true'"),
        ("  - {id: a, any: [{field: 'tracks[0].enabled', oneOf: [true, on]}]}", "rule 'a': 'oneOf' is true or false"),
        ("  - {id: a, field: container.indexFirst, max: 1}", "'max' says nothing in a rule about"),
        ("  - {id: a, check: dualMono, equals: 1}", "rule 'a': 'equals' is true or false"),
        ("  - {id: a, check: truePeak,\n     min: 5, max: 1}", "line 3: rule 'a': 'min' is 5 and 'max' 1"),
        ("  - {id: a, field: container.format, exists: false, equals: mov}", "line 2: rule 'a': 'exists: false'"),
        ("  - {id: a, check: black, minDuration: 2, head: 1}", "line 2: rule 'a': 'head' is 1 s"),
        ("  - {id: a, check: black, minDuration: 0, tail: 0}", "line 2: rule 'a': 'tail' is 0 s"),
        ("  - {id: a, check: black}\npairs: [a:0, a:1]", "two tracks each"),
        ("  - {id: a, check: black}\npairs: [[a:0, x]]", "names no track"),
    ])
    func errorsInPoliciesNameTheLineAndTheRemedy(rules: String, wanted: String) throws {
        let error = #expect(throws: MediaError.self) { try Self.policy(rules) }
        #expect(error?.message.contains(wanted) == true, "\(error?.message ?? "")")
        #expect(error?.message.hasPrefix("line ") == true, "\(error?.message ?? "")")
    }

    /// Texts that are not policies, in which `~` stands for the byte 0xE4, with the line that is named.
    @Test(arguments: [
        ("rules: []\n", "line 1: the list of rules is empty"),
        ("name: x\nrules: yes\n", "line 2: 'rules' is not a list"),
        ("", "line 1: the policy is empty"), ("# nothing\n", "line 1: the policy is empty"),
        ("\n- a\n", "line 2: this is not a policy"), ("name: x\n", "line 1: the policy has no rules"),
        ("r\0u\0", "line 1: the text is UTF-16"), ("\0r\0u", "line 1: the text is UTF-16"),
        ("rules:\n  - {id: ~}\n", "line 2: the text is not UTF-8"),
        ("rules:\n  - {id: \u{1}}\n", "line 2: this is not YAML"),
    ])
    func whatIsNotAPolicyIsToldWithItsLine(text: String, wanted: String) {
        let bytes = text.utf8.map { $0 == UInt8(ascii: "~") ? 0xE4 : $0 }
        let error = #expect(throws: MediaError.self) { try Policy(bytes: bytes, named: "test") }
        #expect(error?.message.contains(wanted) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: BuiltInPolicy.allCases) func policiesOfTheProgramAreGood(policy: BuiltInPolicy) throws {
        #expect(try Policy(yaml: policy.yaml, named: "x").name == policy.rawValue)
    }
}
