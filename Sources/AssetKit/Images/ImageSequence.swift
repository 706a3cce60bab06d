import LibAV
public import MediaBase

extension ImageGenerator {
    /// What became of one requested time.
    public enum ImageResult: Sendable {
        /// The image, with the time asked for and the time that it shows.
        case success(GeneratedImage)
        /// There is no image for that time, and why.
        case failure(requestedTime: MediaTime, error: MediaError)
        /// All pending requests were cancelled before its turn.
        case cancelled(requestedTime: MediaTime)

        /// The time that was asked for.
        public var requestedTime: MediaTime {
            switch self {
            case .success(let image): image.requestedTime
            case .failure(let time, _), .cancelled(let time): time
            }
        }
    }

    /// The images at several times, as an asynchronous sequence with one answer a time, in the order asked.
    ///
    /// Images are made as they are asked for, on a thread outside Swift's cooperative pool. Times in rising order cost
    /// one sweep over the file. After ``cancelAllImageGeneration()``, or when the iterating task is cancelled, every
    /// pending time is answered as cancelled.
    ///
    /// ```swift
    /// for await result in generator.images(for: times) {
    ///     if case .success(let image) = result { … }
    /// }
    /// ```
    public func images(for times: [MediaTime]) -> ImageSequence {
        ImageSequence(generator: self, times: times, born: currentGeneration)
    }

    /// The answers to ``ImageGenerator/images(for:)``.
    public struct ImageSequence: AsyncSequence, Sendable {
        let generator: ImageGenerator
        let times: [MediaTime]
        let born: Int

        /// Begins with the first time.
        public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

        /// Makes one image at a time.
        public struct Iterator: AsyncIteratorProtocol {
            let sequence: ImageSequence
            private var position = 0

            init(sequence: ImageSequence) { self.sequence = sequence }

            /// The answer to the next time; `nil` after the last.
            public mutating func next(isolation: isolated (any Actor)?) async -> ImageResult? {
                guard position < sequence.times.count else { return nil }
                let time = sequence.times[position]
                position += 1
                guard !Task.isCancelled else { return .cancelled(requestedTime: time) }
                let (generator, born, unwanted) = (sequence.generator, sequence.born, Cancellation())
                do throws(MediaError) {
                    return .success(
                        try await offload(onCancel: { unwanted.cancel() }) { () throws(MediaError) in
                            try generator.generateNow(at: time, born: born, unlessCancelled: unwanted)
                        })
                } catch {
                    return error.code == .cancelled
                        ? .cancelled(requestedTime: time) : .failure(requestedTime: time, error: error)
                }
            }
        }
    }
}
