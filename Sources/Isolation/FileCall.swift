import FileOutput
import MediaBase
import SystemCalls
import SystemPackage

/// A request of a sandboxed process to its supervisor: to open a file, or to do something with an output.
enum FileCall {
    /// Opens a file for reading.
    case read(FilePath)
    /// Opens a file for reading by its path below a folder.
    case readBeneath(folder: FilePath, path: FilePath)
    /// Lists a folder below a folder.
    case contents(folder: FilePath, path: FilePath, most: Int)
    /// Creates an unnamed file.
    case temporaryFile
    /// Begins an output.
    case begin(OutputRequest)
    /// Closes the supervisor's descriptor of an output.
    case complete(Int)
    /// Puts outputs in place.
    case commit([Int], together: Bool)
    /// Removes an output.
    case discard(Int)
    /// Refuses inputs as an output.
    case refuse([FileIdentity], output: Int?)
    /// Connects the worker with a byte source, such as a file on the network.
    case source(String)

    /// The longest message that holds a call.
    static let maximumBytes = 1 << 20

    /// The message of the call.
    var message: [UInt8] {
        var writer = MessageWriter()
        switch self {
        case .read(let path):
            writer.write(0)
            writer.write(path)
        case .readBeneath(let folder, let path):
            writer.write(1)
            writer.write(folder)
            writer.write(path)
        case .contents(let folder, let path, let most):
            writer.write(2)
            writer.write(folder)
            writer.write(path)
            writer.write(most)
        case .temporaryFile: writer.write(3)
        case .begin(let request):
            writer.write(4)
            writer.write(request.path)
            writer.write(request.goesBack)
            writer.write(request.makesFolder)
            writer.write(request.isRewritten)
        case .complete(let id):
            writer.write(5)
            writer.write(id)
        case .commit(let ids, let together):
            writer.write(6)
            writer.write(ids) { $0.write($1) }
            writer.write(together)
        case .discard(let id):
            writer.write(7)
            writer.write(id)
        case .refuse(let inputs, let output):
            writer.write(8)
            writer.write(inputs) { writer, input in
                writer.write(Int(truncatingIfNeeded: input.device.rawValue))
                writer.write(Int(truncatingIfNeeded: input.inode.rawValue))
            }
            writer.write(output) { $0.write($1) }
        case .source(let name):
            writer.write(9)
            writer.write(name)
        }
        return writer.bytes
    }

    /// Reads a call from a message, which may be hostile and begins with the number of a job.
    init(_ message: [UInt8], job: inout Int) throws(MessageReader.Invalid) {
        var reader = MessageReader(message)
        job = try reader.number()
        switch try reader.number() {
        case 0: self = .read(try reader.path())
        case 1: self = .readBeneath(folder: try reader.path(), path: try reader.path())
        case 2: self = .contents(folder: try reader.path(), path: try reader.path(), most: try reader.number())
        case 3: self = .temporaryFile
        case 4:
            self = .begin(
                OutputRequest(
                    try reader.path(), goesBack: try reader.condition(), makesFolder: try reader.condition(),
                    isRewritten: try reader.condition()))
        case 5: self = .complete(try reader.number())
        case 6:
            let ids = try reader.list { reader throws(MessageReader.Invalid) in try reader.number() }
            self = .commit(ids, together: try reader.condition())
        case 7: self = .discard(try reader.number())
        case 8:
            let inputs = try reader.list { reader throws(MessageReader.Invalid) in
                FileIdentity(
                    device: DeviceID(rawValue: .init(truncatingIfNeeded: try reader.number())),
                    inode: Inode(rawValue: .init(truncatingIfNeeded: try reader.number())))
            }
            self = .refuse(
                inputs, output: try reader.optionalNumber())
        case 9: self = .source(try reader.text())
        default: throw MessageReader.Invalid()
        }
    }
}

/// The supervisor's answer to a ``FileCall``; descriptors come with its message.
enum FileAnswer {
    /// It was done; an opened file comes with the message.
    case done
    /// An output was begun; the file, and a destination if it has one, come with the message.
    case output(kept: (id: Int, temporaryPath: FilePath)?)
    /// These outputs were not put in place.
    case failures([(index: Int, error: MediaError)])
    /// A system call failed.
    case system(Errno)
    /// It failed.
    case error(MediaError)

    /// The longest message that holds an answer.
    static let maximumBytes = 1 << 20

    /// The message of the answer.
    var message: [UInt8] {
        var writer = MessageWriter()
        switch self {
        case .done: writer.write(0)
        case .output(let kept):
            writer.write(1)
            writer.write(kept) { writer, kept in
                writer.write(kept.id)
                writer.write(kept.temporaryPath)
            }
        case .failures(let failures):
            writer.write(2)
            writer.write(failures) { writer, failure in
                writer.write(failure.index)
                writer.write(failure.error)
            }
        case .system(let errno):
            writer.write(3)
            writer.write(Int(errno.rawValue))
        case .error(let error):
            writer.write(4)
            writer.write(error)
        }
        return writer.bytes
    }

    /// Reads an answer from a message.
    init(_ message: [UInt8]) throws(MessageReader.Invalid) {
        var reader = MessageReader(message)
        switch try reader.number() {
        case 0: self = .done
        case 1:
            self = .output(
                kept: try reader.optional { reader throws(MessageReader.Invalid) in
                    (try reader.number(), try reader.path())
                })
        case 2:
            self = .failures(
                try reader.list { reader throws(MessageReader.Invalid) in
                    (try reader.number(), try reader.error())
                })
        case 3: self = .system(Errno(rawValue: CInt(truncatingIfNeeded: try reader.number())))
        case 4: self = .error(try reader.error())
        default: throw MessageReader.Invalid()
        }
    }
}
