import MediaAnalysis
import MediaBase
import Pictures
import Testing

@testable import MediaJobs

@Suite struct WaveformPictureTests {
    private func draw(_ change: (inout WaveformPicture) -> Void) throws -> Bitmap {
        var picture = WaveformPicture()
        picture.width = 4
        picture.height = 10
        picture.hasAxis = false
        picture.colors = [Color(red: 255, green: 0, blue: 0)]
        change(&picture)
        // Silence, then full scale: two points over four columns.
        let peaks = try Peaks(
            sampleRate: 8000, spacing: Peaks.Spacing(samples: 1), channels: 1, data: [0, 0, -16384, 16383],
            meanSquares: [0, 0])
        return try PNGFile.decode(picture.png(of: peaks, from: .zero, frames: 2))
    }

    /// How many pixels of a column have the waveform's colour.
    private func height(_ bitmap: Bitmap, _ x: Int) -> Int {
        (0..<bitmap.height).count { row in
            let place = (row * bitmap.width + x) * 4
            return Array(bitmap.bytes[place..<place + 4]) == [255, 0, 0, 255]
        }
    }

    /// By hand: half of full scale reaches half the height, `auto` and a factor of 2 all of it.
    @Test func scales() throws {
        #expect(height(try draw { _ in }, 0) == 1)
        #expect((5...6).contains(height(try draw { _ in }, 3)))
        #expect(height(try draw { $0.amplitudeScale = nil }, 3) == 10)
        #expect(height(try draw { $0.amplitudeScale = 2 }, 3) == 10)
    }

    @Test func backgroundMayBeTransparent() throws {
        #expect(try draw { $0.background = .transparent }.bytes[3] == 0)
        let slate = Color(red: 16, green: 32, blue: 48)
        #expect(try Array(draw { $0.background = slate }.bytes[0..<4]) == [16, 32, 48, 255])
    }

    @Test func refusesSizesThatMakeNoPicture() {
        for (width, height) in [(0, 10), (10, 0), (-1, 10), (1 << 20, 10)] {
            var picture = WaveformPicture()
            picture.width = width
            picture.height = height
            #expect(throws: MediaError.self) { try picture.check() }
        }
    }
}
