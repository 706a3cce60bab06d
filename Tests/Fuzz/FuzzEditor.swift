import ISOMedia
import MediaBase

/// Reads any bytes as a movie's header, changes everything in it that can be changed, and reads the result.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEditor(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    guard var editor = try? MovieEditor(bytes) else { return 0 }
    let pixels = Dimensions(width: 1920, height: 1080)
    let aperture = try? CleanAperture(
        width: Rational(1888), height: Rational(1062), horizontalOffset: Rational(1, 2), verticalOffset: .zero,
        in: pixels)
    let edits = [
        EditListEntry(segmentDuration: 9, mediaTime: -1), EditListEntry(segmentDuration: .max, mediaTime: .max),
    ]
    for track in 0..<min(editor.trackCount + 1, 10) {
        _ = try? editor.mediaTimescale(ofTrack: track)
        try? editor.setEdits(edits, track: track)
        try? editor.setMediaDuration(track: track)
        try? editor.setEnabled(track.isMultiple(of: 2), track: track)
        try? editor.setLanguage("deu", track: track)
        try? editor.setName("Ton", track: track)
        let entry = MetadataEntry(key: .iTunes("tmpo"), value: .number(3))
        try? editor.setMetadata([entry], track: track, isQuickTime: false)
        try? editor.setAperture(aperture, track: track, writesTrackAperture: true)
    }
    try? editor.moveMedia(by: 1 << 20)
    try? editor.moveMedia(by: UInt64(UInt32.max), reserve: 4096)
    let written = editor.bytes
    // Where it was taken apart it has to come together again.
    precondition((try? MovieEditor(written))?.bytes == written)
    return 0
}
