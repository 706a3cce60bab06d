import Foundation
import MediaBase
import TestSupport
import Testing

@testable import TimeStretching

/// The stretcher alone, and the declarations of Rubber Band against the library's own header.
@Suite struct TimeStretcherTests {
    /// The first 30000 samples of a sweep in two channels that is stretched, asked for in runs of one size.
    private func stretched(_ size: Int) throws -> [[Float]] {
        var stretcher = try TimeStretcher.make(sampleRate: 48000, channels: 2, stretch: Rational(7, 5))
        var next = -stretcher.leadIn
        var result: [[Float]] = [[], []]
        while result[0].count < 30000 {
            let part = try stretcher.read(min(size, 30000 - result[0].count)) { count, samples in
                for index in 0..<count {
                    let place = Double(next + index)
                    samples[0][index] = Float(0.5 * sin(place * place * 1e-5))
                    samples[1][index] = Float(0.3 * cos(place * 0.05))
                }
                next += count
            }
            for channel in 0..<2 { result[channel] += part[channel] }
        }
        return result
    }

    @Test func requestsOfAnySizeGiveTheSameSamples() throws {
        let expected = try stretched(30000)
        #expect(expected.map(\.count) == [30000, 30000])
        #expect(expected[0].contains { abs($0) > 0.4 })
        for size in [1000, 4097] { #expect(try stretched(size) == expected) }
    }

    @Test func whatCannotBeStretchedIsAnError() throws {
        #expect(TimeStretcher.supports(stretch: Rational(1, 32)) && TimeStretcher.supports(stretch: Rational(32)))
        #expect(!TimeStretcher.supports(stretch: Rational(1, 33)) && !TimeStretcher.supports(stretch: Rational(33)))
        for (rate, channels, stretch) in [
            (7999, 2, Rational(2)), (192_001, 2, Rational(2)), (48000, 0, Rational(2)), (48000, 65, Rational(2)),
            (48000, 2, Rational(33)), (48000, 2, .zero),
        ] {
            #expect(throws: MediaError.self) {
                _ = try TimeStretcher.make(sampleRate: rate, channels: channels, stretch: stretch).leadIn
            }
        }
    }

    /// Returns the compiler's messages about the declarations after those of the header.
    private func messages(_ assertions: String) throws -> String {
        let source = """
            #include <rubberband/rubberband-c.h>
            #include "\(Repository.path("Sources/CRubberBand/declarations.h"))"
            \(assertions)

            """
        return try Program.run("clang", ["-fsyntax-only", "-Werror", "-xc", "-"], input: Array(source.utf8)).error
    }

    /// A compiler takes the same function twice only if both declarations are alike.
    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: "/usr/include/rubberband/rubberband-c.h"),
            "the header of Rubber Band is not installed"))
    func declarationsAreThoseOfTheHeader() throws {
        #expect(
            try messages(
                """
                _Static_assert(CRB_PROCESS_REAL_TIME == RubberBandOptionProcessRealTime, "");
                _Static_assert(CRB_THREADING_NEVER == RubberBandOptionThreadingNever, "");
                _Static_assert(CRB_CHANNELS_TOGETHER == RubberBandOptionChannelsTogether, "");
                _Static_assert(CRB_ENGINE_FINER == RubberBandOptionEngineFiner, "");
                """
            ).isEmpty)
        #expect(try !messages("extern int rubberband_available(int);").isEmpty)
    }
}
