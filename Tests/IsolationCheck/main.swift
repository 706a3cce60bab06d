// Starts workers for IsolationTests and prints what became of them. It has one thread, as a supervisor must.
import FileOutput
import Glibc
import Isolation
import MediaBase
import SystemCalls
import SystemPackage

/// The result of a call: "allowed", or the name of the error.
func outcome(_ result: CInt) -> String { result >= 0 ? "allowed" : String(describing: Errno(rawValue: errno)) }

/// Tries to limit the parent, with the new limits at an address whose lower half is 0.
func limitParent() -> String {
    let place = UnsafeMutableRawPointer(bitPattern: 1 << 32)
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED
    guard let memory = mmap(place, 4096, PROT_READ | PROT_WRITE, flags, -1, 0), memory != MAP_FAILED else {
        return "no memory"
    }
    let limit = memory.bindMemory(to: rlimit.self, capacity: 1)
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), limit) == 0 else { return "no limit" }
    // glibc declares it under _GNU_SOURCE only, as it does sched_setaffinity.
    typealias Call = @convention(c) (pid_t, CInt, UnsafePointer<rlimit>?, UnsafeMutablePointer<rlimit>?) -> CInt
    guard let call = dlsym(nil, "prlimit") else { return "no prlimit" }
    return outcome(unsafeBitCast(call, to: Call.self)(getppid(), CInt(RLIMIT_NOFILE.rawValue), limit, nil))
}

/// Tries to keep the parent to the first processor.
func moveParent() -> String {
    typealias Call = @convention(c) (pid_t, Int, UnsafePointer<UInt64>) -> CInt
    guard let call = dlsym(nil, "sched_setaffinity") else { return "no sched_setaffinity" }
    var processors: UInt64 = 1
    return outcome(unsafeBitCast(call, to: Call.self)(getppid(), 8, &processors))
}

/// Calls that a hostile worker might try, with a file that it has open and one in the same folder that it has not.
func tries(_ file: FileDescriptor, beside other: FilePath) -> [(String, String)] {
    let folder = other.removingLastComponent()
    let path = "/proc/self/fd/\(file.rawValue)"
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var limit = rlimit(rlim_cur: 1 << 40, rlim_max: 1 << 40)
    var letter: CChar = 65
    var thread = pthread_t()
    return [
        ("open a file", outcome(open("/etc/passwd", O_RDONLY))),
        ("create a file", outcome(open(folder.appending("new").string, O_CREAT | O_WRONLY, 0o600))),
        ("open its input again for writing", outcome(open(path, O_RDWR))),
        ("list a folder", opendir("/etc") == nil ? outcome(-1) : "allowed"),
        ("read the memory of its parent", outcome(open("/proc/\(getppid())/mem", O_RDONLY))),
        ("make a folder", outcome(mkdir(folder.appending("folder").string, 0o700))),
        ("rename a file", outcome(rename(other.string, folder.appending("renamed").string))),
        ("remove a file", outcome(unlink(folder.appending("second").string))),
        ("make a socket", outcome(socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0))),
        ("make a local socket", outcome(socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0))),
        ("start a program", outcome(execv("/bin/true/x", [nil]))),
        ("signal its parent", outcome(kill(getppid(), 0))),
        ("raise a limit", outcome(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit))),
        ("limit its parent", limitParent()),
        ("slow its parent down", outcome(setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(getppid()), 19))),
        ("move its parent", moveParent()),
        ("type into the terminal", outcome(ioctl(0, UInt(TIOCSTI), &letter))),
        ("write to its input", outcome(CInt(write(file.rawValue, &letter, 1)))),
        ("read its input", outcome(CInt(read(file.rawValue, &letter, 1)))),
        ("read a font", outcome(open("/usr/share", O_RDONLY | O_DIRECTORY))),
        ("write a font", outcome(open("/usr/share/isolation-check", O_CREAT | O_WRONLY, 0o600))),
        ("start a thread", pthread_create(&thread, nil, { _ in nil }, nil) == 0 ? "allowed" : "refused"),
    ]
}

