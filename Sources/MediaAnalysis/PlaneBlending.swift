/// Mixes rows of luma or chroma of 8 bits.
///
/// Weights go from 0 for nothing to 65536 for all; results are rounded once. Where spans disagree in length the shorter one
/// decides.
package enum PlaneBlending {
    /// Copies a row.
    package static func copy(_ source: Span<UInt8>, into row: inout MutableSpan<UInt8>) {
        let count = min(source.count, row.count)
        let source = source.extracting(first: count)
        for index in 0..<count { row[index] = source[index] }
    }

    /// Makes all of a row one value.
    package static func fill(_ row: inout MutableSpan<UInt8>, with value: UInt8) {
        for index in 0..<row.count { row[index] = value }
    }

    /// Mixes a row into another by one weight.
    package static func blend(_ source: Span<UInt8>, weight: UInt32, into row: inout MutableSpan<UInt8>) {
        let count = min(source.count, row.count)
        let source = source.extracting(first: count)
        let weight = min(weight, 65536)
        let rest = 65536 &- weight
        for index in 0..<count {
            let mixed = UInt32(row[index]) &* rest &+ UInt32(source[index]) &* weight &+ 32768
            row[index] = UInt8(truncatingIfNeeded: mixed &>> 16)
        }
    }

    /// Mixes samples into a part of a row, each by a weight of its own (65535 for all) times a common one.
    ///
    /// - Parameter start: Where in the row they begin; what does not fit is left out.
    package static func blend(
        _ source: Span<UInt8>, weights: Span<UInt16>, scale: UInt32, into row: inout MutableSpan<UInt8>, at start: Int
    ) {
        guard start >= 0, start < row.count else { return }
        let count = min(source.count, weights.count, row.count - start)
        let (source, weights) = (source.extracting(first: count), weights.extracting(first: count))
        let scale = min(scale, 65536)
        for index in 0..<count {
            let weight = (UInt32(weights[index]) &* scale) &>> 16
            let mixed =
                UInt32(row[start &+ index]) &* (65536 &- weight) &+ UInt32(source[index]) &* weight &+ 32768
            row[start &+ index] = UInt8(truncatingIfNeeded: mixed &>> 16)
        }
    }
}
