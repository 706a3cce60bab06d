// The samples of every track as a cursor finds them, so that ffprobe can say what they are.

import AssetKit
import MediaBase

/// Prints `track size place sync` of each sample in decode order; `-` where the place is unknown.
///
/// What a reader delivers must have the same times, sizes and marks, and the bytes of the file at the place must be the
/// sample's.
func samples(_ asset: Asset) throws {
    for track in try asset.loadNow(.tracks) {
        let output = try asset.samplesNow(of: track, as: .stored)
        guard var cursor = try track.makeSampleCursorNow(presentationTime: .negativeInfinity) else {
            if try output.nextSampleBuffer() != nil { fail("track \(track.index) has samples without a cursor") }
            continue
        }
        cursor.stepInDecodeOrder(by: .min)
        var lines = ""
        repeat {
            let name = "sample \(cursor.sampleNumber) of track \(track.index)"
            guard let buffer = try output.nextSampleBuffer(), let stored = buffer.storedSample else {
                fail("\(name) is delivered by no reader")
            }
            let isShown = !buffer.attachments.contains(.isNotShown)
            guard buffer.presentationTime == cursor.presentationTime, buffer.decodeTime == cursor.decodeTime,
                buffer.duration == cursor.duration, buffer.isSync == cursor.isSync, isShown == cursor.isShown,
                stored.size == cursor.size
            else {
                fail(
                    "\(name), \(cursor.presentationTime) \(cursor.decodeTime ?? .invalid) \(cursor.duration) "
                        + "\(cursor.size) \(cursor.isSync) \(cursor.isShown), is delivered as "
                        + "\(buffer.presentationTime) \(buffer.decodeTime ?? .invalid) \(buffer.duration) "
                        + "\(stored.size) \(buffer.isSync) \(isShown)")
            }
            let place = cursor.storageRange.map { "\($0.lowerBound)" } ?? "-"
            lines += "\(track.index) \(cursor.size) \(place) \(cursor.isSync ? "K" : "-")\n"
        } while cursor.stepInDecodeOrder(by: 1) == 1
        if try output.nextSampleBuffer() != nil { fail("track \(track.index) has more samples than its cursor") }
        // In presentation order every sample comes once, and in rising order.
        cursor.stepInPresentationOrder(by: .min)
        var seen = Set([cursor.sampleNumber])
        var last = cursor.presentationTime
        while cursor.stepInPresentationOrder(by: 1) == 1 {
            let time = cursor.presentationTime
            if time.isNumeric, last.isNumeric, time < last { fail("track \(track.index) goes back at \(time)") }
            (last, _) = (time.isNumeric ? time : last, seen.insert(cursor.sampleNumber))
        }
        if seen.count != cursor.sampleCount { fail("track \(track.index) has \(seen.count) places in its order") }
        write(Array(lines.utf8))
    }
}
