import ArgumentParser
import AssetKit
import MediaBase
import MediaJobs
import Pictures

/// Readers of single arguments of `thumbs`, whose errors the parser shows as usage errors.
enum ThumbsArgument {
    /// A time: see `TimeExpression.forms`.
    static func time(_ text: String) throws -> TimeExpression {
        do throws(MediaError) {
            return try TimeExpression(parsing: RawArguments.displayed(text))
        } catch {
            throw ValidationError(error.message)
        }
    }

    /// Times parted by commas.
    static func times(_ text: String) throws -> [ThumbsRequest.NamedTime] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map {
            ThumbsRequest.NamedTime(try time(String($0)), text: RawArguments.displayed(String($0)))
        }
    }

    /// A track: its index, `v:N` or `id:N`.
    static func track(_ text: String) throws -> TrackSelector {
        do throws(MediaError) {
            return try TrackSelector(parsing: RawArguments.displayed(text))
        } catch {
            throw ValidationError(error.message)
        }
    }

    /// A length of time, or a part of the range.
    static func spacing(_ text: String) throws -> ThumbsRequest.Spacing {
        switch try time(text) {
        case .time(let time) where time > .zero: return .time(time)
        case .percentage(let part) where part.isPositive: return .part(part)
        default: throw ValidationError("write a length above zero: 10, 1:30, 1001/30000 or 5%")
        }
    }

    /// `exact`, `keyframe`, or seconds before and after.
    static func tolerance(_ text: String) throws -> ThumbsRequest.Tolerance {
        if text == "exact" { return .exact }
        if text == "keyframe" { return .keyframe }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let times = parts.compactMap { part -> MediaTime? in
            if case .time(let time)? = try? TimeExpression(parsing: String(part)), time >= .zero { time } else { nil }
        }
        guard let before = times.first, let after = times.last, times.count == parts.count, times.count <= 2 else {
            throw ValidationError("write exact, keyframe, or seconds of zero or more, such as 0.5 or 0.5,2")
        }
        return ThumbsRequest.Tolerance(before: before, after: after)
    }

    /// `WxH`, each a number of pixels from 1 to 65535.
    static func dimensions(_ text: String) throws -> Dimensions {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).compactMap { Int($0) }
        guard sides.count == 2, sides.allSatisfy({ (1...0xFFFF).contains($0) }) else {
            throw ValidationError("write width and height in pixels, such as 320x240")
        }
        return Dimensions(width: sides[0], height: sides[1])
    }

    /// An image format, by its name or its usual extension.
    static func format(_ text: String) throws -> ImageFileFormat {
        guard let format = ImageFileFormat(fileExtension: text) else {
            throw ValidationError("write png, jpeg or webp")
        }
        return format
    }

    /// A colour, by name or in hexadecimal digits.
    static func color(_ text: String) throws -> Color {
        do throws(MediaError) { return try Color(text) } catch { throw ValidationError(error.message) }
    }

    /// Columns and rows of a sheet, or its columns alone.
    struct Grid: ExpressibleByArgument, Hashable {
        /// Images in a row, 1…1000.
        var columns: Int
        /// Rows, 1…1000; `nil` for as many as it takes.
        var rows: Int?

        init(columns: Int, rows: Int?) {
            self.columns = columns
            self.rows = rows
        }

        init?(argument: String) {
            let sides = argument.split(separator: "x", omittingEmptySubsequences: false)
            let numbers = sides.compactMap { Int($0) }.filter { (1...1000).contains($0) }
            guard numbers.count == sides.count, let columns = numbers.first, numbers.count <= 2 else { return nil }
            self.init(columns: columns, rows: numbers.count == 2 ? numbers[1] : nil)
        }
    }

    /// What follows `--scenes`: a threshold, or already the first file.
    enum Scenes: ExpressibleByArgument, CustomStringConvertible {
        /// From which score on a new scene begins.
        case threshold(Double)
        /// No number, and so a file.
        case file(PathArgument)

        init?(argument: String) {
            if let number = Double(argument) {
                self = .threshold(number)
            } else {
                guard let file = PathArgument(argument: argument) else { return nil }
                self = .file(file)
            }
        }

        var description: String {
            switch self {
            case .threshold(let number): "\(number)"
            case .file(let file): file.path.displayPath
            }
        }
    }
}
