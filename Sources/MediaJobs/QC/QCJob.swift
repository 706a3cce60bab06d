package import AssetKit
internal import MediaBase

/// Checks one file against a policy: an asset in, a report out.
///
/// ```swift
/// let report = try QCJob(asset: Asset(path: "a.mov"), policy: policy).run()
/// ```
///
/// What the policy asks for is measured in one pass over the file; where it asks for headers alone, nothing is decoded.
package struct QCJob: Sendable {
    private let asset: Asset
    private let policy: QCPolicy
    private let source: Asset?
    private let threads: Int
    private let reference: Asset?
    private let options: Options

    /// What else is wanted of a job.
    package struct Options: Sendable {
        /// Whether the report gets pictures for a page.
        package var illustrates = false
        /// Whether the values of each compared picture are kept.
        package var keepsFrames = false
        /// How many findings of one rule are listed.
        package var maximumListed = QCReport.usualListed

        /// Nothing else.
        package init() {}
    }

    /// Makes a job; nothing is read yet.
    ///
    /// - Parameters:
    ///   - asset: The file.
    ///   - policy: What it has to be like.
    ///   - source: The file that it must be a proxy of; `nil` where it is no proxy.
    ///   - reference: The file that its pictures and sound are compared with; `nil` for none.
    ///   - threads: Threads for decoding; 0 for as many as there are cores.
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

    /// Whether a pipe has to be kept, because the work goes through the file more than once.
    ///
    /// - Parameters:
    ///   - policy: What the file has to be like.
    ///   - isCompared: Whether there is a source or a reference that it is held against.
    ///   - options: What else is wanted.
    package static func readsAgain(_ policy: QCPolicy, isCompared: Bool, options: Options) -> Bool {
        let request = policy.request
        let isMeasured = request.needsSound || request.needsPictures
        return isCompared || options.illustrates || request.needsScan && isMeasured
    }

    /// Does the work.
    ///
    /// - Parameter progress: Told now and then which part is done, 0…1, and how many seconds that is.
    /// - Throws: what opening and reading the file throw.
    package func run(progress: ((Double, Double) -> Void)? = nil) throws -> QCReport {
        var request = policy.request
        // What cannot be opened is told before hours of measuring.
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

    /// Does some work; an error of another file names it in its message, as it is reported under the checked file's name.
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
        let asks = request.checks.filter { $0.facts.subject == .reference }
        if options.keepsFrames || !asks.subtracting(QCCheck.ofReferenceSound).isEmpty {
            let comparison = QCPictureComparison(
                file: asset, reference: reference, threads: threads, keepsFrames: options.keepsFrames)
            switch try comparison.run() {
            case .compared(let (pictures, frames)): (result.pictures, result.frames) = (pictures, frames)
            case .missing(let reason): result.missingPictures = reason
            case .notApplicable: break
            }
        }
        if !asks.isDisjoint(with: QCCheck.ofReferenceSound) {
            switch try QCSoundComparison(file: asset, reference: reference).run() {
            case .compared(let sound): result.sound = sound
            case .missing(let reason): result.missingSound = reason
            case .notApplicable: break
            }
        }
        return result
    }
}

/// What comes of the rules, one after the other.
private struct FindingsBuilder {
    let timecodes: QCTimecodes
    private(set) var rules: [QCReport.RuleResult] = []
    private(set) var findings: [QCFinding] = []

    /// Findings of one file that are kept at most.
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

    private func finding(_ rule: QCRule, _ fact: QCFact) -> QCFinding {
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

/// The timecodes of moments, by the rate of the file's first video track: from its start timecode on, which is that of the
/// first picture, else from 00:00:00:00 at time zero.
private struct QCTimecodes {
    /// What is added to a moment's time; `nil` where there are no pictures, or no such timecode.
    private var offset: MediaTime?
    private var rate: Timecode.Rate?

    init(_ report: ProbeReport) {
        let pictures = report.tracks.first { $0.video?.frameRate?.nominal != nil }
        guard let pictures, let frameRate = pictures.video?.frameRate?.nominal else { return }
        // A picture's own time may have been rounded down to a tick; half a tick more is still the same picture.
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
