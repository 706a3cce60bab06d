import FuzzSupport
import Pictures

/// Draws any bits as the numbers of a waveform: the first bytes choose the size and the style, the others are 32-bit floats.
@_cdecl("fuzzDrawing")
public func fuzzDrawing(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    guard bytes.count >= 16 else { return 0 }
    let numbers = stride(from: 12, to: bytes.count - 3, by: 4).map { place in
        Float(bitPattern: bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) })
    }
    var style = WaveformStyle()
    let scale = Double(bitPattern: bytes[4..<12].reduce(0) { $0 << 8 | UInt64($1) })
    style.scale = bytes[0] & 1 == 0 ? .automatic : .factor(scale)
    if bytes[0] & 2 != 0 { style.amplitude = .decibels(range: scale) }
    if bytes[0] & 4 != 0 {
        style.bars = WaveformStyle.Bars(width: Int(bytes[1] & 7), gap: Int(bytes[1] >> 5), isRounded: bytes[1] & 8 != 0)
    }
    guard let renderer = try? WaveformRenderer(width: Int(bytes[2]), height: Int(bytes[3]), style: style) else {
        return 0
    }
    let half = numbers.count / 2
    let channel = WaveformRenderer.Channel(
        minimums: Array(numbers.prefix(half)), maximums: Array(numbers.suffix(half)),
        levels: bytes[0] & 8 != 0 ? numbers : nil)
    guard let picture = try? renderer.render([channel]) else { return 0 }
    precondition(picture.width == Int(bytes[2]) && picture.height == Int(bytes[3]))
    return 0
}

/// Where the program begins.
@_cdecl("FuzzDrawing_main")
public func begin(_ count: CInt, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    runFuzzer(count, arguments, fuzzDrawing)
}
