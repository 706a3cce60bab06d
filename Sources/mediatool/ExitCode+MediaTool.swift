import ArgumentParser

extension ExitCode {
    /// `qc` found what fails.
    static let checkFailed = ExitCode(1)

    /// Something that was asked for was not delivered; all else was.
    static let notDelivered = ExitCode(2)

    /// The program that read standard output has ended, as a shell shows the end by SIGPIPE: 128 + 13.
    static let brokenPipe = ExitCode(141)

    /// The program was asked to stop: 128 + the signal's number, so 130 for ^C and 143 for `kill`.
    static func interrupted(by signal: Int32) -> ExitCode { ExitCode(128 + signal) }
}
