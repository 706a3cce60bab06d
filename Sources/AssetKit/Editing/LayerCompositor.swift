import LibAV
import MediaAnalysis
import MediaBase
import Pictures
import Threading

/// The compositor that draws an instruction's layers, and what lies over them.
final class LayerCompositor: VideoCompositor {
    private let pool: PixelBufferPool
    private let overlays: [(overlay: VideoComposition.Overlay, texture: LayerTexture)]

    /// Makes what needs no red, green and blue; `nil` where those are wanted.
    private let planar: PlanarCompositor?

    /// - Parameter format: How the pixels are wanted that are made of the frames.
    init(_ composition: VideoComposition, format: PixelFormat? = nil) throws(MediaError) {
        let keepsPlanes = format.map { !$0.isRGB && !$0.hasAlpha } ?? false
        planar = keepsPlanes ? PlanarCompositor(composition) : nil
        pool = try PixelBufferPool(dimensions: composition.outputSize, pixelFormat: .rgba)
        overlays = composition.overlays.compactMap { overlay in
            let image = overlay.image
            return LayerTexture(width: image.width, height: image.height, straight: image.bytes).map { (overlay, $0) }
        }
    }

    func frame(for request: VideoCompositionRequest) throws(MediaError) -> PixelBuffer {
        if let made = try planar?.frame(for: request) { return made }
        var drawn: [(texture: LayerTexture, placement: LayerPlacement)] = []
        let scale = request.videoComposition.renderScale.doubleValue
        // From the back to the front.
        for layer in request.instruction.layers.reversed() {
            guard let source = request.sources[layer.trackID],
                let layer = try Self.drawn(layer, source, at: request.time, scale: scale)
            else { continue }
            drawn.append(layer)
        }
        for (overlay, texture) in overlays {
            let opacity = overlay.opacity(at: request.time)
            guard opacity > 0 else { continue }
            var place = overlay.place
            if place.width == 0, place.height == 0 {
                (place.width, place.height) = (Double(texture.width), Double(texture.height))
            }
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
        // The numbers are sRGB's, which video calls BT.709.
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

    /// A layer's picture in sRGB, made smaller first where the transform makes it smaller, and where it goes.
    private static func drawn(
        _ layer: VideoComposition.Layer, _ source: SourceFrame, at time: MediaTime, scale: Double
    ) throws(MediaError) -> (texture: LayerTexture, placement: LayerPlacement)? {
        let opacity = Double(layer.opacity(at: time))
        let (part, shown) = source.shape
        let stored = part?.size ?? source.picture.dimensions
        let transform = layer.transform(at: time).concatenating(.scale(x: scale, y: scale))
        guard opacity > 0, transform.inverted != nil else { return nil }
        // How long a pixel's sides are in the frame.
        let across = (transform.a * transform.a + transform.b * transform.b).squareRoot()
        let down = (transform.c * transform.c + transform.d * transform.d).squareRoot()
        let size = Dimensions(
            width: side(shown.width, by: across, stored: stored.width),
            height: side(shown.height, by: down, stored: stored.height))
        let bitmap = try source.picture.bitmap(
            part: part, dimensions: size, dynamicRange: .forceSDR, hdr: source.format?.hdr)
        guard let texture = LayerTexture(width: size.width, height: size.height, straight: bitmap.bytes) else {
            return nil
        }
        let (x, y) = (Double(shown.width) / Double(size.width), Double(shown.height) / Double(size.height))
        let crop = layer.cropRectangle(at: time)
        let scaled = PictureRectangle(
            x: crop.x / x, y: crop.y / y, width: crop.width / x, height: crop.height / y)
        return placement(
            PictureTransform.scale(x: x, y: y).concatenating(transform), of: texture, crop: scaled, opacity: opacity
        ).map { (texture, $0) }
    }

    /// How many pixels a side is brought to before it is drawn: as many as it has, or as the frame has for it if those are
    /// fewer.
    private static func side(_ shown: Int, by scale: Double, stored: Int) -> Int {
        let wanted = Double(shown) * min(scale, 1e6)
        guard wanted < Double(stored) else { return stored }
        // A hair over a whole number is that number.
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
