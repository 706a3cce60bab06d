import ArgumentParser
import Network
import SystemPackage
import Testing

@testable import mediatool

/// Tells addresses from files on the command line.
@Suite struct InputArgumentTests {
    @Test func addressesAreNamedAfterTheirLastPart() throws {
        let input = try #require(InputArgument(argument: "HTTPS://ann:s3cret@media.example/a/my%20clip.mov?sig=abc"))
        #expect(input.isRemote && !input.isStandardStream)
        #expect(input.path == "my clip.mov")
        #expect(input.displayName == "https://…@media.example/a/my%20clip.mov?…")
        #expect(input.identity == nil && input.nameBytes == nil)
        try input.validate()
    }

    @Test(arguments: ["./https://x/y", "https:/x/y", "clip.mov", "-", "ftp://x/y", "s3:x"])
    func otherNamesAreFiles(name: String) throws {
        let input = try #require(InputArgument(argument: name))
        #expect(!input.isRemote && input.path == FilePath(name))
        #expect(input.isStandardStream == (name == "-"))
    }

    /// The message does not repeat the address, in which a password may stand.
    @Test func anInvalidAddressIsAUsageError() throws {
        let input = try #require(InputArgument(argument: "https://ann:s3cret@:99999/x"))
        let error = #expect(throws: ValidationError.self) { try input.validate() }
        #expect(error?.message.contains("s3cret") == false)
        #expect(input.displayName.contains("s3cret") == false)
    }

    @Test(arguments: [
        ["--header", "no colon"], ["--header", ": x"], ["--header", "a\nb: x"], ["--network-retries", "-1"],
    ])
    func invalidOptionsAreRefused(arguments: [String]) {
        #expect(throws: (any Error).self) { try NetworkArguments.parse(arguments) }
    }

    @Test func optionsArePassedOn() throws {
        let arguments = try NetworkArguments.parse([
            "--header", "A: b", "--header", "C: d", "--netrc", "--ca", "ca.pem", "--network-retries", "0",
            "--request-payer",
        ])
        let options = arguments.options
        #expect(options.headers == ["A: b", "C: d"] && options.usesNetrc && options.retries == 0)
        #expect(options.certificateAuthorities == "ca.pem" && options.s3.paysForRequests)
    }
}
