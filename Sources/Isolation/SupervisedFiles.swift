import FileOutput
import Glibc
import MediaBase
import SystemCalls
import SystemPackage
import Threading

/// The files of a sandboxed process: each is opened, and each output put in place, by its supervisor.
///
/// A call waits for the supervisor's answer. Thread-safe.
final class SupervisedFiles: FileOpener, OutputKeeper {
    private let channel: MessageChannel
    /// The number of the job; locked while a call is answered.
    private let job = Mutex(0)
    /// The open input of the job that nobody has taken yet.
    private let input = Mutex<(path: FilePath, descriptor: FileDescriptor)?>(nil)

    /// Creates the files over a channel that carries nothing else.
    init(_ channel: MessageChannel) { self.channel = channel }

    /// Begins a job, and takes over the open input that came with it.
    func begin(_ job: Int, _ path: FilePath?, _ descriptor: FileDescriptor?) {
        self.job.withLock { $0 = job }
        let old = input.withLock { input in
            let old = input.take()
            if let path, let descriptor { input = (path, descriptor) }
            return old
        }
        try? old?.descriptor.close()
    }

    /// Returns the answer to a call, and the descriptors that come with it.
    private func ask(_ call: FileCall) -> (FileAnswer, [FileDescriptor]) {
        job.withLock { job in
            do {
                var writer = MessageWriter()
                writer.write(job)
                try channel.send(writer.bytes + call.message)
                guard let message = try channel.receive(atMost: FileAnswer.maximumBytes) else {
                    return (.system(.brokenPipe), [])
                }
                return (try FileAnswer(message.bytes), message.descriptors)
            } catch {
                return (.system(error as? Errno ?? .ioError), [])
            }
        }
    }

    private func open(_ call: FileCall) throws(Errno) -> FileDescriptor {
        switch ask(call) {
        case (.done, let descriptors) where descriptors.count == 1: return descriptors[0]
        case (.system(let errno), _): throw errno
        default: throw .ioError
        }
    }

    /// Returns a connection to the byte source of a name.
    func connect(to name: String) throws(MediaError) -> MessageChannel {
        do throws(Errno) {
            return MessageChannel(try open(.source(name)))
        } catch {
            throw error == .permissionDenied
                ? MediaError(.nestedFileRefused, "is not one of the addresses that may be read")
                : MediaError(.inputOutput, "the process that reads the network has ended", cause: "\(error)")
        }
    }

    // MARK: FileOpener

    func openForReading(_ path: FilePath) throws(Errno) -> FileDescriptor {
        let input = input.withLock { input in input?.path == path ? input.take() : nil }
        if let input { return input.descriptor }
        return try open(.read(path))
    }

    func open(_ relative: FilePath, beneath folder: FilePath) throws(Errno) -> FileDescriptor {
        try open(.readBeneath(folder: folder, path: relative))
    }

    func contents(
        of relative: FilePath, beneath folder: FilePath, atMost most: Int
    ) throws(Errno) -> [OpenFolder.Entry] {
        let file = try open(.contents(folder: folder, path: relative, most: most))
        defer { try? file.close() }
        let bytes = try readAll(file)
        do throws(MessageReader.Invalid) {
            var reader = MessageReader(bytes)
            return try reader.list { reader throws(MessageReader.Invalid) in
                OpenFolder.Entry(name: try reader.bytes(), isFolder: try reader.condition())
            }
        } catch {
            throw .ioError
        }
    }

    func makeTemporaryFile() throws(Errno) -> FileDescriptor { try open(.temporaryFile) }

    // MARK: OutputKeeper

    func begin(_ request: OutputRequest) throws(MediaError) -> KeptOutput {
        let path = request.path
        while true {
            switch ask(.begin(request)) {
            case (.output(let kept), let descriptors):
                // Standard output is not sent; this process has it.
                return KeptOutput(
                    descriptor: descriptors.first ?? .standardOutput, destination: descriptors.dropFirst().first,
                    kept: kept)
            // The supervisor does not wait for the reader of a FIFO, since it has others to serve.
            case (.error(let error), _) where error.code == .notReady: usleep(10_000)
            case (.error(let error), _): throw error
            case (.system(let errno), _): throw MediaError(errno, "write", path: path)
            default: throw MediaError(.ioError, "write", path: path)
            }
        }
    }

    func complete(_ id: Int) { _ = ask(.complete(id)) }

    func commit(_ ids: [Int], together: Bool) -> [(index: Int, error: MediaError)] {
        switch ask(.commit(ids, together: together)) {
        case (.failures(let failures), _): failures
        case (.system(let errno), _): ids.indices.map { ($0, MediaError(errno, "write", path: nil)) }
        default: ids.indices.map { ($0, MediaError(.ioError, "write", path: nil)) }
        }
    }

    func discard(_ id: Int) { _ = ask(.discard(id)) }

    func refuse(_ inputs: [FileIdentity], as id: Int?) throws(MediaError) {
        if case (.error(let error), _) = ask(.refuse(inputs, output: id)) { throw error }
    }
}
