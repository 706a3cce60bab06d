package import MediaBase
package import SystemPackage

extension WaveformReport {
    /// One output: what was written, or why it was not.
    package struct Output: Encodable, Sendable {
        /// Where it was asked for; `-` is standard output.
        package var path: FilePath
        /// What kind of file it is.
        package var format: WaveformOutput.Format
        /// What was written.
        package var result: Result<Content, MediaError>

        /// What a file holds.
        package enum Content: Sendable {
            /// Peaks: bits of a value, samples per pixel, points and channels.
            case peaks(bits: Int, samplesPerPixel: Int, points: Int, channels: Int)
            /// A picture: pixels across and down, and channels.
            case picture(width: Int, height: Int, channels: Int)
        }

        private enum Key: String, CodingKey {
            case file, fileBytes, format, bits, samplesPerPixel, points, width, height, channels, error, code, message
        }

        /// Writes the keys of what the output is, or `error` in their place.
        package func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: Key.self)
            try object.encode(path.string, forKey: .file)
            try object.encodeIfPresent(path.pathBytes, forKey: .fileBytes)
            try object.encode(format, forKey: .format)
            switch result {
            case .success(.peaks(let bits, let samplesPerPixel, let points, let channels)):
                try object.encode(bits, forKey: .bits)
                try object.encode(samplesPerPixel, forKey: .samplesPerPixel)
                try object.encode(points, forKey: .points)
                try object.encode(channels, forKey: .channels)
            case .success(.picture(let width, let height, let channels)):
                try object.encode(width, forKey: .width)
                try object.encode(height, forKey: .height)
                try object.encode(channels, forKey: .channels)
            case .failure(let failure):
                var error = object.nestedContainer(keyedBy: Key.self, forKey: .error)
                try error.encode(failure.code.rawValue, forKey: .code)
                try error.encode(failure.message, forKey: .message)
            }
        }
    }

    /// Why outputs are missing, each error naming its output; empty where all were written.
    package var outputErrors: [MediaError] {
        outputs.compactMap { output in
            if case .failure(let error) = output.result { error.at(path: output.path.string) } else { nil }
        }
    }
}
