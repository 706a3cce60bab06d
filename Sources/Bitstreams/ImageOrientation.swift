package import MediaBase

/// The orientation that a camera has stored in a JPEG picture (Exif 2.32, 4.6.4, tag 274).
package struct ImageOrientation: Sendable, Hashable {
    /// The number, 1…8: the side of the scene that the first row and the first column of pixels show.
    package let number: Int

    /// Reads the orientation from the start of a JPEG picture; `nil` if it states none.
    package init?(jpeg bytes: [UInt8]) {
        var reader = BigEndianReader(bytes)
        guard (try? reader.uint16()) == 0xFFD8 else { return nil }
        // Segments up to the first scan; the length counts its own two bytes.
        while let marker = try? reader.uint16(), marker >= 0xFFC0, marker != 0xFFDA,
            let length = try? reader.uint16(), length >= 2, let segment = try? reader.take(Int(length) - 2)
        {
            let name = Array("Exif\0\0".utf8)
            guard marker == 0xFFE1, segment.starts(with: name) else { continue }
            self.init(tiff: Array(segment.dropFirst(name.count)))
            return
        }
        return nil
    }

    /// Reads the first directory of a TIFF structure (TIFF 6.0, section 2).
    private init?(tiff bytes: [UInt8]) {
        let isLittle = bytes.starts(with: [0x49, 0x49])
        func number(at place: Int, _ count: Int) -> Int? {
            guard place >= 0, count <= bytes.count - place else { return nil }
            let part = bytes[place..<place + count]
            return Int(isLittle ? part.littleEndian : part.bigEndian)
        }
        guard isLittle || bytes.starts(with: [0x4D, 0x4D]), number(at: 2, 2) == 42,
            let directory = number(at: 4, 4), let count = number(at: directory, 2)
        else { return nil }
        for index in 0..<count {
            let entry = directory + 2 + 12 * index
            guard let tag = number(at: entry, 2) else { return nil }
            // One short number is stored in the entry itself.
            guard tag == 274, number(at: entry + 2, 2) == 3, let value = number(at: entry + 8, 2) else { continue }
            guard (1...8).contains(value) else { return nil }
            self.number = value
            return
        }
        return nil
    }

    /// Returns the transform that shows a picture of these dimensions upright, with its top left corner at the origin.
    package func transform(of size: Dimensions) -> PictureTransform {
        let (width, height) = (Double(size.width), Double(size.height))
        return switch number {
        case 2: PictureTransform(a: -1, b: 0, c: 0, d: 1, tx: width, ty: 0)
        case 3: PictureTransform(a: -1, b: 0, c: 0, d: -1, tx: width, ty: height)
        case 4: PictureTransform(a: 1, b: 0, c: 0, d: -1, tx: 0, ty: height)
        case 5: PictureTransform(a: 0, b: 1, c: 1, d: 0, tx: 0, ty: 0)
        case 6: PictureTransform(a: 0, b: 1, c: -1, d: 0, tx: height, ty: 0)
        case 7: PictureTransform(a: 0, b: -1, c: -1, d: 0, tx: height, ty: width)
        case 8: PictureTransform(a: 0, b: -1, c: 1, d: 0, tx: 0, ty: width)
        default: .identity
        }
    }
}
