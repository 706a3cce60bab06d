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
    private let policy: QCPolicy
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
        asset: Asset, policy: QCPolicy, proxyOf source: Asset? = nil, reference: Asset? = nil, threads: Int = 0,
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
    package static func readsAgain(_ policy: QCPolicy, isCompared: Bool, options: Options) -> Bool {
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
        var measurements = try QCReading(asset: asset, request: request, threads: threads).measure(progress: progress)
        if request.checks.contains(.headerMismatches) {
            measurements.headerMismatches =
                QCHeaderComparison(
                    tracks: try asset.loadNow(.tracks), report: probe, measurements: measurements
                ).mismatches
        }
        if let reference {
            measurements.reference = try naming(reference, "the reference") { () throws(MediaError) in
                try compare(with: reference, request)
            }
        }
        let evaluation = try QCEvaluation(report: probe, measurements: measurements)
        var collector = FindingsBuilder(timecodes: QCTimecodes(probe))
        for rule in policy.rules { collector.add(rule, evaluation.outcome(of: rule.condition)) }
        if let source {
            let entries = try naming(source, "the proxy's source") { () throws(MediaError) in
                try QCProxyComparison(proxy: asset, source: source, threads: threads).run()
            }
            for entry in entries {
                collector.add(QCRule(id: entry.id, severity: .fail, condition: .all([])), entry.outcome)
            }
        }
        let (rules, findings) = (collector.rules, collector.findings)
        let verdict: QCReport.Verdict =
            rules.contains { $0.status == .fail } ? .fail : rules.contains { $0.status == .warn } ? .warn : .pass
        var report = QCReport(
            verdict: verdict, policy: policy.name, rules: rules, findings: findings, measurements: measurements,
            warnings: probe.warnings + measurements.notes)
        report.maximumListed = options.maximumListed
        if options.illustrates { report.illustrations = QCIllustrations(asset, findings: findings) }
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

    private func compare(with reference: Asset, _ request: QCRequest) throws(MediaError) -> QCReferenceMeasurements {
        var result = QCReferenceMeasurements()
        if options.keepsFrames || request.checks.contains(where: { $0.subject == .referenceVideo }) {
            let comparison = QCPictureComparison(
                file: asset, reference: reference, threads: threads, keepsFrames: options.keepsFrames)
            switch try comparison.run() {
            case .compared(let (pictures, frames)): (result.pictures, result.frames) = (pictures, frames)
            case .missing(let reason): result.missingPictures = reason
            case .notApplicable: break
            }
        }
        if request.checks.contains(where: { $0.subject == .referenceAudio }) {
            switch try QCSoundComparison(file: asset, reference: reference).run() {
            case .compared(let sound): result.sound = sound
            case .missing(let reason): result.missingSound = reason
            case .notApplicable: break
            }
        }
        return result
    }
}

/// Collects the results and findings of rules.
private struct FindingsBuilder {
    let timecodes: QCTimecodes
    private(set) var rules: [QCReport.RuleResult] = []
    private(set) var findings: [QCFinding] = []

    /// The maximum number of findings kept for one file.
    private static let maximumFindings = 100_000

    init(timecodes: QCTimecodes) { self.timecodes = timecodes }

    mutating func add(_ rule: QCRule, _ outcome: QCOutcome) {
        switch outcome {
        case .passed: rules.append(.init(id: rule.id, status: .pass))
        case .notApplicable(let reason):
            rules.append(.init(id: rule.id, status: .notApplicable, reason: reason))
        case .failed(let facts, let more):
            rules.append(
                .init(
                    id: rule.id, status: rule.severity == .warn ? .warn : .fail,
                    findingCount: Int64(facts.count) + more))
            for fact in facts.prefix(max(0, Self.maximumFindings - findings.count)) {
                findings.append(finding(rule, fact))
            }
        }
    }

    private func finding(_ rule: QCRule, _ fact: QCViolation) -> QCFinding {
        var id = rule.id
        if let track = fact.trackIndex { id += "@\(track)" }
        if let channel = fact.channel { id += ".\(channel)" }
        if let range = fact.range { id += ":\(range.start)" }
        let place = fact.trackIndex.map { "track \($0): " } ?? ""
        let channel = fact.channel.map { " in channel \($0 + 1)" } ?? ""
        let time =
            fact.range.map {
                $0.start == $0.end
                    ? " at \($0.start.clockText())" : " from \($0.start.clockText()) to \($0.end.clockText())"
            } ?? ""
        var message = "\(place)\(fact.subject)\(channel) is \(fact.measured)\(time), wanted \(fact.wanted)"
        if let template = rule.message {
            message = template
            for (key, value) in [
                ("{measured}", fact.measured), ("{wanted}", fact.wanted),
                ("{track}", fact.trackIndex.map { "\($0)" } ?? "-"),
                ("{start}", fact.range?.start.clockText() ?? "-"), ("{end}", fact.range?.end.clockText() ?? "-"),
            ] {
                message = message.split(separator: key, omittingEmptySubsequences: false).joined(separator: value)
            }
        }
        return QCFinding(
            id: id, rule: rule.id, severity: rule.severity, trackIndex: fact.trackIndex, channel: fact.channel,
            start: fact.range?.start, end: fact.range?.end,
            startTimecode: fact.range.flatMap { timecodes.text(at: $0.start) },
            endTimecode: fact.range.flatMap { timecodes.text(at: $0.end) }, measured: fact.measured,
            wanted: fact.wanted, message: message)
    }
}

/// Converts times to timecodes at the frame rate of the first video track.
///
/// Timecodes count from the file's start timecode, which belongs to the first frame, or else from 00:00:00:00 at time
/// zero.
private struct QCTimecodes {
    /// The offset added to a time; `nil` if there is no video or the timecode is not valid.
    private var offset: MediaTime?
    private var rate: Timecode.Rate?

    init(_ report: ProbeReport) {
        let pictures = report.tracks.first { $0.video?.frameRate?.nominal != nil }
        guard let pictures, let frameRate = pictures.video?.frameRate?.nominal else { return }
        // A frame's time may have been rounded down to a tick; half a tick later is still the same frame.
        let slack = pictures.timeScale.map { MediaTime(value: 1, timescale: $0).multiplied(by: 1, dividedBy: 2) }
        if let text = report.container.startTimecode {
            guard let kind = try? Timecode.Rate(frameRate: frameRate, isDropFrame: text.contains(";")),
                let start = try? Timecode(text, rate: kind)
            else { return }
            rate = kind
            offset = start.time - (pictures.timeRange.start ?? .zero) + (slack ?? .zero)
        } else {
            rate = try? Timecode.Rate(frameRate: frameRate)
            offset = slack ?? .zero
        }
    }

    func text(at time: MediaTime) -> String? {
        guard let offset, let rate else { return nil }
        return (try? Timecode(elapsed: time + offset, rate: rate))?.wrappedAt24Hours.description
    }
}
