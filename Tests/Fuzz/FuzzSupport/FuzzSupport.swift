import Glibc
public import SystemPackage

/// A folder of this run alone, under `TMPDIR` or `/tmp`; its name cannot be guessed.
public func makeTemporaryFolder() -> FilePath {
    let parent = getenv("TMPDIR").map { FilePath(platformString: $0) } ?? "/tmp"
    var name = Array(parent.appending("fuzz-XXXXXX").string.utf8CString)
    guard mkdtemp(&name) != nil else { fatalError("no temporary folder: \(Errno(rawValue: errno))") }
    return FilePath(platformString: name)
}

/// A file without a name that holds one input after the other.
public struct InputFile: Sendable {
    /// The open file.
    public let descriptor: FileDescriptor

    /// Creates the file; ends the program if there is no room for it.
    public init() {
        let folder = makeTemporaryFolder()
        let path = folder.appending("input")
        guard
            let descriptor = try? FileDescriptor.open(
                path, .readWrite, options: [.create, .exclusiveCreate], permissions: [.ownerReadWrite])
        else { fatalError("no temporary file in \(folder)") }
        self.descriptor = descriptor
        unlink(path.string)
        rmdir(folder.string)
    }

    /// Replaces the contents; returns false if that fails.
    public func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        ftruncate(descriptor.rawValue, 0) == 0
            && pwrite(descriptor.rawValue, bytes.baseAddress, bytes.count, 0) == bytes.count
    }
}

/// A function that takes one input.
public typealias FuzzTest = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

/// Runs libFuzzer with a program's arguments.
///
/// Its own `main` cannot be used: the package manager names the entry point after the target.
public func runFuzzer(_ count: CInt, _ arguments: UnsafeMutableRawPointer?, _ test: FuzzTest) -> CInt {
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments, test)
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ test: FuzzTest
) -> CInt
