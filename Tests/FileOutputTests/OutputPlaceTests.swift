import SystemPackage
import Testing

@testable import FileOutput

@Suite struct OutputPlaceTests {
    @Test(arguments: ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/null"])
    func namesOfDescriptorsAndDevicesAreDirect(path: String) throws {
        guard case .direct(FilePath(path)) = try OutputPlace(of: FilePath(path)) else {
            Issue.record("\(path) is not written directly")
            return
        }
    }

    @Test func onlyABareDashIsStandardOutput() throws {
        let scratch = try Scratch()
        guard case .standardOutput = try OutputPlace(of: "-") else {
            Issue.record("- is not standard output")
            return
        }
        guard case .beside(scratch("-"), present: nil) = try OutputPlace(of: scratch("-")) else {
            Issue.record("a file named - is not a file")
            return
        }
    }

    @Test func aLinkLeadsToItsTarget() throws {
        let scratch = try Scratch()
        try scratch.write("12345", to: "real")
        try scratch.link("link", to: "real")
        guard case .beside(let path, let present?) = try OutputPlace(of: scratch("link")) else {
            Issue.record("no file found")
            return
        }
        #expect(path == scratch("real"))
        #expect(present.size == 5)
    }
}
