import MediaBase
import SystemPackage
import Testing

@testable import FileOutput

@Suite struct MediaErrorErrnoTests {
    @Test(arguments: [
        (Errno.noSuchFileOrDirectory, MediaError.Code.notFound), (.permissionDenied, .permissionDenied),
        (.fileExists, .alreadyExists), (.noSpace, .inputOutput), (.readOnlyFileSystem, .permissionDenied),
        (.isDirectory, .notAFile), (.fileNameTooLong, .invalidArgument), (.brokenPipe, .brokenPipe),
        (.tooManyOpenFiles, .outOfResources), (Errno(rawValue: 9999), .inputOutput),
    ])
    func mapsToACode(errno: Errno, code: MediaError.Code) {
        let error = MediaError(errno, "write", path: "a.dat")
        #expect(error.code == code)
        #expect(error.path == "a.dat")
        #expect(error.message.hasPrefix("cannot write: "))
        #expect(error.cause == errno.description)
    }

    @Test(arguments: ["read", "read the file"]) func whatIsReadNeedsNoNewFolder(operation: String) {
        let error = MediaError(.noSuchFileOrDirectory, operation, path: "policy.yml")
        #expect(error.code == .notFound)
        #expect(error.message == "cannot \(operation): there is no such file; look at its name and folder")
        #expect(MediaError(.noSuchFileOrDirectory, "write", path: "a.dat").message.contains("make the folder first"))
    }
}
