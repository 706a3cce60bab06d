import LibAV
import MediaAnalysis
import MediaBase
import Pictures
import Threading

/// A source frame and the container's description of its shape.
struct SourceFrame: Sendable {
    let picture: PixelBuffer
    let format: VideoFormat?

    /// The visible part, and the size at which it is shown before the track's rotation.
    var shape: (part: PixelRectangle?, size: Dimensions) {
        var shown = VideoFormat(
            encodedSize: picture.dimensions,
            sampleAspectRatio: format?.sampleAspectRatio ?? picture.sampleAspectRatio)
        if format?.encodedSize == picture.dimensions { shown.cleanAperture = format?.cleanAperture }
        return (
            shown.cleanAperture?.pixelRect,
            shown.presentationDimensions(usePixelAspectRatio: true, useCleanAperture: true)
        )
    }
}

/// A compositor that draws an instruction's layers and the overlays.
final class LayerCompositor: VideoCompositor {
    private let pool: PixelBufferPool
    private let overlays: [OverlayTexture]

    /// The compositor for frames that need no conversion to RGB; `nil` if RGB or alpha is requested.
    private let planar: PlanarCompositor?

    /// - Parameter format: The pixel format that the frames will be converted to.
    init(_ composition: VideoComposition, format: PixelFormat? = nil) throws(MediaError) {
        let keepsPlanes = format.map { !$0.isRGB && !$0.hasAlpha } ?? false
        planar = keepsPlanes ? PlanarCompositor(composition) : nil
        pool = try PixelBufferPool(dimensions: composition.outputSize, pixelFormat: .rgba)
        let scale = composition.renderScale.doubleValue
        var overlays: [OverlayTexture] = []
        for overlay in composition.overlays { overlays.append(try OverlayTexture(overlay, scale: scale)) }
        self.overlays = overlays
    }

    func frame(for request: VideoCompositionRequest) throws(MediaError) -> PixelBuffer {
        if let made = try planar?.frame(for: request) { return made }
        var drawn: [(texture: LayerTexture, placement: LayerPlacement)] = []
        let scale = request.videoComposition.renderScale.doubleValue
        // Draws from back to front.
        for layer in request.instruction.layers.reversed() {
            guard let source = request.sources[layer.trackID],
                let layer = try Self.drawn(layer, source, at: request.time, scale: scale)
            else { continue }
            drawn.append(layer)
        }
        for overlay in overlays {
            let opacity = overlay.overlay.opacity(at: request.time)
            let place = overlay.overlay.place(at: request.time)
            guard opacity > 0, let texture = try overlay.texture(for: place) else { continue }
            let transform = PictureTransform(
                a: place.width / Double(texture.width) * scale, b: 0, c: 0,
                d: place.height / Double(texture.height) * scale, tx: place.x * scale, ty: place.y * scale)
            let whole = PictureRectangle.unlimited
            guard let placement = Self.placement(transform, of: texture, crop: whole, opacity: opacity) else {
                continue
            }
            drawn.append((texture, placement))
        }
        return try render(drawn, on: request.instruction.backgroundColor)
    }

    private func render(
        _ layers: [(texture: LayerTexture, placement: LayerPlacement)], on color: Color
    ) throws(MediaError) -> PixelBuffer {
        let ground = SIMD4<Float>(Float(color.red), Float(color.green), Float(color.blue), Float(color.alpha))
        let size = pool.dimensions
        // The values are sRGB, which video tags call BT.709.
        let tags = ColorInfo(primaries: "bt709", transfer: "bt709", matrix: "gbr", range: "pc")
        return try pool.makePixelBuffer(sampleAspectRatio: .one, color: tags) { plane, bytes, stride in
            guard plane == 0 else { return }
            var line = ComposedRow(width: size.width, color: ground)
            for row in 0..<size.height {
                if row > 0 { line.clear(to: ground) }
                for layer in layers { line.draw(layer.texture, layer.placement, row: row) }
                line.write(into: &bytes, at: row * stride)
            }
        }
    }

