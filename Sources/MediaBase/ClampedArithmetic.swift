// Sums and products of numbers from a file, which may be anything: where the result is out of range, it is the nearest
// number that there is.

extension FixedWidthInteger {
    /// Adds two numbers; a sum out of range is the highest or lowest number.
    @inlinable package func addingClamped(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other > 0 ? .max : .min) : sum
    }

    /// Subtracts a number; a difference out of range is the highest or lowest number.
    @inlinable package func subtractingClamped(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }

    /// Multiplies two numbers; a product out of range is the highest or lowest number.
    @inlinable package func multipliedClamped(by other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}
