package import MediaBase
package import SystemPackage

extension MediaError {
    /// Creates the error of a failed system call on an output, a folder or a file that is read whole.
    ///
    /// This is the only place that maps `errno`.
    ///
    /// - Parameters:
    ///   - errno: The error number set by the call.
    ///   - operation: The failed operation, worded to follow "cannot": "write", "create". An operation that starts
    ///     with "read" concerns an input.
    ///   - path: The file as the user named it, or `nil` if no file is concerned.
    package init(_ errno: Errno, _ operation: String, path: FilePath?) {
        let (code, reason) = Self.meaning(of: errno, reading: operation.hasPrefix("read"))
        self.init(code, "cannot \(operation): \(reason)", path: path?.string, cause: errno.description)
    }

    private static func meaning(of errno: Errno, reading: Bool) -> (Code, String) {
        switch errno {
        case .noSuchFileOrDirectory where reading: (.notFound, "there is no such file; look at its name and folder")
        case .noSuchFileOrDirectory:
            (.notFound, "the file or its folder does not exist; make the folder first")
        case .notDirectory: (.notFound, "a part of the path is a file, not a folder")
        case .permissionDenied, .notPermitted:
            (.permissionDenied, "access is not allowed; look at the permissions of the file and its folder")
        case .readOnlyFileSystem: (.permissionDenied, "the file system is read-only; choose another folder")
        case .isDirectory: (.notAFile, "it is a folder; name a file")
        case .fileExists: (.alreadyExists, "the file exists already")
        case .fileNameTooLong: (.invalidArgument, "the name is too long for the file system; choose a shorter one")
        case .tooManySymbolicLinkLevels: (.invalidArgument, "the symbolic links lead in a circle")
        case .invalidArgument: (.invalidArgument, "the system does not take this name")
        case .noSpace: (.inputOutput, "the disk is full; free some space or choose another disk")
        case .diskQuotaExceeded: (.inputOutput, "the disk quota is used up; free some space")
        case .fileTooLarge: (.inputOutput, "the file would be larger than the system allows (ulimit -f)")
        case .brokenPipe: (.brokenPipe, "the reader at the other end is gone")
        case .ioError: (.inputOutput, "the device reports an error; look at the system log")
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
            (.outOfResources, "too many files are open; work on fewer at a time")
        case .noMemory: (.outOfResources, "memory ran out")
        case .badFileDescriptor: (.inputOutput, "it is closed")
        default: (.inputOutput, "the system reports an error")
        }
    }
}

extension MediaError.Code {
    /// The program that reads the output has ended; on standard output this need not be reported.
    package static let brokenPipe = Self(rawValue: "brokenPipe")
}

/// Returns what `body` returns; a failure is reported as that of an operation on a file.
///
/// - Parameters:
///   - operation: What is done, to follow "cannot".
///   - path: The file; `nil` if the caller adds it.
package func failing<Result>(
    _ operation: String, _ path: FilePath? = nil, _ body: () throws(Errno) -> Result
) throws(MediaError) -> Result {
    do throws(Errno) { return try body() } catch { throw MediaError(error, operation, path: path) }
}
