import CFFmpeg
package import MediaBase

// Reading the file's own bytes into memory that is used again; from any thread, also several at a time.

extension InputFile {
    /// Fills an array with numbers as they lie in the file, in the machine's byte order.
    ///
    /// - Parameters:
    ///   - position: The byte of the file to begin at.
    ///   - array: How many numbers are read, and where they go.
    /// - Returns: How many whole numbers were read; fewer than asked for at the file's end, none of a stream.
    /// - Throws: ``MediaError`` `inputOutput` for what the system says, `cancelled` after ``cancel()``.
    package func read<Number: BitwiseCopyable>(
        at position: Int64, into array: inout [Number]
    ) throws(MediaError) -> Int {
        if isCancelled { throw MediaError(.cancelled, "cancelled") }
        let result: Result<Int, MediaError> = array.withUnsafeMutableBytes { buffer in
            Result { () throws(MediaError) in try io.read(at: position, into: buffer) }
        }
        return try result.get() / MemoryLayout<Number>.stride
    }
}

/// The samples of linear PCM as files store them, made numbers of the machine.
package enum StoredSamples {
    /// Turns big-endian numbers into the machine's, in place.
    package static func swapBytes<Number: FixedWidthInteger & BitwiseCopyable>(_ numbers: inout [Number]) {
        var span = numbers.mutableSpan
        for place in 0..<span.count { span[place] = Number(bigEndian: span[place]) }
    }

    /// Spreads samples of three bytes over 32 bits, left-justified, as many as both arrays hold.
    ///
    /// - Parameters:
    ///   - bytes: The samples, one behind the other, and at least one byte more than is to be spread.
    ///   - isBigEndian: Whether the highest byte comes first.
    ///   - samples: Where they go.
    package static func spread24(_ bytes: [UInt8], isBigEndian: Bool, into samples: inout [Int32]) {
        let room = samples.count
        bytes.withUnsafeBytes { source in
            samples.withUnsafeMutableBufferPointer { target in
                guard let source = source.baseAddress, let target = target.baseAddress else { return }
                let count = min((bytes.count - 1) / 3, room)
                if isBigEndian {
                    for place in 0..<count {
                        let word = source.loadUnaligned(fromByteOffset: place &* 3, as: UInt32.self)
                        target[place] = Int32(bitPattern: UInt32(bigEndian: word) & 0xFFFF_FF00)
                    }
                } else {
                    for place in 0..<count {
                        let word = source.loadUnaligned(fromByteOffset: place &* 3, as: UInt32.self)
                        target[place] = Int32(bitPattern: UInt32(littleEndian: word) &<< 8)
                    }
                }
            }
        }
    }
}
