import LibAV
import MediaAnalysis
import MediaBase

/// Makes frames of pictures that fill them, as luma and chroma: cuts, dissolves, and overlays in their own size.
///
/// Mixing is linear in each number, so that it gives what mixing red, green and blue gives, without going there and back.
/// Only pictures of BT.709 and 8 bits, 4:2:0, are mixed so; for all others the frame is `nil`.
struct PlanarCompositor: Sendable {
    private let size: Dimensions
    private let overlays: [(overlay: VideoComposition.Overlay, planes: PlanarOverlay)]

    /// `nil` for a composition of which no frame could be made so.
    init?(_ composition: VideoComposition) {
        size = composition.outputSize
        guard composition.renderScale == .one, size.width % 2 == 0, size.height % 2 == 0 else { return nil }
        var overlays: [(VideoComposition.Overlay, PlanarOverlay)] = []
        for overlay in composition.overlays {
            let (place, image) = (overlay.place, overlay.image)
            let isOwnSize =
                (place.width == 0 && place.height == 0)
                || (place.width == Double(image.width) && place.height == Double(image.height))
            guard isOwnSize, let x = Int(exactly: place.x), let y = Int(exactly: place.y), x.magnitude < 1 << 20,
                y.magnitude < 1 << 20
            else { return nil }
            if let planes = PlanarOverlay(image, x: x, y: y, in: size) { overlays.append((overlay, planes)) }
        }
        self.overlays = overlays
    }

    /// The frame; `nil` where it has to be made another way.
    func frame(for request: VideoCompositionRequest) throws(MediaError) -> PixelBuffer? {
        // From the front to the back, as far as something is seen.
        var layers: [(picture: PixelBuffer, weight: UInt32)] = []
        var isCovered = false
        for layer in request.instruction.layers where !isCovered {
            guard let source = request.sources[layer.trackID] else { continue }
            let opacity = layer.opacity(at: request.time)
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

    /// Whether a layer's picture covers all of the frame, and can be mixed so.
    private func fills(_ layer: VideoComposition.Layer, _ source: SourceFrame, at time: MediaTime) -> Bool {
        let (part, shown) = source.shape
        let transform = layer.transform(at: time)
        func isNear(_ one: Double, _ other: Int) -> Bool { (one - Double(other)).magnitude < 1e-6 }
        guard part == nil, !source.picture.isInterlaced, layer.cropRectangle(at: time) == .unlimited, transform.b == 0,
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