    /// Returns a layer's frame in sRGB and its placement; the frame is scaled down first if the transform shrinks it.
    private static func drawn(
        _ layer: VideoComposition.Layer, _ source: SourceFrame, at time: MediaTime, scale: Double
    ) throws(MediaError) -> (texture: LayerTexture, placement: LayerPlacement)? {
        let opacity = Double(layer.opacity.value(at: time))
        let (part, shown) = source.shape
        let stored = part?.size ?? source.picture.dimensions
        let transform = layer.transform.value(at: time).concatenating(.scale(x: scale, y: scale))
        guard opacity > 0, transform.inverted != nil else { return nil }
        // The lengths of a pixel's sides in the output frame.
        let across = (transform.a * transform.a + transform.b * transform.b).squareRoot()
        let down = (transform.c * transform.c + transform.d * transform.d).squareRoot()
        let size = Dimensions(
            width: side(Double(shown.width), by: across, stored: stored.width),
            height: side(Double(shown.height), by: down, stored: stored.height))
        // The output has no fields, and scaling would mix them.
        let bitmap = try source.picture.deinterlaced().bitmap(
            part: part, dimensions: size, dynamicRange: .forceSDR, hdr: source.format?.hdr)
        guard let texture = LayerTexture(width: size.width, height: size.height, straight: bitmap.bytes) else {
            return nil
        }
        let (x, y) = (Double(shown.width) / Double(size.width), Double(shown.height) / Double(size.height))
        let crop = layer.cropRectangle.value(at: time)
        let scaled = PictureRectangle(
            x: crop.x / x, y: crop.y / y, width: crop.width / x, height: crop.height / y)
        return placement(
            PictureTransform.scale(x: x, y: y).concatenating(transform), of: texture, crop: scaled, opacity: opacity
        ).map { (texture, $0) }
    }

    /// Returns the number of pixels to scale a side to before drawing: its stored size, or its size in the output if
    /// smaller.
    fileprivate static func side(_ shown: Double, by scale: Double, stored: Int) -> Int {
        let wanted = shown * min(scale, 1e6)
        guard wanted < Double(stored) else { return stored }
        // A value just above a whole number counts as that number.
        return max(1, Int((wanted - 1e-6).rounded(.up)))
    }

    private static func placement(
        _ transform: PictureTransform, of texture: LayerTexture, crop: PictureRectangle, opacity: Double
    ) -> LayerPlacement? {
        guard let back = transform.inverted else { return nil }
        return LayerPlacement(
            u: (back.tx, back.a, back.c), v: (back.ty, back.b, back.d), left: max(0, crop.x), top: max(0, crop.y),
            right: min(Double(texture.width), crop.x + crop.width),
            bottom: min(Double(texture.height), crop.y + crop.height), opacity: opacity)
    }
}

/// The pixels of an overlay, scaled down to the size in which they are drawn.
private struct OverlayTexture {
    let overlay: VideoComposition.Overlay
    private let picture: PixelBuffer
    private let scale: Double
    /// The pixels in the only size that is drawn; `nil` if the size changes.
    private var still: LayerTexture?

    /// - Parameter scale: The factor from the composition's frames to those that are drawn.
    init(_ overlay: VideoComposition.Overlay, scale: Double) throws(MediaError) {
        self.overlay = overlay
        self.scale = scale
        picture = try PixelBuffer(overlay.image)
        if overlay.scale.isUnset { still = try texture(for: overlay.place(at: .zero)) }
    }

    /// Returns the pixels for a place in the composition's frames; `nil` if they have no area.
    func texture(for place: PictureRectangle) throws(MediaError) -> LayerTexture? {
        if let still { return still }
        guard place.width > 0, place.height > 0 else { return nil }
        let size = Dimensions(
            width: LayerCompositor.side(place.width, by: scale, stored: overlay.image.width),
            height: LayerCompositor.side(place.height, by: scale, stored: overlay.image.height))
        let own = Dimensions(width: overlay.image.width, height: overlay.image.height)
        let bitmap = size == own ? overlay.image : try picture.bitmap(dimensions: size)
        return LayerTexture(width: size.width, height: size.height, straight: bitmap.bytes)
    }
}

/// Makes frames in luma and chroma from sources that fill the frame: cuts, dissolves, and overlays in their own size.
///
/// Blending is linear in each component, so the result equals that of blending in RGB, without the conversions. This
/// applies only to 8-bit 4:2:0 frames in BT.709; for all others the result is `nil`.
struct PlanarCompositor: Sendable {
    private let size: Dimensions
    private let overlays: [(overlay: VideoComposition.Overlay, planes: PlanarOverlay)]

