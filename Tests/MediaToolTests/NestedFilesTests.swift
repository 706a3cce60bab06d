import Foundation
import TestSupport
import Testing

/// Whatever a file says, no other file and no connection is opened for it: files that are watched show it.
@Suite struct NestedFilesTests {
    /// A folder of files that nobody may open, and a port to which nobody may connect; the kernel tells of either.
    private final class Canaries {
        let folder: TemporaryFolder
        let port: UInt16
        private let watch: Int32
        private let listener: Int32

        init() throws {
            folder = try TemporaryFolder()
            try folder.copy(fixture: "mpegts-10s.ts", as: "secret.ts")
            try folder.copy(fixture: "mpegts-10s.ts", as: "secret.M00")
            try folder.copy(fixture: "pcm-s16-silent.wav", as: "secret.wav")
            try folder.copy(fixture: "h264-bframes.mp4", as: "secret.mp4")
            for number in 1...3 { try folder.copy(fixture: "picture.png", as: "secret-00\(number).png") }
            try folder.copy(fixture: "mpegps.mpg", as: "secret.sub")
            // inotify(7): IN_OPEN for each file, as the folder itself is opened by whoever lists it.
            watch = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
            for name in try folder.names() { _ = inotify_add_watch(watch, folder.path(name), 0x20) }
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | UInt32(O_NONBLOCK)), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let listener = listener
            let isListening = withUnsafeMutableBytes(of: &address) { bytes in
                guard let base = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
                return bind(listener, base, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, base, &length) == 0
            }
            port = UInt16(bigEndian: address.sin_port)
            guard watch >= 0, isListening else { throw TestSupportError("files and ports cannot be watched here") }
        }

        deinit {
            close(watch)
            close(listener)
        }

        /// Whether a file was opened since the last call.
        var wasOpened: Bool {
            var events = [UInt8](repeating: 0, count: 4096)
            return read(watch, &events, events.count) > 0
        }

