import Foundation
import MediaBase
import SystemPackage
import TestSupport
import Testing

@testable import LibAV

@Suite struct InputFileTests {
    private func open(_ path: String) -> MediaError? { mediaError { try InputFile(opening: .path(FilePath(path))) } }

    @Test func failuresSayWhatKindTheyAre() throws {
        let folder = try TemporaryFolder()
        #expect(open(folder.path("missing.mp4"))?.code == .notFound)
        #expect(open(folder.path)?.code == .notAFile)
        #expect(try open(Fixtures.path("empty.mp4"))?.code == .unknownFormat)
        #expect(try open(Fixtures.path("text.mp4"))?.code == .unknownFormat)
        #expect(try open(Fixtures.path("truncated-header.mp4"))?.code == .damaged)
        #expect(open("/dev/null")?.code == .unknownFormat)
        #expect(open("")?.code == .notFound)
        #expect(
            mediaError { try InputFile(opening: .descriptor(FileDescriptor(rawValue: 9999))) }?.code == .inputOutput)
    }

    @Test func soundInDisguiseIsFound() throws {
        let folder = try TemporaryFolder()
        let stream = folder.path("sound.dts")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "sine=d=1:r=48000", "-ac", "2", "-c:a", "dca", "-strict", "-2", "-f", "dts", stream,
        ])
        var wave = try Fixtures.bytes("pcm-s16-silent.wav").prefix(44)
        wave += [UInt8](try Data(contentsOf: URL(fileURLWithPath: stream)))
        let path = try folder.write("disguised.wav", Array(wave))
        let file = try InputFile(opening: .path(FilePath(path)))
        let wanted = try FFmpeg.probe(["-show_entries", "stream=codec_name", "-of", "csv=p=0", path])
        #expect(wanted == ["dts"] && file.stream(0)?.format.codec == "dts")
        let plain = try InputFile(opening: .path(FilePath(try Fixtures.path("pcm-s16-stereo.wav"))))
        #expect(plain.stream(0)?.format.codec == "pcm_s16le")
    }

    @Test func namesAreBytesAndNoProtocols() throws {
        let folder = try TemporaryFolder()
        let content = try Fixtures.bytes("pcm-s16-silent.wav")
        let names: [[UInt8]] = [
            Array("12:30.wav".utf8), Array("http:x.wav".utf8), Array("-x.wav".utf8), Array("concat:a|b".utf8),
            Array("%03d.png".utf8), [0x61, 0xFF, 0xFE, 0x2E, 0x77, 0x61, 0x76], Array("file:x.wav".utf8),
        ]
        for name in names {
            let bytes = Array(folder.path.utf8) + [0x2F] + name
            let path = (bytes + [0]).withUnsafeBufferPointer { buffer in
                buffer.withMemoryRebound(to: CInterop.PlatformChar.self) { FilePath(platformString: Array($0)) }
            }
            let writing = try FileDescriptor.open(path, .writeOnly, options: [.create], permissions: .ownerReadWrite)
            try writing.closeAfter { _ = try writing.writeAll(content) }
            let file = try InputFile(opening: .path(path))
            #expect(file.format == .wav)
            #expect(file.length == Int64(content.count))
            _ = path.withPlatformString { unlink($0) }
        }
    }

    @Test func theExtensionDoesNotMatter() throws {
        let folder = try TemporaryFolder()
        let path = try folder.copy(fixture: "flac-s16-stereo.flac", as: "sound.mp4")
        #expect(try InputFile(opening: .path(FilePath(path))).format == .flac)
    }

    @Test func aDescriptorStaysOpenAndWhereItWas() throws {
        let descriptor = try FileDescriptor.open(FilePath(Fixtures.path("av.mp4")), .readOnly)
        defer { try? descriptor.close() }
        try descriptor.seek(offset: 77, from: .start)
        do {
            let file = try InputFile(opening: .descriptor(descriptor))
            #expect(file.streamCount == 2)
            #expect(file.isSeekable)
            while try file.readPacket() != nil {}
        }
        #expect(fcntl(descriptor.rawValue, F_GETFD) >= 0)
        #expect(try descriptor.seek(offset: 0, from: .current) == 77)
    }

    @Test func aPathIsClosed() throws {
        let path = FilePath(try Fixtures.path("av.mp4"))
        /// Descriptors of this process that lead to the file.
        func count() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == path.string
            }.count
        }
        let before = try count()
        for _ in 0..<50 { _ = try InputFile(opening: .path(path)).readPacket() }
        #expect(try count() <= before + 5)
    }

    @Test func bytesAreTheFiles() throws {
        let content = try Fixtures.bytes("av.mp4")
        let file = try Media.file("av.mp4")
        #expect(try file.bytes(at: 4, count: 4) == Array("ftyp".utf8))
        #expect(try file.bytes(at: UInt64(content.count - 3), count: 100) == content.suffix(3))
        #expect(try file.bytes(at: UInt64(content.count + 3), count: 100).isEmpty)
        #expect(try file.bytes(at: UInt64.max, count: 100).isEmpty)
        // A place that no file reaches is an error of the system, or nothing; never a trap.
        _ = mediaError { try file.bytes(at: UInt64(Int64.max), count: 100) }
        #expect(try file.bytes(at: 0, count: 0).isEmpty)
        #expect(try file.bytes(at: 0, count: -1).isEmpty)
    }

    @Test func streamsThatDoNotExistAreNil() throws {
        let file = try Media.file("av.mp4")
        for index in [-1, 2, 1000, Int.max] {
            #expect(file.stream(index) == nil)
            #expect(file.indexEntry(stream: index, at: 0) == nil)
            #expect(file.indexOfKeyframe(stream: index, notAfter: 0) == nil)
        }
        for place in [-1, 1 << 20, Int.max] { #expect(file.indexEntry(stream: 0, at: place) == nil) }
    }
}

