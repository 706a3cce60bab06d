import AssetKit
import Foundation

/// 1: CMTimeMake, CMTimeMakeWithSeconds, CMTIME_IS_INVALID, CMTimeAdd, CMTimeSubtract, CMTimeCompare,
/// CMTimeConvertScale, CMTimeShow, CMTimeCopyAsDictionary, CMTimeMakeFromDictionary.
func arithmeticOfTimes() throws -> (sum: MediaTime, difference: MediaTime, converted: MediaTime, copy: MediaTime) {
    let first = MediaTime(value: 200, timescale: 2)
    let second = MediaTime(value: 400, timescale: 4)
    let five = MediaTime(seconds: 5, preferredTimescale: 600)
    guard first == second, first > five, first.isNumeric, !MediaTime.invalid.isValid,
        MediaTime.positiveInfinity.isPositiveInfinity
    else { throw MediaError(.invalidArgument, "times do not compare as they should") }
    print(five, five.seconds)
    let dictionary = try JSONEncoder().encode(five)
    return (
        first + five, first - five, five.converted(toTimescale: 44100, rounding: .halfAwayFromZero),
        try JSONDecoder().decode(MediaTime.self, from: dictionary)
    )
}

/// 2: CMTimeRangeMake, CMTimeRangeGetEnd, CMTimeRangeContainsTime, CMTimeRangeContainsTimeRange, CMTimeRangeGetUnion,
/// CMTIMERANGE_IS_EMPTY, CMTIMERANGE_IS_INVALID.
func arithmeticOfRanges() throws -> (end: MediaTime, union: MediaTimeRange) {
    let range = MediaTimeRange(start: MediaTime(value: 1, timescale: 1), duration: MediaTime(value: 3, timescale: 1))
    let later = MediaTimeRange(start: MediaTime(value: 6, timescale: 1), end: MediaTime(value: 7, timescale: 1))
    guard range.contains(range.start), !range.contains(range.end), !range.contains(later),
        MediaTimeRange.zero.isEmpty, !MediaTimeRange.invalid.isValid
    else { throw MediaError(.invalidArgument, "ranges do not contain what they should") }
    return (range.end, range.union(later))
}
