package import AssetKit
internal import Inspection
internal import MediaBase

/// Checks one file against a policy.
///
/// ```swift
/// let report = try QCJob(asset: Asset(path: "a.mov"), policy: policy).run()
/// ```
///
/// The job measures everything that the policy requires in one pass over the file. If the policy needs only headers,
/// nothing is decoded.
package struct QCJob: Sendable {
    private let asset: Asset
    private let policy: Policy
    private let source: Asset?
    private let threads: Int
    private let reference: Asset?
    private let options: Options

    /// Additional options of a job.
    package struct Options: Sendable {
        /// True if the report includes still pictures for an HTML page.
        package var illustrates = false
        /// True if the scores of each compared frame are kept.
        package var keepsFrames = false
        /// The maximum number of findings listed for one rule.
        package var maximumListed = QCReport.usualListed

        /// Makes the default options.
        package init() {}
    }

    /// Makes a job; reading starts with ``run(progress:)``.
    ///
    /// - Parameters:
    ///   - asset: The file to check.
    ///   - policy: The rules that the file must meet.
    ///   - source: The file of which `asset` must be a proxy; `nil` if it is not a proxy.
    ///   - reference: The file with which video and audio are compared; `nil` for none.
    ///   - threads: The number of decoding threads; 0 for one per core.
    package init(
        asset: Asset, policy: Policy, proxyOf source: Asset? = nil, reference: Asset? = nil, threads: Int = 0,
        options: Options = Options()
    ) {
        self.reference = reference
        self.options = options
        self.asset = asset
        self.policy = policy
        self.source = source
        self.threads = threads
    }

    /// Returns whether input from a pipe must be stored because the job reads the file more than once.
    ///
    /// - Parameters:
    ///   - policy: The rules that the file must meet.
    ///   - isCompared: True if the file is compared with a source or a reference.
    ///   - options: The additional options of the job.
    package static func readsAgain(_ policy: Policy, isCompared: Bool, options: Options) -> Bool {
        let request = policy.request
        let isMeasured = request.needsSound || request.needsPictures
        return isCompared || options.illustrates || request.needsScan && isMeasured
    }

    /// Runs the job.
    ///
    /// - Parameter progress: Called from time to time with the fraction done, 0…1, and the number of seconds processed.
    /// - Throws: The errors of opening and reading the files.
    package func run(progress: ((Double, Double) -> Void)? = nil) throws -> QCReport {
        var request = policy.request
        // Report files that cannot be opened before hours of measuring.
        for (name, other) in [("the reference", reference), ("the proxy's source", source)] {
            if let other { try naming(other, name) { () throws(MediaError) in _ = try other.loadNow(.tracks) } }
        }
        let probe = try ProbeJob(asset: asset, scans: request.needsScan).run()
        request.drawsSound = options.illustrates
        var measurements = try QualityReading(asset: asset, request: request, threads: threads).measure(
            progress: progress)
        if request.checks.contains(.headerMismatches) {
            measurements.headerMismatches =
                HeaderComparison(
                    tracks: try asset.loadNow(.tracks), report: probe, measurements: measurements
                ).mismatches
        }
        if let reference {
            measurements.reference = try naming(reference, "the reference") { () throws(MediaError) in
                try compare(with: reference, request)
            }
        }
        let evaluation = try Evaluation(report: probe, measurements: measurements)
        var collector = FindingsBuilder(timecodes: Timecodes(probe))
        for rule in policy.rules { collector.add(rule, evaluation.outcome(of: rule.condition)) }
        if let source {
            let entries = try naming(source, "the proxy's source") { () throws(MediaError) in
                try ProxyComparison(proxy: asset, source: source, threads: threads).run()
            }
            for entry in entries {
                collector.add(Rule(id: entry.id, severity: .fail, condition: .all([])), entry.outcome)
            }
        }
        let (rules, findings) = (collector.rules, collector.findings)
        let verdict: QCReport.Verdict =
            rules.contains { $0.status == .fail } ? .fail : rules.contains { $0.status == .warn } ? .warn : .pass
        let decoded = request.needsPictures ? try asset.loadNow(.tracks) : []
        let threadWarnings = decoded.compactMap { asset.warning(ofThreadsFor: $0, wanted: threads) }
        var report = QCReport(
            verdict: verdict, policy: policy.name, rules: rules, findings: findings, measurements: measurements,
            warnings: probe.warnings + measurements.notes + threadWarnings)
        report.maximumListed = options.maximumListed
        report.duration = probe.container.duration
        if options.illustrates { report.illustrations = Illustrations(asset, findings: findings) }
        return report
    }

    /// Performs work on another file, and names that file in the message of its errors.
    ///
    /// The caller reports errors under the name of the checked file.
    private func naming<Value>(
        _ other: Asset, _ name: String, _ work: () throws(MediaError) -> Value
    ) throws(MediaError) -> Value {
        do throws(MediaError) {
            return try work()
        } catch {
            guard error.path == other.displayName, error.path != asset.displayName else { throw error }
            throw MediaError(error.code, "\(name) \(other.displayName): \(error.message)", cause: error.cause)
        }
    }

    private func compare(with reference: Asset, _ request: MeasurementRequest) throws(MediaError)
        -> ReferenceMeasurements
    {
        var result = ReferenceMeasurements()
        if options.keepsFrames || request.checks.contains(where: { $0.subject == .referenceVideo }) {
            let comparison = VideoComparison(
                file: asset, reference: reference, threads: threads, keepsFrames: options.keepsFrames)
            switch try comparison.run() {
            case .compared(let (pictures, frames)): (result.pictures, result.frames) = (pictures, frames)
            case .missing(let reason): result.missingPictures = reason
            case .notApplicable: break
            }
        }
        if request.checks.contains(where: { $0.subject == .referenceAudio }) {
            switch try AudioComparison(file: asset, reference: reference).run() {
            case .compared(let sound): result.sound = sound
            case .missing(let reason): result.missingSound = reason
            case .notApplicable: break
            }
        }
        return result
    }
}
