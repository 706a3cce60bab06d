internal import AssetKit
internal import MediaBase

/// A piece of a timeline and the composition's track that it is in.
struct PlacedPiece {
    let piece: TimelinePiece
    let track: Int
}

/// Makes the layers of a stretch of a timeline in which the same pieces are shown throughout.
struct TimelineLayers {
    /// The frames' size.
    let size: Dimensions

    /// The layers of pieces, from the front to the back.
    func layers(of shown: [PlacedPiece]) throws(MediaError) -> [VideoComposition.Layer] {
        let ordered = shown.sorted { $1.piece.level.lexicographicallyPrecedes($0.piece.level) }
        var layers: [VideoComposition.Layer] = []
        for placed in ordered {
            let next = ordered.first { placed.piece.dissolves(into: $0.piece) }
            if let next, let fade = next.piece.fadeIn {
                layers += try parts(of: placed, under: next, fade)
            } else {
                layers.append(try layer(placed))
            }
        }
        return layers
    }

    private func layer(
        _ placed: PlacedPiece, showing part: PictureRectangle? = nil
    ) throws(MediaError) -> VideoComposition.Layer {
        let transform = PictureTransform.upright(placed.piece.track, in: size)
        var layer = VideoComposition.Layer(trackID: placed.track)
        try layer.setTransform(transform, at: .zero)
        if let part, let back = transform.inverted { try layer.setCropRectangle(part.moved(by: back), at: .zero) }
        for fade in [placed.piece.fadeIn, placed.piece.fadeOut].compactMap(\.self) {
            try layer.setOpacityRamp(from: fade.from, to: fade.to, timeRange: fade.range)
        }
        return layer
    }

    /// A piece over which another one comes: it stays as it is where that will cover it, and goes evenly beside.
    private func parts(
        of placed: PlacedPiece, under next: PlacedPiece, _ fade: TimelineFade
    ) throws(MediaError) -> [VideoComposition.Layer] {
        let (own, cover) = (place(of: placed.piece.track), place(of: next.piece.track).wholePixelsInside)
        let (left, right) = (max(own.x, cover.x), min(own.x + own.width, cover.x + cover.width))
        let (top, bottom) = (max(own.y, cover.y), min(own.y + own.height, cover.y + cover.height))
        guard left < right, top < bottom else { return [try going(placed, showing: own, fade)] }
        let covered = PictureRectangle(x: left, y: top, width: right - left, height: bottom - top)
        let beside = [
            PictureRectangle(x: own.x, y: own.y, width: own.width, height: top - own.y),
            PictureRectangle(x: own.x, y: bottom, width: own.width, height: own.y + own.height - bottom),
            PictureRectangle(x: own.x, y: top, width: left - own.x, height: bottom - top),
            PictureRectangle(x: right, y: top, width: own.x + own.width - right, height: bottom - top),
        ].filter { $0.width > 0 && $0.height > 0 }
        guard !beside.isEmpty else { return [try layer(placed)] }
        var parts = [try layer(placed, showing: covered)]
        for part in beside { parts.append(try going(placed, showing: part, fade)) }
        return parts
    }

    private func going(
        _ placed: PlacedPiece, showing part: PictureRectangle, _ fade: TimelineFade
    ) throws(MediaError) -> VideoComposition.Layer {
        var going = try layer(placed, showing: part)
        try going.setOpacityRamp(from: 1 - fade.from, to: 1 - fade.to, timeRange: fade.range)
        return going
    }

    /// Where a track's pictures lie in the frames.
    private func place(of track: AssetTrack) -> PictureRectangle {
        let shown = track.formatDescriptions.first?.video?
            .presentationDimensions(usePixelAspectRatio: true, useCleanAperture: true)
        let turned = track.preferredTransform.apply(to: shown ?? size)
        let fit = PictureTransform.fitting(turned, into: size)
        return PictureRectangle(
            x: fit.tx, y: fit.ty, width: Double(turned.width) * fit.a, height: Double(turned.height) * fit.d)
    }
}

extension TimelinePiece {
    /// Whether another one comes over it by a dissolve: the next clip but the transition in the same track.
    fileprivate func dissolves(into next: TimelinePiece) -> Bool {
        guard next.fadeIn != nil, level.count == next.level.count, level.dropLast() == next.level.dropLast(),
            let place = level.last
        else { return false }
        return next.level.last == place + 2
    }
}

extension PictureRectangle {
    /// The pixels that lie in it whole, so that what is cut along their edges meets without a seam.
    fileprivate var wholePixelsInside: PictureRectangle {
        // What misses a whole number by less than this is one that arithmetic has bent.
        let tolerance = 1e-6
        let (left, top) = ((x - tolerance).rounded(.up), (y - tolerance).rounded(.up))
        return PictureRectangle(
            x: left, y: top, width: (x + width + tolerance).rounded(.down) - left,
            height: (y + height + tolerance).rounded(.down) - top)
    }

    /// Where it comes to lie by a map that turns by quarters at most.
    fileprivate func moved(by map: PictureTransform) -> PictureRectangle {
        let corners = [(x, y), (x + width, y + height)].map { x, y in
            (map.a * x + map.c * y + map.tx, map.b * x + map.d * y + map.ty)
        }
        let (left, top) = (min(corners[0].0, corners[1].0), min(corners[0].1, corners[1].1))
        return PictureRectangle(
            x: left, y: top, width: max(corners[0].0, corners[1].0) - left,
            height: max(corners[0].1, corners[1].1) - top)
    }
}
