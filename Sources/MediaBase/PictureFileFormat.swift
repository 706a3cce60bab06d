/// A kind of file that holds one picture, such as a cover, by its first bytes.
package enum PictureFileFormat: Sendable, Hashable {
    case jpeg, png, bmp

    /// Recognises a picture; `nil` for all else.
    package init?(_ bytes: [UInt8]) {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if bytes.starts(with: [0x42, 0x4D]) {
            self = .bmp
        } else {
            return nil
        }
    }

    /// The media type.
    package var mimeType: String {
        switch self {
        case .jpeg: "image/jpeg"
        case .png: "image/png"
        case .bmp: "image/bmp"
        }
    }

    /// The usual ending of a file's name.
    package var pathExtension: String {
        switch self {
        case .jpeg: "jpg"
        case .png: "png"
        case .bmp: "bmp"
        }
    }
}

extension PictureFileFormat {
    /// Reads how wide and high a JPEG or PNG picture is; `nil` for other files and where it does not say.
    ///
    /// ITU-T T.81, B.2.2 (frame header); PNG, 11.2.2 (IHDR).
    package static func dimensions(of bytes: [UInt8]) -> Dimensions? {
        func number(_ place: Int, _ count: Int) -> Int? {
            guard place + count <= bytes.count else { return nil }
            return bytes[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
        }
        switch PictureFileFormat(bytes) {
        case .png:
            guard let width = number(16, 4), let height = number(20, 4) else { return nil }
            return Dimensions(width: width, height: height)
        case .jpeg:
            var place = 2
            while let marker = number(place, 2), marker >= 0xFF01, let length = number(place + 2, 2), length >= 2 {
                // Frame headers, without DHT, JPG and DAC among them.
                if (0xFFC0...0xFFCF).contains(marker), ![0xFFC4, 0xFFC8, 0xFFCC].contains(marker) {
                    guard let height = number(place + 5, 2), let width = number(place + 7, 2) else { return nil }
                    return Dimensions(width: width, height: height)
                }
                place += 2 + length
            }
            return nil
        case .bmp, nil: return nil
        }
    }
}
