import ArgumentParser
import MediaBase
import Network
import SystemPackage

/// The options for inputs on the network, shared by all commands.
struct NetworkArguments: ParsableArguments {
    @Option(
        name: .customLong("header"), parsing: .singleValue,
        help: ArgumentHelp(
            "Send this header to the server of an address, such as 'Authorization: Bearer …'; repeatable.",
            valueName: "header"))
    var headers: [String] = []

    @Flag(help: "Take names and passwords for servers from ~/.netrc.")
    var netrc = false

    @Option(
        help: ArgumentHelp(
            "Trust the authorities whose certificates are in this file. (default: the system's, or SSL_CERT_FILE)",
            valueName: "file"))
    var ca: PathArgument?

    @Option(
        help: ArgumentHelp(
            "How often a request is repeated after a failure that may pass. (default: \(NetworkOptions().retries))",
            valueName: "n"))
    var networkRetries: Int?

    @Flag(help: "Pay for requests to S3 buckets whose owner does not.")
    var requestPayer = false

    func validate() throws {
        try CommonArgument.check("--network-retries", networkRetries, in: 0...100)
        for header in headers {
            let name = header.prefix { $0 != ":" }
            guard name.endIndex < header.endIndex, !name.isEmpty,
                name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !header.contains(where: \.isNewline)
            else { throw ValidationError("'--header' takes 'Name: value', on one line.") }
            guard !Self.ownHeaders.contains(name.lowercased()) else {
                throw ValidationError("'--header' does not take \(name), which every request has of its own.")
            }
        }
    }

    /// The headers that say what is asked of whom.
    private static let ownHeaders: Set<String> = [
        "accept-encoding", "connection", "content-length", "host", "if-range", "range", "transfer-encoding",
    ]

    /// The options that these and the environment's variables select.
    var options: NetworkOptions {
        var options = NetworkOptions.environment
        options.headers = headers.map { String(decoding: RawArguments.bytes(of: $0), as: UTF8.self) }
        options.usesNetrc = netrc
        if let ca { options.certificateAuthorities = ca.path }
        if let networkRetries { options.retries = networkRetries }
        options.s3.paysForRequests = requestPayer
        return options
    }
}
