import Isolation
import MediaBase
import Network
import SystemCalls
import SystemPackage

extension FilesRun {
    /// True if something on the network may be read, so that a process is started for that.
    var readsNetwork: Bool {
        files.contains(where: \.isRemote) || others.inputs.contains(where: \.isRemote)
            || others.timelines?.allowNetwork != nil
    }

    /// Starts the process that reads the network for the workers.
    func startSourceServer() throws(MediaError) -> SourceServer {
        do throws(Errno) {
            let source = remoteSource
            let expected = (files.prefix(running.jobs) + others.inputs).compactMap { $0.address?.secretText }
            return try SourceServer(expecting: expected) { name in
                do throws(MediaError) {
                    return source(try NetworkAddress(name), running.network.options)
                } catch {
                    return Unreadable(error: error)
                }
            }
        } catch {
            throw MediaError(.outOfResources, "no process can be started", cause: error.description)
        }
    }

    /// Makes the source of an address, which warns if the server sends only whole files.
    var remoteSource: NetworkAccess.Opener {
        let named = Set((files + others.inputs).compactMap(\.address))
        return { [isQuiet = running.quiet] address, options in
            var options = options
            // The headers are for the servers of the command line, not for those that a timeline names.
            if !named.contains(address) { options.headers = [] }
            return RemoteFile(address, options) {
                guard !isQuiet else { return }
                StandardError.warn(
                    "the server knows no ranges, so the file is read once, into a temporary file",
                    path: address.displayName)
            }
        }
    }

    /// Returns true if the work on an input may read the address that a text is.
    func allowsSource(of file: InputArgument) -> @Sendable (String) -> Bool {
        let addresses = Set((others.inputs + [file]).compactMap { $0.address?.secretText })
        let hosts = Set(others.timelines?.allowNetwork ?? [])
        return { name in
            addresses.contains(name) || (try? NetworkAddress(name)).map { hosts.contains($0.host) } ?? false
        }
    }
}

/// The source of a text that is no address.
private struct Unreadable: ByteSource {
    let error: MediaError
    let size: UInt64? = 0

    func open() throws(MediaError) { throw error }

    func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] { throw error }
}
