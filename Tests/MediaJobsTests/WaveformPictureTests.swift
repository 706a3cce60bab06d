import MediaBase
import Peaks
import Pictures
import Testing

@testable import MediaJobs

@Suite struct WaveformPictureTests {
    private func draw(_ change: (inout WaveformPicture) -> Void) throws -> Bitmap {
        var picture = WaveformPicture()
        picture.height = 10
        picture.hasAxis = false
        picture.colors = [Color(red: 255, green: 0, blue: 0)]
        change(&picture)
        // Silence, then full scale: two points over four columns.
        let peaks = try Peaks(
            sampleRate: 8000, spacing: Peaks.Spacing(samples: 1), channels: 1, data: [0, 0, -16384, 16383],
            meanSquares: [0, 0])
        let columns = try WaveformColumns(peaks, width: 4)
        return try PNGFile.decode(picture.file(of: columns, as: .png, startSeconds: 0, secondsPerPixel: 1))
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

    /// By hand: −6.02 dB is 1 − 6.02/24 of a range of 24 dB, and so three quarters of ten rows, halves going outwards;
    /// a mean square of 0.25 is a level of half of full scale.
    @Test func decibelsAndLevels() throws {
        #expect(height(try draw { $0.amplitude = .decibels(range: 24) }, 3) == 8)
        let peaks = try Peaks(
            sampleRate: 8000, spacing: Peaks.Spacing(samples: 1), channels: 1, data: [-32768, 32767],
            meanSquares: [0.25])
        var picture = WaveformPicture()
        picture.height = 8
        picture.hasAxis = false
        picture.levelColor = Color(red: 0, green: 255, blue: 0)
        func rows(_ color: [UInt8]) throws -> Int {
            let file = try picture.file(
                of: WaveformColumns(peaks, width: 1), as: .png, startSeconds: 0, secondsPerPixel: 1)
            let bytes = try PNGFile.decode(file).bytes
            return (0..<8).count { Array(bytes[$0 * 4..<$0 * 4 + 3]) == color }
        }
        #expect(try rows([0, 255, 0]) == 4)
        picture.hasLevel = false
        #expect(try rows([0, 255, 0]) == 0)
    }

    @Test func refusesSizesThatMakeNoPicture() {
        for (width, height) in [(0, 10), (10, 0), (-1, 10), (1 << 20, 10)] {
            var picture = WaveformPicture()
            picture.height = height
            #expect(throws: MediaError.self) { try picture.check(width: width) }
        }
    }
}