// MARK: - Nested files

extension InputFileTests {
    @Test(arguments: ["hls-list.mp4", "concat-list.wav"]) func listsOfOtherFilesAreRefused(_ fixture: String) throws {
        let error = try open(Fixtures.path(fixture))
        #expect(error?.code == .nestedFileRefused)
    }

    /// Whether anybody has a FIFO open for reading: only then can it be opened for writing without waiting.
    private func isOpen(_ fifo: String) -> Bool {
        let descriptor = Glibc.open(fifo, O_WRONLY | O_NONBLOCK)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }

    @Test func whatAListNamesIsNeverOpened() throws {
        let folder = try TemporaryFolder()
        let fifo = folder.path("secret.ts")
        #expect(mkfifo(fifo, 0o600) == 0)
        let lists = [
            "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3.0,\n\(fifo)\n#EXT-X-ENDLIST\n",
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nfile://\(fifo)\n",
            "ffconcat version 1.0\nfile '\(fifo)'\n",
            "<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\"><Period><AdaptationSet>"
                + "<Representation id=\"1\"><BaseURL>\(fifo)</BaseURL></Representation></AdaptationSet></Period></MPD>\n",
            "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 9 RTP/AVP 0\n",
        ]
        for (index, list) in lists.enumerated() {
            for name in ["list.mp4", "list.wav", "list.m3u8"] {
                let path = try folder.write("\(index)-\(name)", Array(list.utf8))
                // Opening a FIFO that nobody writes to would block; the time limit shows it.
                let code = try Background { self.open(path)?.code }.value(within: 20)
                #expect(
                    code == .nestedFileRefused || code == .unknownFormat, "list \(index): \(String(describing: code))")
                #expect(!isOpen(fifo))
            }
        }
    }

    @Test(arguments: ["alis", "url "]) func externalMediaOfAMovieIsNeverOpened(_ kind: String) throws {
        let folder = try TemporaryFolder()
        let fifo = folder.path("media")
        #expect(mkfifo(fifo, 0o600) == 0)
        let plain = folder.path("plain.mov")
        _ = try FFmpeg.run(["-i", Fixtures.path("pcm-s16-silent.wav"), "-c:a", "pcm_s16le", plain])
        let reference =
            kind == "alis" ? DataReference.alias(to: fifo) : [0, 0, 0, 0] + Array("file://\(fifo)".utf8) + [0]
        let path = try folder.write(
            "external.mov", DataReference.replacing(kind, reference, in: folder.bytes("plain.mov")))
        let packets = try Background { () -> Int? in
            guard let file = try? InputFile(opening: .path(FilePath(path))) else { return nil }
            var count = 0
            while let packet = try file.readPacket() { count += packet.size > 0 ? 1 : 0 }
            return count
        }.value(within: 20)
        #expect(!isOpen(fifo))
        // libavformat reads alias records as references to other files, which are then no part of what is read.
        if kind == "alis" { #expect(packets == 0 || packets == nil) }
    }
}

