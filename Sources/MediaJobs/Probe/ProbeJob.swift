package import AssetKit
package import MediaBase

/// Finds out what a file says of itself: one asset in, a report out.
///
/// ```swift
/// let report = try ProbeJob(asset: Asset(path: "a.mov")).run()
/// ```
///
/// Headers are read, and as many packets as it takes to know each track's format; no more.
package struct ProbeJob: Sendable {
    private let asset: Asset
    private let isStrict: Bool
    private let scans: Bool

    /// Makes a job.
    ///
    /// - Parameters:
    ///   - asset: What is looked at; its options say whether all packets are read.
    ///   - scans: Whether all packets are read, for what they show; with an asset of precise timing in one pass.
    ///   - isStrict: Whether damage in the file's structure, and in packets where they are read, is an error instead of a
    ///     warning in the report.
    package init(asset: Asset, scans: Bool = false, isStrict: Bool = false) {
        self.scans = scans
        self.asset = asset
        self.isStrict = isStrict
    }

    /// Reads the file.
    ///
    /// - Throws: what opening the asset throws; `damaged` for damage where the job is strict.
    package func run() throws(MediaError) -> ProbeReport {
        var warnings = try asset.loadNow(.warnings)
        let skipped = try asset.skippedBytes()
        if skipped > 0 { warnings.append(DamageSummary.text(ofSkipped: skipped)) }
        if !scans, try asset.isCutOff() { warnings.append(Self.breakOff) }
        try check(warnings)
        let container = try asset.loadNow(.container)
        let tracks = try asset.loadNow(.tracks)
        let headers = try asset.pictureHeaders()
        let statistics = scans ? try asset.packetStatistics() : [:]
        if scans {
            warnings += Self.warnings(ofDamageIn: statistics)
            // What is missing of which track, where the header tells, is among the warnings already.
            if try asset.breaksOff(), !warnings.contains(where: { $0.hasPrefix("the file breaks off") }) {
                warnings.append(Self.breakOff)
            }
            try check(warnings)
        }
        return ProbeReport(
            container: ContainerReport(container, duration: try asset.loadNow(.duration)),
            tracks: tracks.map {
                TrackReport($0, in: container, headers: headers[$0.index], statistics: statistics[$0.index])
            },
            chapters: try asset.loadNow(.chapters).map { ChapterReport($0) },
            metadata: try asset.loadNow(.metadata).map { MetadataReport($0) },
            attachments: tracks.compactMap { AttachmentReport($0) },
            programs: container.programs.map { ProgramReport($0) },
            warnings: warnings)
    }

    private static let breakOff = "the file breaks off before its end"

    private func check(_ warnings: [String]) throws(MediaError) {
        guard isStrict, let first = warnings.first else { return }
        throw MediaError(.damaged, "is damaged: \(first)", path: asset.displayName)
    }

    /// What is to be said of packets that the demuxer found damaged, one sentence a track.
    private static func warnings(ofDamageIn statistics: [Int: PacketStatistics]) -> [String] {
        statistics.sorted { $0.key < $1.key }.compactMap { index, found -> String? in
            switch found.corruptCount {
            case 0: nil
            case 1: "1 packet of track \(index) is damaged"
            default: "\(found.corruptCount) packets of track \(index) are damaged"
            }
        }
    }
}
