import ArgumentParser
import AssetKit
import Inspection
import MediaBase
import MediaJobs
import Network
import SystemCalls
import SystemPackage

/// An input named on the command line: a file, standard input, or a file on the network.
///
/// An argument that begins with `http://`, `https://` or `s3://` is an address; a file of that name is written `./https:…`.
struct InputArgument: ExpressibleByArgument, Hashable {
    /// The file, after which outputs are named; for an address, the last part of it.
    let path: FilePath
    private let place: Place
    private let endsWithSlash: Bool

    /// Where the file is; few files of a long list are anywhere but here, so that they alone take the memory for it.
    private enum Place: Hashable {
        case here
        indirect case remote(NetworkAddress)
        /// An address that cannot be used, for a reason.
        indirect case nowhere(String)
    }

    /// The address; `nil` for a file of this machine and for standard input.
    var address: NetworkAddress? { if case .remote(let address) = place { address } else { nil } }

    /// True if the name is `-`, which denotes standard input.
    var isStandardStream: Bool { path == "-" && !endsWithSlash && !isRemote }

    /// True if the input is on the network.
    var isRemote: Bool { place != .here }

    /// The name for messages and results, without what is secret in an address.
    var displayName: String { address?.displayName ?? path.displayPath }

    /// The bytes of the name in base64 if they are not UTF-8.
    var nameBytes: String? { isRemote ? nil : path.pathBytes }

    /// Returns the file as an asset.
    func asset(_ options: Asset.Options) -> Asset {
        if let address { return Asset(address: address, options: options) }
        return isStandardStream ? Asset.standardInput(options: options) : Asset(path: path, options: options)
    }

    /// The identity of the file, for refusing it as an output; `nil` if it does not exist here.
    var identity: FileIdentity? {
        if isRemote { return nil }
        return isStandardStream ? FileIdentity(of: FileDescriptor.standardInput) : FileIdentity(of: path)
    }

    /// Refuses an invalid address; the message does not repeat it, because it may hold a password.
    func validate() throws {
        if case .nowhere(let reason) = place { throw ValidationError("An address \(reason).") }
    }

    /// Refuses an input whose stem would make an output's name lead to another folder.
    func refuseLeadingAway(_ name: (FilePath) -> FilePath) throws {
        guard path.isLedAway(name) else { return }
        throw ValidationError(
            "'\(displayName)' cannot stand for {stem}: what comes before its extension is a folder, not a name.")
    }

    /// Makes an input of a file of this machine.
    init(path: FilePath) { (self.path, place, endsWithSlash) = (path, .here, false) }

    /// Makes an input from an escaped argument; returns `nil` if it is empty.
    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        endsWithSlash = argument.unicodeScalars.last == "/"
        guard NetworkAddress.isAddress(argument) else {
            (path, place) = (FilePath(argument: argument), .here)
            return
        }
        do throws(MediaError) {
            let address = try NetworkAddress(String(decoding: RawArguments.bytes(of: argument), as: UTF8.self))
            (path, place) = (FilePath(address.fileName), .remote(address))
        } catch {
            (path, place) = (FilePath("address"), .nowhere(error.message))
        }
    }

    static var defaultCompletionKind: CompletionKind { .file() }
}
