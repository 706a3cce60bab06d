import MediaAnalysis
import Testing

@Suite struct TransferFunctionTests {
    private static let all: [TransferFunction] = [.bt1886, .sRGB, .linear, .pq, .hlg]

    @Test(arguments: all) func signalAndLightAreInverse(_ function: TransferFunction) {
        for step in 0...1000 {
            let signal = Double(step) / 1000
            #expect(abs(function.signal(of: function.light(of: signal)) - signal) < 1e-6, "\(signal)")
        }
        #expect(function.light(of: -1) == function.light(of: 0))
        #expect(function.light(of: 2) == function.light(of: 1))
        #expect(function.signal(of: -1) < 1e-6)
        #expect(function.signal(of: 1e9) == 1)
    }

    /// Values that the standards themselves name.
    @Test func anchorsAreThoseOfTheStandards() {
        #expect(abs(TransferFunction.pq.light(of: 1) * 203 - 10_000) < 1e-6)
        // BT.2408, table 1: diffuse white is 58 % of PQ and 75 % of HLG.
        #expect(abs(TransferFunction.pq.signal(of: 1) - 0.58) < 0.002)
        #expect(abs(TransferFunction.hlg.light(of: 0.75) - 0.265) < 0.001)
        #expect(abs(TransferFunction.hlg.light(of: 0.5) - 1.0 / 12) < 1e-12)
        #expect(abs(TransferFunction.hlg.light(of: 1) - 1) < 1e-6)
        #expect(abs(TransferFunction.sRGB.light(of: 0.5) - 0.21404) < 1e-5)
        #expect(abs(TransferFunction.bt1886.light(of: 0.5) - 0.18946) < 1e-5)
    }

    @Test func namesAreLibavutils() {
        #expect(TransferFunction(name: "smpte2084") == .pq)
        #expect(TransferFunction(name: "arib-std-b67") == .hlg)
        #expect(TransferFunction(name: "linear") == .linear)
        for name in [nil, "bt709", "smpte170m", "bt2020-10", "iec61966-2-1", "gamma28", "nonsense"] {
            #expect(TransferFunction(name: name) == .bt1886)
        }
    }
}
