/// Writes headers bit by bit, as the syntax tables of the standards list them.
struct BitWriter {
    private var bits: [Bool] = []

    mutating func u(_ count: Int, _ value: UInt64) {
        for place in (0..<count).reversed() { bits.append(value >> UInt64(place) & 1 == 1) }
    }

    /// `ue(v)`: as many zeros as there are bits after the first one.
    mutating func ue(_ values: UInt64...) {
        for value in values {
            let length = (value + 1).bitWidth - (value + 1).leadingZeroBitCount
            u(length - 1, 0)
            u(length, value + 1)
        }
    }

    /// The bytes, filled up after a stop bit.
    var bytes: [UInt8] {
        var all = bits + [true]
        while all.count % 8 != 0 { all.append(false) }
        return stride(from: 0, to: all.count, by: 8).map { start in
            all[start..<start + 8].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
        }
    }
}