/// What a worker asks its supervisor for, each with the answer.
func asks(_ folder: FilePath) -> [String] {
    func answer(_ name: String, _ body: () throws -> Void) -> String {
        do {
            try body()
            return "\(name): allowed"
        } catch let error as MediaError {
            return "\(name): \(error.code.rawValue)"
        } catch {
            return "\(name): \(error)"
        }
    }
    let outputs = OutputFileSet(force: false, inputs: [])
    func write(_ name: String) throws {
        let output = try outputs.begin(folder.appending(name))
        try output.write("whole")
        try output.commit()
    }
    return [
        answer("the input") { try openForReading(folder.appending("input")).close() },
        answer("another file") { _ = try openForReading(folder.appending("secret")) },
        answer("another way to it") {
            _ = try openForReading(folder.appending("../\(folder.lastComponent?.string ?? "")/secret"))
        },
        answer("a folder") { _ = try OpenFolder(folder).contents(of: "", atMost: 10) },
        answer("a file below it") { _ = try OpenFolder(folder).open("secret") },
        answer("a descriptor of its supervisor") { _ = try openForReading("/proc/self/fd/0") },
        answer("a temporary file") { try makeTemporaryFile().close() },
        answer("an output") { try write("a.dat") },
        answer("the output again") { try write("a.dat") },
        answer("another output") { try write("a.txt") },
        answer("an output elsewhere") { try write("../a.dat") },
    ]
}

/// Runs a worker that sends one text, and returns it with its ending.
func run(
    limits: ResourceLimits = ResourceLimits(), isRestricted: Bool = true, seconds: Double = 20,
    _ work: (MessageChannel) -> String
) throws -> (text: String, ending: WorkerProcess.Ending) {
    let worker = try WorkerProcess.start(limits: limits, isRestricted: isRestricted) { channel in
        try? channel.send(Array(work(channel).utf8))
        return 0
    }
    var waiting = pollfd(fd: worker.channel.descriptor.rawValue, events: Int16(POLLIN), revents: 0)
    let isSilent = poll(&waiting, 1, CInt(seconds * 1000)) == 0
    if isSilent { worker.stop() }
    let message = try worker.channel.receive(atMost: 1 << 24)
    return (message.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "", worker.end())
}

signal(SIGXFSZ, SIG_IGN)
let words = CommandLine.arguments.dropFirst()
let result: (text: String, ending: WorkerProcess.Ending)
switch words.first {
case "tries":
    let path = FilePath(CommandLine.arguments[2])
    let input = try FileDescriptor.open(path, .readOnly)
    // In the same folder: one file to rename, one to remove.
    let others = ["first", "second"].map { path.removingLastComponent().appending($0) }
    for other in others {
        try FileDescriptor.open(other, .writeOnly, options: .create, permissions: .ownerReadWrite).close()
    }
    let worker = try WorkerProcess.start(limits: ResourceLimits(), isRestricted: words.last != "free") { channel in
        guard let message = try? channel.receive(atMost: 100), let file = message.descriptors.first else { return 3 }
        let lines = tries(file, beside: others[0]).map { "\($0): \($1)" }
        try? channel.send(Array(lines.joined(separator: "\n").utf8))
        return 0
    }
    try worker.channel.send([], descriptors: [input])
    let message = try worker.channel.receive(atMost: 1 << 16)
    result = (message.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "", worker.end())
case "abort": result = try run { _ in abort() }
case "trap": result = try run { _ in String(Int.max + (Int(getpid()) > 0 ? 1 : 0)) }
case "loop": result = try run(limits: ResourceLimits(processorSeconds: 1)) { _ in while true {} }
case "sleep":
    result = try run(seconds: 0.2) { _ in
        sleep(60)
        return ""
    }
case "disk":
    let path = CommandLine.arguments[2]
    let output = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0o600)
    let worker = try WorkerProcess.start(limits: ResourceLimits(fileBytes: 100_000)) { channel in
        guard let file = try? channel.receive(atMost: 10)?.descriptors.first else { return 3 }
        let block = [UInt8](repeating: 1, count: 30_000)
        var text = ""
        for _ in 0..<10 { text = outcome(CInt(write(file.rawValue, block, block.count))) }
        try? channel.send(Array(text.utf8))
        return 0
    }
    try worker.channel.send([], descriptors: [FileDescriptor(rawValue: output)])
    let message = try worker.channel.receive(atMost: 100)
    result = (message.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "", worker.end())
