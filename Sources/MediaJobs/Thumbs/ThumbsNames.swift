import AssetKit
import MediaBase

/// What the placeholders in names stand for, in one file.
struct ThumbsNames {
    private let stem: [UInt8]
    private let format: ImageFileFormat
    private let context: TimeExpression.Context
    private let times: [Result<MediaTime, MediaError>]
    private let frames: [Int64?]

    /// - Parameters:
    ///   - stem: What `{stem}` stands for.
    ///   - format: The format of images and sheets.
    ///   - times: The times asked for, in their order.
    ///   - frames: The number of the frame at each; empty where no name needs it.
    ///   - context: What tells the timecode of a time.
    init(
        stem: [UInt8], format: ImageFileFormat, times: [Result<MediaTime, MediaError>], frames: [Int64?],
        context: TimeExpression.Context
    ) {
        self.stem = stem
        self.format = format
        self.times = times
        self.frames = frames
        self.context = context
    }

    /// How many times were asked for.
    var count: Int { times.count }

    /// The name of the image of one time; what is not known before it is made stays a placeholder without `size`.
    func image(_ template: ThumbsNameTemplate, place: Int, size: Dimensions?) -> [UInt8] {
        let time = (try? times[place].get()) ?? .invalid
        return template.name { field in
            switch field {
            case .seconds: Array(Self.seconds(time).utf8)
            case .timecode: Array(timecode(time).utf8)
            case .frame:
                (frames.indices.contains(place) ? frames[place] : nil).map { Array(padded($0, to: 6).utf8) }
            default: common(field, index: place, of: times.count, size: size)
            }
        }
    }

    /// The name of a sheet, by its number from 0, or of an index; nothing in it may refer to one time.
    func sheet(_ template: ThumbsNameTemplate, number: Int, size: Dimensions?) -> [UInt8] {
        template.name { common($0, index: number, of: 1, size: size) }
    }

    private func common(
        _ field: ThumbsNameTemplate.Field, index: Int, of count: Int, size: Dimensions?
    ) -> [UInt8]? {
        switch field {
        case .stem: stem
        case .index: Array(padded(index + 1, to: max(3, "\(count)".utf8.count)).utf8)
        case .width: size.map { Array("\($0.width)".utf8) }
        case .height: size.map { Array("\($0.height)".utf8) }
        case .ext: Array(format.fileExtension.utf8)
        case .seconds, .timecode, .frame: nil
        }
    }

    private static func seconds(_ time: MediaTime) -> String {
        let thousandths = time.converted(toTimescale: 1000)
        guard thousandths.isNumeric else { return time.description }
        let digits = padded(thousandths.value.magnitude, to: 4)
        return (thousandths.value < 0 ? "-" : "") + digits.dropLast(3) + "." + digits.suffix(3)
    }

    private func timecode(_ time: MediaTime) -> String {
        var text = time.clockText()
        if let rate = context.startTimecode?.rate ?? context.frameRate.flatMap({ try? Timecode.Rate(frameRate: $0) }) {
            // A frame's own time may have been rounded down to a tick; half a tick more is still the same frame.
            let slack = context.timestampScale.map {
                MediaTime(value: 1, timescale: $0).multiplied(by: 1, dividedBy: 2)
            }
            let elapsed = time - context.timecodeOrigin + (context.startTimecode?.time ?? .zero) + (slack ?? .zero)
            if let timecode = try? Timecode(elapsed: elapsed, rate: rate) { text = timecode.description }
        }
        return String(text.map { $0 == ":" || $0 == ";" ? "-" : $0 })
    }
}
