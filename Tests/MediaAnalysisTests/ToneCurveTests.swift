import MediaAnalysis
import TestSupport
import Testing

@Suite struct ToneCurveTests {
    @Test func curveIsThatOfBT2390() throws {
        let rows = try GoldenTable("colour/curve.tsv").rows
        #expect(rows.count > 150)
        for row in rows {
            let curve = ToneCurve(peak: Double(try row.number("peak")))
            let light = try #require(Double(try row.text("light")))
            let wanted = try #require(Double(try row.text("result")))
            let got = curve(light / curve.white) * curve.white
            #expect(abs(got - wanted) <= 1e-5 * max(1, wanted), "\(row.fields): \(got)")
        }
    }

    @Test(arguments: [203, 204, 400, 1000, 4000, 10_000]) func itRisesFromBlackToWhite(_ peak: Double) {
        let curve = ToneCurve(peak: peak)
        var last = -1.0
        for step in 0...2000 {
            let result = curve(Double(step) / 2000 * peak / curve.white)
            #expect(result >= last)
            last = result
        }
        #expect(curve(0) == 0)
        #expect(abs(curve(peak / curve.white) - 1) < 1e-9)
        #expect(curve(1e9) == 1)
    }

    @Test func impossiblePeaksAreBroughtIntoReach() {
        #expect(ToneCurve(peak: .nan).peak == 1000)
        #expect(ToneCurve(peak: .infinity).peak == 1000)
        #expect(ToneCurve(peak: 0).peak == 203)
        #expect(ToneCurve(peak: -5).peak == 203)
        #expect(ToneCurve(peak: 65535).peak == 10_000)
    }
}