case "memory":
    result = try run(limits: ResourceLimits(dataBytes: 200 << 20)) { _ in
        malloc(1 << 30) == nil ? "no memory" : "allowed"
    }
case "resident":
    let worker = try WorkerProcess.start(limits: ResourceLimits()) { channel in
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 20, alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 1)
        try? channel.send([])
        _ = try? channel.receive(atMost: 1)
        return 0
    }
    _ = try worker.channel.receive(atMost: 0)
    let bytes = worker.residentBytes ?? 0
    try worker.channel.send([])
    result = ("\(bytes >> 20)", worker.end())
case "long":
    result = try run { _ in String(repeating: "x", count: 3_000_000) }
case "endless":
    let worker = try WorkerProcess.start(limits: ResourceLimits()) { channel in
        while (try? channel.send([UInt8](repeating: 0, count: 10_000_000))) != nil {}
        return 0
    }
    var text = ""
    do { _ = try worker.channel.receive(atMost: 1 << 20) } catch { text = "\(error)" }
    worker.stop()
    result = (text, worker.end())
case "descriptors":
    result = try run { channel in
        // Only the standard descriptors and the channel are open.
        (3..<200).filter { fcntl($0, F_GETFD) >= 0 && $0 != channel.descriptor.rawValue }.map(String.init)
            .joined(separator: " ")
    }
case "asks":
    // What a worker asks its supervisor for, in a folder with a file `input` and a file `secret`.
    let folder = FilePath(CommandLine.arguments[2])
    var pool = WorkerPool(outputs: OutputFileSet(force: false, inputs: []))
    pool.timeout = .seconds(10)
    var policy = FilePolicy()
    policy.readable = [folder.appending("input")]
    policy.outputPatterns = [folder.appending("{stem}.dat")]
    var lines: [String] = []
    try pool.run(count: 2, policy: { _ in policy }) { job, _ in
        let lines = asks(folder)
        if job == 1 {
            let output = try? OutputFileSet(force: false, inputs: []).begin(folder.appending("left.dat"))
            try? output?.write("unfinished")
            abort()
        }
        return Array(lines.joined(separator: "\n").utf8)
    } deliver: { _, result in
        switch result {
        case .success(let bytes): lines.append(String(decoding: bytes, as: UTF8.self))
        case .failure(let error): lines.append(error.code.rawValue)
        }
    }
    print(lines.joined(separator: "\n"))
    exit(0)
case "again":
    // The third of five jobs crashes the first two times; the first takes longest.
    var pool = WorkerPool(outputs: OutputFileSet(force: false, inputs: []))
    pool.workers = 2
    pool.retries = 2
    pool.isOrdered = CommandLine.arguments[2] == "ordered"
    var crashes = 0
    var delivered: [String] = []
    try pool.run(count: 5, policy: { _ in FilePolicy() }) { job, _ in
        if job == 0 { usleep(500_000) }
        if job == 2, crashes < 2 { abort() }
        return Array("\(job)".utf8)
    } isAgain: { job, retry, result in
        guard case .failure = result else { return false }
        // Workers that start later know it.
        crashes = retry + 1
        print("\(job) again \(retry)")
        return true
    } deliver: { job, result in
        delivered.append((try? String(decoding: result.get(), as: UTF8.self)) ?? "failed")
    }
    print(delivered.joined(separator: " "))
    exit(0)
default:
    print("usage: isolationcheck again|asks|tries|abort|trap|loop|sleep|disk|memory|resident|long|endless|descriptors")
    exit(64)
}
print(result.text.count > 10_000 ? "\(result.text.count) characters" : result.text)
print(result.ending)