        /// Whether somebody has connected since the last call.
        var wasCalled: Bool {
            let connection = accept(listener, nil, nil)
            if connection >= 0 { close(connection) }
            return connection >= 0
        }
    }

    private static let commands = [
        ["probe", "--scan"], ["waveform", "-o", "out.dat"], ["thumbs", "--at", "0", "-o", "out.png"],
        ["proxy", "-o", "out.mov"], ["qc"],
    ]

    /// Texts that name other files, and a name that means something to the program that reads them.
    private static func lists(_ at: String, _ port: UInt16) -> [(name: String, text: String)] {
        let http = "http://127.0.0.1:\(port)"
        let segments = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10.0,\n"
        let mpd = { (base: String) in
            "<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\"><Period><AdaptationSet "
                + "mimeType=\"video/mp2t\"><Representation id=\"1\" bandwidth=\"1\"><BaseURL>\(base)</BaseURL>"
                + "</Representation></AdaptationSet></Period></MPD>\n"
        }
        return [
            ("list.m3u8", segments + "secret.ts\n#EXT-X-ENDLIST\n"),
            ("list.mp4", segments + "\(at)/secret.ts\n#EXT-X-ENDLIST\n"),
            ("list-file.ts", segments + "file://\(at)/secret.ts\n#EXT-X-ENDLIST\n"),
            ("list-web.wav", segments + "\(http)/secret.ts\n#EXT-X-ENDLIST\n"),
            ("list-key.m3u8", "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"\(http)/key\"\n#EXTINF:1,\nsecret.ts\n"),
            ("list-map.m3u8", "#EXTM3U\n#EXT-X-MAP:URI=\"secret.mp4\"\n#EXTINF:1,\nsecret.mp4\n#EXT-X-ENDLIST\n"),
            ("master.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(http)/list.m3u8\n"),
            ("list.ffconcat", "ffconcat version 1.0\nfile secret.ts\nfile 'secret.mp4'\n"),
            ("concat.mp4", "ffconcat version 1.0\nfile '\(at)/secret.wav'\n"),
            ("plain.txt", "file 'secret.ts'\nfile 'secret.ts'\n"),
            ("list.mpd", mpd("secret.mp4")), ("web.mpd", mpd("\(http)/secret.mp4")),
            ("call.sdp", "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio \(port) RTP/AVP 0\n"),
            (
                "secret.idx",
                "# VobSub index file, v7 (do not modify this line!)\nid: en, index: 0\n"
                    + "timestamp: 00:00:01:000, filepos: 000000000\n"
            ),
            ("list.pls", "[playlist]\nFile1=secret.ts\nNumberOfEntries=1\n"),
            ("list.asx", "<asx version=\"3.0\"><entry><ref href=\"\(http)/secret.ts\"/></entry></asx>\n"),
            ("list.smil", "<smil><body><video src=\"secret.ts\"/></body></smil>\n"),
            (
                "subtitles.ass",
                "[Script Info]\nScriptType: v4.00+\n[Fonts]\nfontname: secret.ts\n[Events]\n"
                    + "Format: Layer, Start, End, Style, Text\nDialogue: 0,0:00:00.00,0:00:01.00,Default,secret.ts\n"
            ),
            ("script.avs", "AviSource(\"secret.ts\")\n"),
            (
                "CPL.xml",
                "<?xml version=\"1.0\"?><CompositionPlaylist xmlns=\"http://www.smpte-ra.org/schemas/2067-3/2016\">"
                    + "</CompositionPlaylist>\n"
            ),
        ]
    }

    @Test func theWatchSeesWhatIsAllowed() throws {
        let canaries = try Canaries()
        #expect(!canaries.wasOpened)
        // By content, whatever it is called.
        let text = Self.lists(canaries.folder.path, canaries.port)[0].text
        let renamed = try canaries.folder.write("list.mp4", text.utf8)
        let unknown = try Program.run(Program.mediatool, ["probe", renamed])
        #expect(unknown.status == 2 && unknown.error.contains("nested files are allowed"), "\(unknown.error)")
        let piped = try Program.run(Program.mediatool, ["probe", "-"], input: Array(text.utf8))
        #expect(piped.status == 2 && piped.error.contains("nested files are allowed"), "\(piped.error)")
        #expect(!canaries.wasOpened)
        let list = try canaries.folder.write("list.m3u8", text.utf8)
        let refused = try Program.run(Program.mediatool, ["probe", list])
        #expect(refused.status == 2 && refused.error.contains("nested files are allowed"), "\(refused.error)")
        #expect(!canaries.wasOpened)
        let allowed = try Program.run(Program.mediatool, ["probe", "--allow-nested", list])
        #expect(allowed.status == 0, "\(allowed.error)")
        #expect(canaries.wasOpened)
        let another = try Program.run(Program.mediatool, ["probe", "--allow-nested", renamed])
        #expect(another.status == 0, "\(another.error)")
    }

    /// Absolute paths and names with a blank too, but no connections.
    @Test func listsMayNameAnyFileWhereThatIsAllowed() throws {
        let canaries = try Canaries()
        try canaries.folder.copy(fixture: "pcm-s16-silent.wav", as: "a name.wav")
        for file in ["\(canaries.folder.path)/secret.wav", "secret.wav", "a name.wav"] {
            let list = try canaries.folder.write("list.txt", "ffconcat version 1.0\nfile '\(file)'\n".utf8)
            let result = try Program.run(Program.mediatool, ["probe", "--json", "--allow-nested", list])
            #expect(result.status == 0 && result.output.contains("pcm_s16le"), "\(file): \(result.error)")
        }
        let list = try canaries.folder.write(
            "web.txt", "ffconcat version 1.0\nfile 'http://127.0.0.1:\(canaries.port)/secret.ts'\n".utf8)
        #expect(try Program.run(Program.mediatool, ["probe", "--allow-nested", list]).status == 2)
        #expect(!canaries.wasCalled)
    }

    /// Files alone, whatever the format: nobody is called, and no device is opened.
    @Test func nothingButFilesIsOpenedWhereThatIsAllowed() throws {
        let canaries = try Canaries()
        let http = "http://127.0.0.1:\(canaries.port)"
        let head = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n"
        let more: [(name: String, text: String)] = [
            ("mixed.m3u8", head + "#EXTINF:10.0,\nsecret.ts\n#EXTINF:10.0,\n\(http)/b.ts\n#EXT-X-ENDLIST\n"),
            ("map.m3u8", head + "#EXT-X-MAP:URI=\"\(http)/i.mp4\"\n#EXTINF:1,\nsecret.mp4\n#EXT-X-ENDLIST\n"),
            ("tcp.m3u8", head + "#EXTINF:1,\ntcp://127.0.0.1:\(canaries.port)\n#EXT-X-ENDLIST\n"),
            ("crypto.m3u8", head + "#EXTINF:1,\ncrypto+\(http)/a.ts\n#EXT-X-ENDLIST\n"),
            ("cache.m3u8", head + "#EXTINF:1,\ncache:\(http)/a.ts\n#EXT-X-ENDLIST\n"),
            ("device.m3u8", head + "#EXTINF:1,\n/dev/zero\n#EXT-X-ENDLIST\n"),
            ("rtp.ffconcat", "ffconcat version 1.0\nfile 'rtp://127.0.0.1:\(canaries.port)'\n"),
        ]
        let lists = Self.lists(canaries.folder.path, canaries.port).filter { $0.text.contains("127.0.0.1") } + more
        for (name, text) in lists {
            let list = try canaries.folder.write(name, text.utf8)
            for command in Self.commands {
                let result = try Program.run(
                    Program.mediatool, command + ["--allow-nested", "--force", "--timeout", "20", list],
                    folder: canaries.folder.path, seconds: 60)
                #expect(!canaries.wasCalled, "\(name), \(command[0])")
                let isPartlyThere = name == "mixed.m3u8"
                #expect(result.status == 2 || isPartlyThere, "\(name), \(command[0]): \(result.error)")
                #expect(result.errorLines.count <= 1 || isPartlyThere, "\(name), \(command[0]): \(result.error)")
            }
        }
        let call = try Program.run(Program.mediatool, ["probe", "--allow-nested", canaries.folder.path("call.sdp")])
        #expect(call.error.contains("never opened"), "\(call.error)")
    }

    @Test func nothingNamedInAListIsOpened() throws {
        let canaries = try Canaries()
        for (name, text) in Self.lists(canaries.folder.path, canaries.port) {
            let list = try canaries.folder.write(name, text.utf8)
            for command in Self.commands {
                let result = try Program.run(
                    Program.mediatool, command + [list], folder: canaries.folder.path, seconds: 30)
                // Subtitles are media, if without pictures or sound; libavformat takes any list of this form for some.
                let isText = ["subtitles.ass", "list.pls"].contains(name)
                #expect(result.status == 2 || isText, "\(name), \(command[0]): \(result.error)")
                #expect(!canaries.wasOpened, "\(name), \(command[0])")
                #expect(!canaries.wasCalled, "\(name), \(command[0])")
            }
        }
        #expect(try !canaries.folder.names().contains { $0.hasPrefix("out") })
    }

    /// The name is a pattern that matches files, a list for a protocol, or an address.
    @Test func namesAreNothingButNames() throws {
        let canaries = try Canaries()
        let media = try Fixtures.bytes("picture.png")
        let addresses = [
            "secret-%03d.png", "secret-*.png", "secret-[0-9].png", "concat:secret.ts|secret.ts", "file:secret.ts",
            "subfile,,start,0,end,9,,:secret.ts", "http:127.0.0.1", "data:text,secret",
        ]
        for name in addresses {
            let path = try canaries.folder.write(name, media)
            for place in [path, name] {
                let result = try Program.run(
                    Program.mediatool, ["probe", "--json", "--", place], folder: canaries.folder.path)
                #expect(result.status == 0 && result.output.contains("png"), "\(name): \(result.error)")
                #expect(!canaries.wasOpened && !canaries.wasCalled, "\(name)")
            }
        }
        // An address of HTTP is read; a file of that name is written with the folder.
        for address in ["./http://127.0.0.1:\(canaries.port)/a.ts", "tcp://127.0.0.1:\(canaries.port)", "pipe:0"] {
            let result = try Program.run(
                Program.mediatool, ["probe", address], input: media, folder: canaries.folder.path)
            #expect(result.status == 2 && result.error.contains("no such file"), "\(address): \(result.error)")
            #expect(!canaries.wasCalled)
        }
    }

    /// QuickTime movies may say that their samples lie in another file, by an alias or an address.
    @Test(arguments: ["alis", "url "]) func mediaOfAMovieIsNotLookedForElsewhere(kind: String) throws {
        let canaries = try Canaries()
        let plain = canaries.folder.path("plain.mov")
        _ = try FFmpeg.run(["-i", Fixtures.path("pcm-s16-silent.wav"), "-c:a", "pcm_s16le", plain])
        let secret = canaries.folder.path("secret.wav")
        let targets = kind == "alis" ? [secret] : ["file://\(secret)", "http://127.0.0.1:\(canaries.port)/x"]
        for (number, target) in targets.enumerated() {
            let content = kind == "alis" ? DataReference.alias(to: target) : [0, 0, 0, 0] + Array(target.utf8) + [0]
            let movie = try canaries.folder.write(
                "\(number).mov", DataReference.replacing(kind, content, in: canaries.folder.bytes("plain.mov")))
            for command in Self.commands {
                _ = try Program.run(
                    Program.mediatool, command + ["--force", movie], folder: canaries.folder.path, seconds: 30)
                #expect(!canaries.wasOpened && !canaries.wasCalled, "\(kind), \(command[0])")
            }
        }
    }
}