    /// Creates the compositor; `nil` if it could not make any frame of the composition.
    init?(_ composition: VideoComposition) {
        size = composition.outputSize
        guard composition.renderScale == .one, size.width % 2 == 0, size.height % 2 == 0 else { return nil }
        var overlays: [(VideoComposition.Overlay, PlanarOverlay)] = []
        for overlay in composition.overlays {
            let (place, image) = (overlay.place, overlay.image)
            let isOwnSize =
                (place.width == 0 && place.height == 0)
                || (place.width == Double(image.width) && place.height == Double(image.height))
            guard overlay.isStill, isOwnSize, let x = Int(exactly: place.x), let y = Int(exactly: place.y),
                x.magnitude < 1 << 20,
                y.magnitude < 1 << 20
            else { return nil }
            if let planes = PlanarOverlay(image, x: x, y: y, in: size) { overlays.append((overlay, planes)) }
        }
        self.overlays = overlays
    }

    /// Returns the frame; `nil` if it requires the RGB compositor.
    func frame(for request: VideoCompositionRequest) throws(MediaError) -> PixelBuffer? {
        // Goes from front to back, down to the first layer that covers the rest.
        var layers: [(picture: PixelBuffer, weight: UInt32)] = []
        var isCovered = false
        for layer in request.instruction.layers where !isCovered {
            guard let source = request.sources[layer.trackID] else { continue }
            let opacity = layer.opacity.value(at: request.time)
            guard opacity > 0 else { continue }
            guard fills(layer, source, at: request.time) else { return nil }
            let isReady = source.picture.dimensions == size && source.picture.pixelFormat == .yuv420p
            layers.append(
                (
                    isReady ? source.picture : try source.picture.converted(to: .yuv420p, dimensions: size),
                    UInt32(min(max(opacity, 0), 1) * 65536)
                ))
            isCovered = opacity >= 1
        }
        guard let base = layers.last, isCovered || request.instruction.backgroundColor == .black else { return nil }
        if isCovered { layers.removeLast() }
        let marks = overlays.map { ($0.planes, UInt32($0.overlay.opacity(at: request.time) * 65536)) }.filter { $1 > 0 }
        return try mixed(base.picture, isBlack: !isCovered, layers.reversed(), marks)
    }

    /// Returns true if a layer's frame covers the whole output and can be blended in luma and chroma.
    private func fills(_ layer: VideoComposition.Layer, _ source: SourceFrame, at time: MediaTime) -> Bool {
        let (part, shown) = source.shape
        let transform = layer.transform.value(at: time)
        func isNear(_ one: Double, _ other: Int) -> Bool { (one - Double(other)).magnitude < 1e-6 }
        guard part == nil, !source.picture.isInterlaced, layer.cropRectangle.value(at: time) == .unlimited,
            transform.b == 0,
            transform.c == 0,
            isNear(transform.tx, 0), isNear(transform.ty, 0),
            isNear(transform.a * Double(shown.width), size.width),
            isNear(transform.d * Double(shown.height), size.height)
        else { return false }
        let (format, color) = (source.picture.pixelFormat, source.picture.assumedColor)
        return format == .yuv420p && color.matrix == "bt709" && color.range == "tv" && color.primaries == "bt709"
            && color.transfer == "bt709"
    }

    private func mixed(
        _ base: PixelBuffer, isBlack: Bool, _ layers: [(picture: PixelBuffer, weight: UInt32)],
        _ marks: [(planes: PlanarOverlay, weight: UInt32)]
    ) throws(MediaError) -> PixelBuffer {
        let frame = try base.frame.rewritten(as: UInt8.self, format: .yuv420p) { plane, row, target in
            if isBlack {
                PlaneBlending.fill(&target, with: plane == 0 ? 16 : 128)
            } else {
                Self.withRow(row, of: base, plane) { PlaneBlending.copy($0, into: &target) }
            }
            for layer in layers {
                Self.withRow(row, of: layer.picture, plane) {
                    PlaneBlending.blend($0, weight: layer.weight, into: &target)
                }
            }
            for mark in marks where mark.planes.planes.indices.contains(plane) {
                let overlay = mark.planes.planes[plane]
                guard row >= overlay.row, row < overlay.row + overlay.height else { continue }
                let start = (row - overlay.row) * overlay.width
                PlaneBlending.blend(
                    overlay.samples.span.extracting(start..<start + overlay.width),
                    weights: overlay.weights.span.extracting(start..<start + overlay.width), scale: mark.weight,
                    into: &target, at: overlay.column)
            }
        }
        let tags = ColorInfo(
            primaries: "bt709", transfer: "bt709", matrix: "bt709", range: "tv",
            chromaLocation: base.color.chromaLocation)
        return PixelBuffer(frame.tagged(sampleAspectRatio: .one, color: tags))
    }

