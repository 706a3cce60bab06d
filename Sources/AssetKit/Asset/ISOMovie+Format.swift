import ISOMedia
import LibAV
import MediaBase

// What the boxes say of a stream's format that libavformat 5.1 keeps to itself.

extension ISOMovie {
    /// Adds to a stream's format what only the boxes say.
    ///
    /// - Parameter warnings: Gets a sentence for each thing that cannot be used as it is written.
    func complete(_ stream: inout StreamInfo, warnings: inout [String]) {
        guard let id = UInt32(exactly: stream.id), let track = header.track(id: id) else { return }
        if let fields = track.sampleEntries.first?.visual?.cleanAperture, let size = stream.format.video?.encodedSize {
            do throws(MediaError) {
                let aperture = try fields.aperture(in: size)
                stream.format.video?.cleanAperture = aperture
                if aperture.exceedsPicture {
                    warnings.append("the clean aperture (clap) of track \(id) reaches beyond the picture")
                }
            } catch {
                warnings.append("the clean aperture (clap) of track \(id) \(error.message) and was left out")
            }
        }
    }
}

extension TrackAperture {
    /// The sizes of a `tapt` box; `nil` where there are none.
    init?(_ boxes: TrackApertures?) {
        guard let boxes else { return nil }
        self.init(
            clean: boxes.clean.map { Size($0) }, production: boxes.production.map { Size($0) },
            encoded: boxes.encoded.map { Size($0) })
        guard self != TrackAperture() else { return nil }
    }
}

extension TrackAperture.Size {
    fileprivate init(_ size: FixedPointSize) {
        self.init(width: Rational(Int64(size.width), 1 << 16), height: Rational(Int64(size.height), 1 << 16))
    }
}
