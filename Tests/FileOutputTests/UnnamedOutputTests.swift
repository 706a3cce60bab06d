import Foundation
import Glibc
import MediaBase
import SystemCalls
import SystemPackage
import Testing

@testable import FileOutput

/// Outputs that have no name until they are in place: on the disk, on a tmpfs, and on a file system that does not have such
/// files.
@Suite struct UnnamedOutputTests {
    /// A folder, and the list of a run with outputs in it.
    struct Place: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var parent: String?
        var hasUnnamed = true

        static let all = [
            Place(testDescription: "disk"), Place(testDescription: "tmpfs", parent: "/dev/shm"),
            Place(testDescription: "hidden names", hasUnnamed: false),
        ]
        /// Those of which nothing is seen before the commit.
        static let unnamed = all.filter(\.hasUnnamed)

        func pending(maximumHeld: Int = 8) -> PendingOutputs {
            PendingOutputs(usesUnnamed: hasUnnamed, maximumHeld: maximumHeld)
        }
    }

    private func outputs(
        force: Bool = false, reading inputs: [FileIdentity] = [], _ pending: PendingOutputs
    ) -> OutputFileSet { OutputFileSet(force: force, inputs: inputs, pending: pending) }

    private func code(_ work: () throws -> Void) -> MediaError.Code? {
        do { try work() } catch { return (error as? MediaError)?.code }
        return nil
    }

    @Test(arguments: Place.unnamed) func nothingIsSeenBeforeTheCommit(_ place: Place) throws {
        let scratch = try Scratch(in: place.parent)
        let pending = place.pending()
        let file = try outputs(pending).begin(scratch("a"))
        try file.write("half")
        #expect(try scratch.names() == [] && pending.count == 1)
        #expect(file.isReplaced)
        // What the writer has written can be read back, and changed.
        let readable = try #require(file.readablePath)
        #expect(try String(contentsOfFile: readable.string, encoding: .utf8) == "half")
        try writeAll([UInt8(ascii: "H")].span, to: file.descriptor, at: 0)
        try file.commit()
        #expect(try scratch.names() == ["a"] && scratch.text(of: "a") == "Half" && pending.count == 0)
        #expect(try Stat(scratch("a")).linkCount == 1)
    }

    @Test(arguments: Place.all) func nothingRemainsOfWhatIsDiscarded(_ place: Place) throws {
        let scratch = try Scratch(in: place.parent)
        let pending = place.pending()
        let descriptors = try openDescriptors(in: scratch)
        let set = outputs(pending)
        _ = try set.begin(scratch("a"))
        try set.begin(scratch("b")).complete(with: [1])
        set.discard()
        #expect(try scratch.names() == [] && pending.count == 0)
        #expect(try openDescriptors(in: scratch) == descriptors)
    }

    @Test(arguments: Place.all) func aNameThatWasTakenMeanwhileIsLeftAlone(_ place: Place) throws {
        let scratch = try Scratch(in: place.parent)
        let pending = place.pending()
        let file = try outputs(pending).begin(scratch("a"))
        try file.write("new")
        try scratch.write("came meanwhile", to: "a")
        #expect(code { try file.commit() } == .alreadyExists)
        #expect(try scratch.text(of: "a") == "came meanwhile" && scratch.names() == ["a"] && pending.count == 0)
    }

    @Test(arguments: Place.all) func forceReplacesWhatCameMeanwhile(_ place: Place) throws {
        let scratch = try Scratch(in: place.parent)
        let pending = place.pending()
        let file = try outputs(force: true, pending).begin(scratch("a"))
        try file.write("new")
        try scratch.write("came meanwhile", to: "a")
        try file.commit()
        #expect(try scratch.text(of: "a") == "new" && scratch.names() == ["a"] && pending.count == 0)
    }

    /// A name that is a folder by then cannot be replaced, and the hidden name that was needed for it goes away.
    @Test(arguments: Place.all) func whatCannotBePutInPlaceGoesAway(_ place: Place) throws {
        let scratch = try Scratch(in: place.parent)
        let pending = place.pending()
        let file = try outputs(force: true, pending).begin(scratch("a"))
        #expect(mkdir(scratch("a").string, 0o777) == 0)
        #expect(code { try file.commit() } == .notAFile)
        #expect(try scratch.names() == ["a"] && pending.count == 0 && openDescriptors(in: scratch) == 0)
    }

    @Test(arguments: Place.all) func anInputIsNotReplaced(_ place: Place) throws {
        let scratch = try Scratch(in: place.parent)
        try scratch.write("input", to: "in")
        let identity = try #require(FileIdentity(of: scratch("in")))
        let file = try outputs(force: true, reading: [identity], place.pending()).begin(scratch("a"))
        #expect(link(scratch("in").string, scratch("a").string) == 0)
        #expect(code { try file.commit() } == .invalidArgument)
        #expect(try scratch.text(of: "a") == "input" && scratch.names() == ["a", "in"])
    }

    @Test(arguments: Place.all) func theFolderMayBeGone(_ place: Place) throws {
        let scratch = try Scratch(in: place.parent)
        let pending = place.pending()
        #expect(mkdir(scratch("d").string, 0o777) == 0)
        let file = try outputs(pending).begin(scratch("d/a"))
        #expect(rename(scratch("d").string, scratch("e").string) == 0)
        #expect(code { try file.commit() } == .notFound)
        #expect(try scratch.names() == ["e"] && pending.count == 0)
        // Only a file without a name does not stay in a folder that has another name.
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch("e").string)
        #expect(left.isEmpty == place.hasUnnamed)
    }

    @Test(arguments: Place.all) func aSignalEndsWhatIsPending(_ place: Place) throws {
        let scratch = try Scratch(in: place.parent)
        let pending = place.pending()
        let set = outputs(pending)
        let open = try set.begin(scratch("a"))
        let complete = try set.begin(scratch("b"))
        try complete.complete(with: [1])
        pending.removeAll()
        #expect(try scratch.names() == [] && pending.count == 0)
        for file in [open, complete] { #expect(code { try file.commit() } == .cancelled) }
        #expect(try scratch.names() == [] && openDescriptors(in: scratch) == 0)
    }

    @Test(arguments: Place.all) func aPublishedOutputGrowsUnderItsName(_ place: Place) throws {
        let scratch = try Scratch(in: place.parent)
        let file = try outputs(place.pending()).begin(scratch("a"))
        try file.write("one")
        try file.publish()
        #expect(try scratch.names() == ["a"] && scratch.text(of: "a") == "one")
        try file.write(" two")
        try file.publish()
        #expect(try scratch.text(of: "a") == "one two" && file.readablePath == scratch("a"))
        try file.commit()
        #expect(try scratch.names() == ["a"])

        let other = try outputs(place.pending()).begin(scratch("b"))
        try other.publish()
        other.discard()
        #expect(try scratch.names() == ["a"] && openDescriptors(in: scratch) == 0)
    }

    /// Complete outputs wait without a name as long as there are few of them.
    @Test(arguments: Place.unnamed) func manyCompleteOutputsTakeFewDescriptors(_ place: Place) throws {
        let scratch = try Scratch(in: place.parent)
        let pending = place.pending(maximumHeld: 3)
        let set = outputs(pending).setForAnotherJob(isWhole: true)
        for number in 0..<10 { try set.put(Array("\(number)".utf8), at: scratch("\(number)")) }
        #expect(try openDescriptors(in: scratch) == 3)
        let hidden = try scratch.names()
        #expect(hidden.count == 7 && hidden.allSatisfy { $0.hasSuffix(".partial") })
        try set.commit()
        #expect(try scratch.names() == (0..<10).map(String.init) && openDescriptors(in: scratch) == 0)
        for number in 0..<10 { #expect(try scratch.text(of: "\(number)") == "\(number)") }
        #expect(pending.count == 0)

        // There is room for others again.
        let next = outputs(pending)
        try next.begin(scratch("next")).complete(with: [1])
        #expect(try scratch.names().count == 10)
        next.discard()
    }

    @Test(arguments: Place.all) func aWholeSetIsNotPutInPlaceInPart(_ place: Place) throws {
        let scratch = try Scratch(in: place.parent)
        let pending = place.pending(maximumHeld: 2)
        let set = outputs(pending).setForAnotherJob(isWhole: true)
        for name in ["a", "b", "c", "d"] { try set.put([1], at: scratch(name)) }
        try scratch.write("came meanwhile", to: "c")
        #expect(code { try set.commit() } == .alreadyExists)
        #expect(try scratch.names() == ["c"] && pending.count == 0 && openDescriptors(in: scratch) == 0)
    }

    @Test func anExistingFileIsReplacedByItsHiddenName() throws {
        let scratch = try Scratch()
        try scratch.write("old", to: "a")
        let file = try outputs(force: true, PendingOutputs()).begin(scratch("a"))
        #expect(try scratch.names().count == 2)
        try file.write("new")
        try file.commit()
        #expect(try scratch.text(of: "a") == "new" && scratch.names() == ["a"])
    }

    /// The umask, the folder's set-group-ID bit and its default access control list apply to both kinds of files.
    @Test(arguments: Place.unnamed, [false, true]) func permissionsAreThoseOfAnyNewFile(
        _ place: Place, hasList: Bool
    ) throws {
        let scratch = try Scratch(in: place.parent)
        #expect(chmod(scratch.folder.string, 0o2755) == 0)
        if hasList {
            // Version 2, then tag, permissions and an unused number of the owner, the group and others: acl(5).
            let entries: [(UInt16, UInt16)] = [(1, 7), (4, 4), (0x20, 0)]
            let list = entries.reduce(into: [2, 0, 0, 0] as [UInt8]) { list, entry in
                list += [UInt8(entry.0), 0, UInt8(entry.1), 0, 0xFF, 0xFF, 0xFF, 0xFF]
            }
            try #require(setAttribute("system.posix_acl_default", of: scratch.folder, to: list))
        }
        try outputs(place.pending()).begin(scratch("a")).commit()
        try outputs(PendingOutputs(usesUnnamed: false)).begin(scratch("b")).commit()
        let (first, second) = (try Stat(scratch("a")), try Stat(scratch("b")))
        #expect(first.permissions == second.permissions)
        if hasList { #expect(first.permissions.rawValue & 0o777 == 0o640) }
        #expect(first.userID == second.userID && first.groupID == second.groupID)
    }

    /// Programs that watch a folder learn the name of an output, and that it is complete.
    @Test(arguments: Place.all) func watchersSeeACompleteFile(_ place: Place) throws {
        let scratch = try Scratch(in: place.parent)
        let watch = FileDescriptor(rawValue: inotify_init1(O_NONBLOCK))
        defer { try? watch.close() }
        let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO)
        try #require(inotify_add_watch(watch.rawValue, scratch.folder.string, events) >= 0)
        let set = outputs(place.pending())
        try set.begin(scratch("at-once")).write("x")
        let growing = try set.begin(scratch("growing"))
        try growing.publish()
        try set.commit()
        let told = String(decoding: try readSome(from: watch, atMost: 4096), as: UTF8.self)
        #expect(told.contains("at-once\0") && told.contains("growing\0"))
    }

    @Test func otherFileSystemsHaveNoUnnamedFiles() {
        #expect(makeUnnamedFile(in: "/proc") == nil)
        #expect(makeUnnamedFile(in: "/sys") == nil)
        #expect(makeUnnamedFile(in: "/none") == nil)
    }

    /// Sets an extended attribute of a file by setxattr(2), which the Glibc module lacks; returns false if that fails.
    private func setAttribute(_ name: String, of path: FilePath, to value: [UInt8]) -> Bool {
        typealias Call =
            @convention(c) (
                UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer, Int, CInt
            ) -> CInt
        guard let symbol = dlsym(nil, "setxattr") else { return false }
        return unsafeBitCast(symbol, to: Call.self)(path.string, name, value, value.count, 0) == 0
    }

    /// The number of descriptors of this process that lead to files in a folder, with a name or without.
    private func openDescriptors(in scratch: Scratch) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            return target?.hasPrefix(scratch.folder.string + "/") == true
        }
    }
}
