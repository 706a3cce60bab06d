internal import AssetKit
package import MediaBase

/// Small pictures of the places that findings are about, for a page.
package struct QCIllustrations: Sendable {
    /// A picture at a moment.
    package struct Spot: Sendable {
        /// The moment.
        package let time: MediaTime
        /// The rules that found something there.
        package let rules: [String]
        /// A JPEG file.
        package let jpeg: [UInt8]
        /// Its size in pixels.
        package let width, height: Int
    }

    /// The pictures, in the order of their times.
    package let spots: [Spot]

    /// Places that are shown at most, and how large.
    private static let mostSpots = 16
    private static let size = Dimensions(width: 240, height: 180)

    /// Makes pictures of the first places, those of failures before those of warnings; what cannot be shown is left out.
    init(_ asset: Asset, findings: [QCFinding]) {
        var places: [(time: MediaTime, rules: [String])] = []
        for finding in findings.filter({ $0.severity == .fail }) + findings.filter({ $0.severity == .warn }) {
            guard let start = finding.start else { continue }
            if let known = places.firstIndex(where: { $0.time == start }) {
                if !places[known].rules.contains(finding.rule) { places[known].rules.append(finding.rule) }
            } else if places.count < Self.mostSpots {
                places.append((start, [finding.rule]))
            }
        }
        let generator = ImageGenerator(asset: asset)
        var configuration = ImageGenerator.Configuration()
        configuration.requestedTimeToleranceBefore = .zero
        configuration.requestedTimeToleranceAfter = .zero
        configuration.maximumSize = Self.size
        generator.configuration = configuration
        spots = places.sorted { $0.time < $1.time }.compactMap { place in
            guard let image = try? generator.generateNow(at: place.time).image,
                let jpeg = try? image.encoded(as: .jpeg, quality: 75)
            else { return nil }
            return Spot(time: place.time, rules: place.rules, jpeg: jpeg, width: image.width, height: image.height)
        }
    }
}