// MARK: - Cancelling

extension InputFileTests {
    @Test(arguments: [0, 54, 5000]) func cancellingAPipeThatDeliversNothing(_ count: Int) throws {
        let (reading, writing) = try FileDescriptor.pipe()
        defer { for end in [reading, writing] { try? end.close() } }
        try writing.writeAll(Fixtures.bytes("pcm-s16-stereo.wav").prefix(count))
        let cancellation = Cancellation()
        let opening = Background {
            mediaError { try InputFile(opening: .descriptor(reading), cancellation: cancellation) }?.code
        }
        usleep(200_000)
        let begun = Date()
        cancellation.cancel()
        #expect(try opening.value(within: 5) == .cancelled)
        #expect(Date().timeIntervalSince(begun) < 1)
    }

    @Test func cancellingAReadFromAnotherThread() throws {
        let (reading, writing) = try FileDescriptor.pipe()
        defer { for end in [reading, writing] { try? end.close() } }
        let bytes = try Fixtures.bytes("pcm-s16be.aiff").prefix(500_000)
        let feeding = Background { try writing.writeAll(bytes) }
        let file = try Background { try InputFile(opening: .descriptor(reading)) }.value(within: 20)
        #expect(!file.isSeekable)
        #expect(file.length == nil)
        let pulling = Background { mediaError { while try file.readPacket() != nil {} }?.code }
        _ = try feeding.value(within: 20)
        usleep(200_000)
        let begun = Date()
        file.cancel()
        file.cancel()
        #expect(try pulling.value(within: 5) == .cancelled)
        #expect(Date().timeIntervalSince(begun) < 1)
        #expect(file.isCancelled)
        #expect(mediaError { try file.readPacket() != nil }?.code == .cancelled)
    }

    @Test func cancellingBeforeOpening() throws {
        let cancellation = Cancellation()
        cancellation.cancel()
        cancellation.cancel()
        #expect(cancellation.isCancelled)
        let path = FilePath(try Fixtures.path("av.mp4"))
        #expect(mediaError { try InputFile(opening: .path(path), cancellation: cancellation) }?.code == .cancelled)
    }

    @Test func cancellingAFIFOWithoutAWriter() throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.path("fifo"), 0o600) == 0)
        let (path, cancellation) = (FilePath(folder.path("fifo")), Cancellation())
        let opening = Background {
            mediaError { try InputFile(opening: .path(path), cancellation: cancellation) }?.code
        }
        usleep(200_000)
        cancellation.cancel()
        #expect(try opening.value(within: 5) == .cancelled)
    }

    @Test func aFIFOIsReadOnceItHasAWriter() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("fifo")
        #expect(mkfifo(path, 0o600) == 0)
        let bytes = try Fixtures.bytes("pcm-s16-silent.wav")
        let feeding = Background {
            usleep(300_000)
            let writing = try FileDescriptor.open(FilePath(path), .writeOnly)
            try writing.closeAfter { _ = try writing.writeAll(bytes) }
        }
        let size = try Background {
            let file = try InputFile(opening: .path(FilePath(path)))
            var size = 0
            while let packet = try file.readPacket() { size += packet.size }
            return size
        }.value(within: 20)
        try feeding.value(within: 20)
        // 24000 samples of 16 bits.
        #expect(size == 48_000)
    }
}
