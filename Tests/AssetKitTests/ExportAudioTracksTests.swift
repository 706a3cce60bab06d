import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// What becomes of several audio tracks in an export, compared with ffmpeg's mix.
@Suite struct ExportAudioTracksTests {
    /// Five tracks of noise: the third one is disabled, the fourth and fifth are alternatives.
    private static let headers: [(isEnabled: Bool, group: UInt8)] = [
        (true, 0), (true, 0), (false, 0), (true, 5), (true, 5),
    ]

    /// A film with these tracks, without the flags that ffmpeg writes into their headers.
    private func film(in folder: TemporaryFolder) throws -> String {
        let path = folder.path("film.mov")
        let sounds = Self.headers.indices.flatMap {
            ["-f", "lavfi", "-i", "anoisesrc=d=1:c=white:r=48000:a=0.2:seed=\($0 + 1),aformat=s16:48000:stereo"]
        }
        let maps = (0...Self.headers.count).flatMap { ["-map", "\($0)"] }
        _ = try FFmpeg.run(
            ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=1"] + sounds + maps + [
                "-c:v", "mpeg4", "-c:a", "pcm_s16le", path,
            ])
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        var rest = bytes.startIndex
        // The first track header is that of the pictures. ISO/IEC 14496-12, 8.3.2, version 0.
        for number in -1..<Self.headers.count {
            let header = try #require(bytes[rest...].firstRange(of: Array("tkhd".utf8)))
            rest = header.upperBound
            guard number >= 0 else { continue }
            bytes[rest + 3] = Self.headers[number].isEnabled ? 3 : 2
            (bytes[rest + 34], bytes[rest + 35]) = (0, Self.headers[number].group)
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func samples(_ path: String, _ options: [String]) throws -> [Float] {
        let bytes = try FFmpeg.run(["-i", path] + options + ["-f", "f32le", "-"])
        return stride(from: 0, to: bytes.count - 3, by: 4).map { place in
            Float(bitPattern: (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[place + $1]) << ($1 * 8) })
        }
    }

    private func export(_ path: String, as preset: ExportSession.Preset, _ tracks: ExportSession.AudioTracks?)
        async throws
        -> Written
    {
        let file = try Written("out.mov")
        let session = ExportSession(asset: Asset(path: FilePath(path)), preset: preset)
        if let tracks { session.audioTracks = tracks }
        try await session.export(to: FilePath(file.path), as: .mov)
        return file
    }

    @Test func theTracksThatPlayTogetherAreMixed() async throws {
        let folder = try TemporaryFolder()
        let path = try film(in: folder)
        let tracks = try Asset(path: FilePath(path)).loadNow(.tracks).filter { $0.mediaType == .audio }
        #expect(tracks.map(\.isEnabled) == Self.headers.map(\.isEnabled))
        #expect(tracks.map(\.alternateGroup) == Self.headers.map { Int($0.group) })
        let file = try await export(path, as: .proRes422LPCM, nil)
        #expect(try file.probe("a", "stream=codec_name,channels") == ["pcm_s24le,2"])
        let ours = try samples(file.path, ["-map", "0:a"])
        let peer = try samples(
            path, ["-filter_complex", "[0:a:0][0:a:1][0:a:3]amix=inputs=3:normalize=0:dropout_transition=0"])
        #expect(ours.count == 96000 && peer.count == ours.count)
        #expect(zip(ours, peer).allSatisfy { abs($0 - $1) < 1e-6 })
    }

    @Test func tracksAreKeptOnRequest() async throws {
        let folder = try TemporaryFolder()
        let path = try film(in: folder)
        for (preset, tracks) in [
            (ExportSession.Preset.proRes422LPCM, ExportSession.AudioTracks.kept), (.passthrough, nil),
        ] {
            let file = try await export(path, as: preset, tracks)
            let written = try file.asset.loadNow(.tracks).filter { $0.mediaType == .audio }
            #expect(written.map(\.isEnabled) == Self.headers.map(\.isEnabled))
            #expect(written.map(\.alternateGroup) == Self.headers.map { Int($0.group) })
            for number in Self.headers.indices {
                let map = ["-map", "0:a:\(number)"]
                #expect(try samples(file.path, map) == samples(path, map))
            }
        }
    }

    /// ffmpeg's MP4 has one enabled audio track, whose group is that of all; a player of Matroska chooses one.
    @Test(arguments: ["in.mkv", "in.mp4"]) func alternativesAreNotMixed(_ name: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path(name)
        _ = try FFmpeg.run([
            "-i", try film(in: folder), "-map", "0:v", "-map", "0:a:3", "-map", "0:a:0", "-c:v", "copy", "-c:a", "flac",
            "-strict", "-2", "-disposition:a:0", "0", "-disposition:a:1", "default", path,
        ])
        let file = try await export(path, as: .proRes422LPCM, nil)
        let ours = try samples(file.path, ["-map", "0:a"])
        #expect(try ours == samples(path, ["-map", "0:a:1"]))
    }
}
