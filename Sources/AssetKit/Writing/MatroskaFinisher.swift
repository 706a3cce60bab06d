import FileOutput
import MatroskaMedia
import MediaBase
import SystemCalls
import SystemPackage

/// Completes a Matroska file that libavformat has written: clean apertures of whole pixels.
struct MatroskaFinisher {
    let file: FileDescriptor

    /// How much of a file's beginning is looked at; the track list lies in it.
    private static let headBytes = 4 << 20

    /// Adds what is left of pictures, by the place of their track.
    func finish(_ crops: [Int: MatroskaCrop]) throws(MediaError) {
        guard !crops.isEmpty else { return }
        let head = try DescriptorByteSource(file: file).read(at: 0, count: Self.headBytes)
        guard let changed = MatroskaCropEditor.adding(crops, to: head), changed.count == head.count else { return }
        do throws(Errno) {
            try writeAll(changed.span, to: file, at: 0)
        } catch {
            throw MediaError(error, "write", path: nil)
        }
    }
}

extension CleanAperture {
    /// What it shows, where its edges lie between pixels of the picture.
    var wholePixels: PixelRectangle? {
        func isWhole(_ length: Rational, _ number: Int) -> Bool { length == Rational(Int64(number)) }
        guard isWhole(rectangle.x, pixelRect.x), isWhole(rectangle.y, pixelRect.y),
            isWhole(rectangle.width, pixelRect.width), isWhole(rectangle.height, pixelRect.height)
        else { return nil }
        return pixelRect
    }
}
