import LibAV
public import MediaBase

/// The linear PCM that a ``TrackOutput`` is asked for.
///
/// What is `nil` stays as the first decoded sound has it; sound that changes in mid-stream is converted to that.
public struct AudioSettings: Sendable, Hashable {
    /// How one sample is stored; converted by libswresample's rules without dither.
    public var sampleFormat: SampleFormat?
    /// Whether each channel gets a plane of its own; `nil` for interleaved, unless ``sampleFormat`` is `nil` too.
    public var isPlanar: Bool?
    /// Samples a second.
    public var sampleRate: Int?
    /// Which channels; others are mixed down or up by libswresample's coefficients.
    public var channelLayout: ChannelLayout?
    /// Whether another rate is made by a longer filter, for sound that is worked on further.
    var resamplesFinely = false

    /// Settings that keep what is not given.
    public init(
        sampleFormat: SampleFormat? = nil, isPlanar: Bool? = nil, sampleRate: Int? = nil,
        channelLayout: ChannelLayout? = nil
    ) {
        self.sampleFormat = sampleFormat
        self.isPlanar = isPlanar
        self.sampleRate = sampleRate
        self.channelLayout = channelLayout
    }
}

/// The pictures that a ``TrackOutput`` is asked for.
///
/// What is `nil` stays as each decoded picture has it.
public struct VideoSettings: Sendable, Hashable {
    /// How pixels are stored.
    public var pixelFormat: PixelFormat?
    /// The size that pictures are scaled to, whatever their shape.
    public var dimensions: Dimensions?
    /// The range of luma and chroma, `tv` (limited) or `pc` (full).
    public var colorRange: String? {
        get { coding.range }
        set { coding.range = newValue }
    }
    /// How luma and chroma are coded.
    var coding = LumaCoding()
    /// Whether pictures that consist of two fields become pictures of the first field; see
    /// ``PixelBuffer/deinterlaced()``.
    public var deinterlaces = false
    /// How pictures are flipped and turned by quarters; ``dimensions`` is the size after that.
    ///
    /// Only together with ``pixelFormat`` and ``dimensions``.
    public var turn: DisplayTransform?
    /// Whether several threads of a decoder work on one picture, where the codec can be decoded so, rather than on several
    /// pictures, all of which are held.
    var decodesBySlices = false
    /// Whether the fields of interlaced pictures are converted each by itself.
    var convertsFieldsApart = false

    /// Settings that keep what is not given.
    public init(pixelFormat: PixelFormat? = nil, dimensions: Dimensions? = nil) {
        self.pixelFormat = pixelFormat
        self.dimensions = dimensions
    }
}

// MARK: - What makes no sense

extension AudioSettings {
    /// Which value no sound can be delivered with, in words; `nil` where there is none.
    var impossibility: String? {
        if let sampleRate, !(1...Int(Int32.max)).contains(sampleRate) {
            return "a sample rate of \(sampleRate) makes no sense"
        }
        return channelLayout?.impossibility
    }
}

extension VideoSettings {
    /// Which value no picture can be delivered with, in words; `nil` where there is none.
    var impossibility: String? {
        if let pixelFormat, !pixelFormat.canBeMade {
            return "pictures cannot be made in the pixel format \(pixelFormat)"
        }
        if let dimensions, dimensions.width <= 0 || dimensions.height <= 0 {
            return "pictures of \(dimensions) make no sense"
        }
        if let colorRange, !["tv", "pc"].contains(colorRange) {
            return "the colour range \(colorRange) is neither tv nor pc"
        }
        return nil
    }
}

extension ChannelLayout {
    /// Why it is no layout that sound can have; `nil` where it is one.
    var impossibility: String? {
        isKnown ? nil : "\(channels) channels called \(name) are not a channel layout that is known"
    }
}
