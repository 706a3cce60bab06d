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
}
