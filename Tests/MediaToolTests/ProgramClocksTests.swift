import Foundation
import TestSupport
import Testing

/// Transport streams that hold several programs, each with a clock of its own.
///
/// No muxer at hand writes such: two streams of ffmpeg's are put together packet by packet, with one table of programs.
@Suite struct ProgramClocksTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Two seconds of numbered pictures and sound at 10:00:00, and one second of sound that begins at 00:00:20.
    private func makePrograms() throws -> (first: String, second: String, both: String) {
        let first = folder.path("first.ts")
        let second = folder.path("second.ts")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=2", "-f", "lavfi", "-i", "sine=r=48000:d=2", "-c:v",
            "mpeg2video", "-g", "10", "-b:v", "800k", "-c:a", "mp2", "-mpegts_service_id", "1",
            "-mpegts_start_pid", "0x100", "-mpegts_pmt_start_pid", "0x1000", "-output_ts_offset", "36000", first,
        ])
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "sine=r=48000:f=660:d=1", "-c:a", "mp2", "-mpegts_service_id", "2",
            "-mpegts_start_pid", "0x200", "-mpegts_pmt_start_pid", "0x1010", "-output_ts_offset", "20", second,
        ])
        let (packets, others) = (try Self.packets(first), try Self.packets(second))
        var both = Self.table(of: [(1, 0x1000), (2, 0x1010)])
        // Spread over the whole file, as a multiplexer does, without the tables of either.
        var taken = 0
        for (place, packet) in packets.enumerated() {
            if Self.identifier(packet) > 0x1F { both += packet }
            while taken * packets.count <= place * others.count, taken < others.count {
                if Self.identifier(others[taken]) > 0x1F { both += others[taken] }
                taken += 1
            }
        }
        return (first, second, try folder.write("both.ts", both))
    }

    private static func packets(_ path: String) throws -> [[UInt8]] {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        return stride(from: 0, to: bytes.count, by: 188).map { Array(bytes[$0..<min($0 + 188, bytes.count)]) }
    }

    private static func identifier(_ packet: [UInt8]) -> Int { Int(packet[1] & 0x1F) << 8 | Int(packet[2]) }

    /// A packet with the program association table: ISO/IEC 13818-1, 2.4.4.3; its check is that of Annex A.
    private static func table(of programs: [(number: Int, map: Int)]) -> [UInt8] {
        var section: [UInt8] = [0, 0xB0, UInt8(5 + 4 * programs.count + 4), 0, 1, 0xC1, 0, 0]
        for (number, map) in programs {
            section += [UInt8(number >> 8), UInt8(number & 255), 0xE0 | UInt8(map >> 8), UInt8(map & 255)]
        }
        var check: UInt32 = .max
        for byte in section {
            check ^= UInt32(byte) << 24
            for _ in 0..<8 { check = check & 0x8000_0000 != 0 ? check << 1 ^ 0x04C1_1DB7 : check << 1 }
        }
        section += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: check >> $0) }
        let packet: [UInt8] = [0x47, 0x40, 0, 0x10, 0] + section
        return packet + [UInt8](repeating: 0xFF, count: 188 - packet.count)
    }

    private func report(_ command: String, _ arguments: String...) throws -> [String: Any] {
        try report(command, arguments)
    }

    private func report(_ command: String, _ arguments: [String]) throws -> [String: Any] {
        let result = try Program.run(
            Program.mediatool, [command, "--json", "--quiet"] + arguments, folder: folder.path)
        try #require(result.status == 0, "\(result.error)")
        return try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any])
    }

    private func seconds(_ value: Any?) -> Double? { (value as? [String: Any])?["seconds"] as? Double }

    @Test(arguments: [[], ["--scan"]]) func eachProgramHasATimeOfItsOwn(option: [String]) throws {
        let (first, _, both) = try makePrograms()
        // On one clock the first program would begin ten hours after the second.
        let starts = try FFmpeg.probe(["-show_entries", "stream=start_time", "-of", "csv=p=0", both])
            .compactMap { Double($0.filter { $0 != "," }) }
        #expect((starts.max() ?? 0) - (starts.min() ?? 0) > 35000)
        let found = try report("probe", option + [both])
        let alone = try report("probe", option + [first])
        let container = try #require(found["container"] as? [String: Any])
        #expect(seconds(container["duration"]) == seconds((alone["container"] as? [String: Any])?["duration"]))
        let tracks = try #require(found["tracks"] as? [[String: Any]])
        let aloneTracks = try #require(alone["tracks"] as? [[String: Any]])
        #expect(tracks.map { $0["id"] as? Int } == [0x100, 0x101, 0x200])
        func range(_ track: [String: Any]) -> [Double?] {
            let range = track["timeRange"] as? [String: Any]
            return [seconds(range?["start"]), seconds(range?["duration"])]
        }
        #expect(tracks.prefix(2).map(range) == aloneTracks.map(range))
        // 48000 samples in frames of 1152: 42 of them.
        #expect(range(tracks[2]).first == 0)
        if !option.isEmpty { #expect(range(tracks[2]) == [0, 1.008]) }
        let programs = try #require(found["programs"] as? [[String: Any]])
        #expect(programs.map { $0["number"] as? Int } == [1, 2])
        // ffmpeg begins 1.4 s after the offset, for the decoder's buffer (muxdelay and muxpreload).
        let zeros = programs.map { seconds($0["startTime"]) ?? 0 }
        #expect(abs(zeros[0] - 36001.4) < 0.1 && abs(zeros[1] - 21.4) < 0.1, "\(zeros)")
        #expect(seconds(programs[0]["duration"]) == seconds(container["duration"]))
    }

    @Test func everyCommandCountsByTheTracksProgram() throws {
        let (first, second, both) = try makePrograms()
        let sounds = [("a:0", first, "a:0"), ("a:1", second, "a:0")]
        for (track, alone, itsTrack) in sounds {
            let found = try report("waveform", both, "--track", track, "-o", "found.dat", "--force")
            let wanted = try report("waveform", alone, "--track", itsTrack, "-o", "wanted.dat", "--force")
            for key in ["samples", "lateStart", "cutBeforeZero", "holes"] {
                #expect(found[key] as? Int == wanted[key] as? Int, "\(key) of \(track)")
            }
            #expect(try folder.bytes("found.dat") == folder.bytes("wanted.dat"))
        }
        for name in ["found", "wanted"] {
            let images = try report(
                "thumbs", name == "found" ? both : first, "--at", "0", "--at", "0.5", "--at", "1.9", "--track", "v:0",
                "-o", "\(name)-{index}.png", "--force")
            #expect((images["images"] as? [[String: Any]])?.count == 3)
        }
        let names = try folder.names().filter { $0.hasPrefix("found-") }
        #expect(names.count == 3)
        for name in names {
            #expect(try folder.bytes(name) == folder.bytes("wanted-" + name.dropFirst(6)), "\(name)")
        }
        let proxy = try report("proxy", both, "-o", "proxy.mp4", "--speed", "fastest")
        let checks = try #require(proxy["checks"] as? [[String: Any]])
        #expect(checks.allSatisfy { $0["passed"] as? Bool == true })
        // Two seconds and the sound's late or early end, not ten hours.
        #expect((seconds(proxy["duration"]) ?? 0) < 2.2)
    }
}
