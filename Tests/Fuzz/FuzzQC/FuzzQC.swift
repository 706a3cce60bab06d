import AssetKit
import FuzzSupport
import MediaBase
import QualityControl

private let file = InputFile()

/// Reads the bytes before the first zero as a policy, and checks what follows it against that policy as a media file.
@_cdecl("fuzzQC")
public func fuzzQC(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    let text = Array(bytes.prefix { $0 != 0 })
    guard let policy = try? Policy(bytes: text, named: "fuzz") else { return 0 }
    precondition(!policy.rules.isEmpty)
    let media = Array(bytes.dropFirst(text.count + 1))
    guard !media.isEmpty, media.withUnsafeBytes({ file.write($0) }) else { return 0 }
    var options = Asset.Options()
    options.limits.pixels = 1 << 18
    options.limits.deadline = .now + .seconds(5)
    let job = QCJob(asset: Asset(descriptor: file.descriptor, options: options), policy: policy, threads: 1)
    guard let report = try? job.run() else { return 0 }
    precondition(report.rules.count == policy.rules.count)
    for finding in report.findings {
        if let start = finding.start, let end = finding.end { precondition(start.isNumeric && end.isNumeric) }
    }
    precondition(report.listedFindings.count <= report.findings.count)
    _ = CSVReport.lines(of: .success(report), path: "fuzz")
    return 0
}

/// Where the program begins.
@_cdecl("FuzzQC_main")
public func begin(_ count: CInt, _ arguments: UnsafeMutableRawPointer?) -> CInt { runFuzzer(count, arguments, fuzzQC) }