    private static func withRow(_ row: Int, of picture: PixelBuffer, _ plane: Int, _ body: (Span<UInt8>) -> Void) {
        let width = picture.planeShape(plane).rowBytes
        picture.withSamples(of: UInt8.self, plane: plane) { samples, stride in
            let start = row * stride
            if start + width <= samples.count { body(samples.extracting(start..<start + width)) }
        }
    }
}

/// An overlay in luma and chroma of ITU-R BT.709, with a weight for each sample.
struct PlanarOverlay: Sendable {
    /// One plane of an overlay.
    struct Plane: Sendable {
        /// The position in the frame's plane.
        let (column, row): (Int, Int)
        let (width, height): (Int, Int)
        var samples: [UInt8]
        /// The weights of the samples; 65535 is opaque.
        var weights: [UInt16]
    }

    /// The luma plane and both chroma planes, which have half the size.
    let planes: [Plane]

    /// Converts the part of an image that lies inside a frame with even sides; `nil` if no part does.
    ///
    /// - Parameters:
    ///   - x: The left edge of the image in the frame.
    ///   - y: The upper edge of the image in the frame.
    init?(_ image: Bitmap, x: Int, y: Int, in size: Dimensions) {
        let (left, right) = (max(0, x), min(size.width, x + image.width))
        let (top, bottom) = (max(0, y), min(size.height, y + image.height))
        guard left < right, top < bottom else { return nil }
        var luma = Plane(left, top, right, bottom)
        // Chroma samples represent squares of the frame, not of the overlay.
        var (blue, red) = (
            Plane(left / 2, top / 2, (right + 1) / 2, (bottom + 1) / 2),
            Plane(left / 2, top / 2, (right + 1) / 2, (bottom + 1) / 2)
        )
        var sums = [SIMD4<Float>](repeating: SIMD4(), count: blue.samples.count)
        let bytes = image.bytes.span
        for line in top..<bottom {
            for column in left..<right {
                let place = ((line - y) * image.width + column - x) * 4
                let (r, g, b) = (Float(bytes[place]), Float(bytes[place + 1]), Float(bytes[place + 2]))
                let alpha = bytes[place + 3]
                let value = 0.2126 * r + 0.7152 * g + 0.0722 * b
                let index = (line - top) * luma.width + column - left
                luma.samples[index] = Self.code(16 + value * 219 / 255)
                luma.weights[index] = UInt16(alpha) * 257
                let share = Float(alpha) / 255
                let chroma = SIMD4<Float>(
                    (b - value) / 1.8556 * share, (r - value) / 1.5748 * share, share, 0)
                sums[(line / 2 - blue.row) * blue.width + column / 2 - blue.column] += chroma
            }
        }
        for (index, sum) in sums.enumerated() where sum.z > 0 {
            blue.samples[index] = Self.code(128 + sum.x / sum.z * 224 / 255)
            red.samples[index] = Self.code(128 + sum.y / sum.z * 224 / 255)
            blue.weights[index] = UInt16(min(65535, sum.z / 4 * 65535))
            red.weights[index] = blue.weights[index]
        }
        planes = [luma, blue, red]
    }

    private static func code(_ value: Float) -> UInt8 { UInt8(min(255, max(0, value.rounded()))) }
}

extension PlanarOverlay.Plane {
    fileprivate init(_ left: Int, _ top: Int, _ right: Int, _ bottom: Int) {
        (column, row, width, height) = (left, top, right - left, bottom - top)
        samples = [UInt8](repeating: 0, count: width * height)
        weights = [UInt16](repeating: 0, count: width * height)
    }
}
