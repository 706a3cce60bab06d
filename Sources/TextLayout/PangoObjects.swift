import CPango
import MediaBase

/// The fonts of the system, with what Pango keeps of those that were used.
///
/// Owns a PangoFontMap and a PangoContext. Pango allows one thread at a time to use them.
struct FontCollection: ~Copyable {
    private let map: OpaquePointer
    private let context: OpaquePointer

    private init(map: OpaquePointer, context: OpaquePointer) {
        self.map = map
        self.context = context
    }

    deinit {
        g_object_unref(UnsafeMutableRawPointer(context))
        g_object_unref(UnsafeMutableRawPointer(map))
    }

    /// Finds the fonts of the system, which takes about 10 ms.
    ///
    /// Lines of text are level with those of the pixels (slight hinting) and letters stand on whole pixels, so that
    /// small text is sharp. Edges are grey, never coloured.
    ///
    /// - Throws: `unsupported` if no font has Latin digits.
    static func load() throws(MediaError) -> FontCollection {
        guard let map = pango_cairo_font_map_new() else { throw outOfMemory }
        guard let context = pango_font_map_create_context(map) else {
            g_object_unref(UnsafeMutableRawPointer(map))
            throw outOfMemory
        }
        let fonts = FontCollection(map: map, context: context)
        let options = cairo_font_options_create()
        defer { cairo_font_options_destroy(options) }
        cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY)
        cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT)
        cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_ON)
        pango_cairo_context_set_font_options(context, options)
        pango_context_set_base_dir(context, PANGO_DIRECTION_WEAK_LTR)
        try fonts.check()
        return fonts
    }

    /// Throws if text would consist of boxes, which Pango draws without a word.
    private func check() throws(MediaError) {
        let font = FontDescription(size: 16)
        if let found = pango_context_load_font(context, font.description) {
            g_object_unref(UnsafeMutableRawPointer(found))
            let digits = try layout("-0123456789:.", style: TextStyle(size: 16, color: .black))
            if digits.missingCharacters.isEmpty { return }
        }
        throw MediaError(
            .unsupported,
            "text cannot be drawn, because no font is installed: install one, such as Debian's "
                + "fonts-dejavu-core")
    }

    /// Lays out a text, whose lines end where it has line feeds.
    func layout(_ text: String, style: TextStyle) throws(MediaError) -> LaidOutText {
        guard let layout = pango_layout_new(context) else { throw outOfMemory }
        let laidOut = LaidOutText(layout: layout)
        laidOut.set(style.prepared(text), style: style)
        return laidOut
    }
}

/// A font as it is asked for; owns a PangoFontDescription.
private struct FontDescription: ~Copyable {
    let description: OpaquePointer?

    init(size: Double) {
        description = pango_font_description_from_string(TextStyle.families)
        pango_font_description_set_absolute_size(description, size * Double(CPANGO_SCALE))
    }

    deinit { pango_font_description_free(description) }
}

/// A text with the places of its glyphs; owns a PangoLayout.
struct LaidOutText: ~Copyable {
    private let layout: OpaquePointer

    fileprivate init(layout: OpaquePointer) { self.layout = layout }

    deinit { g_object_unref(UnsafeMutableRawPointer(layout)) }

    fileprivate func set(_ text: String, style: TextStyle) {
        let font = FontDescription(size: style.checkedSize)
        pango_layout_set_font_description(layout, font.description)
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                pango_layout_set_text(layout, $0.baseAddress, CInt($0.count))
            }
        }
        var width: CInt = 0
        pango_layout_get_pixel_size(layout, &width, nil)
        guard width > style.checkedWidth else { return }
        pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
        pango_layout_set_width(layout, CInt(style.checkedWidth) * CPANGO_SCALE)
    }

    /// The place of the text relative to the left end of its first baseline.
    var extents: TextExtents {
        var ink = PangoRectangle()
        var logical = PangoRectangle()
        pango_layout_get_pixel_extents(layout, &ink, &logical)
        let baseline = self.baseline
        // A text from right to left stands at the right end of the width beyond which it would be shortened.
        func columns(_ place: PangoRectangle, margin: Int) -> Range<Int> {
            let left = Int(place.x) - Int(logical.x)
            return left - margin..<left + max(Int(place.width), 0) + margin
        }
        func rows(_ place: PangoRectangle, margin: Int) -> Range<Int> {
            Int(place.y) - baseline - margin..<Int(place.y) - baseline + max(Int(place.height), 0) + margin
        }
        // Pango measures outlines; their soft edges may reach into the next pixel.
        let margin = ink.width > 0 && ink.height > 0 ? 1 : 0
        return TextExtents(
            columns: columns(logical, margin: 0), rows: rows(logical, margin: 0),
            inkColumns: columns(ink, margin: margin), inkRows: rows(ink, margin: margin))
    }

    private var baseline: Int { Int((Double(pango_layout_get_baseline(layout)) / Double(CPANGO_SCALE)).rounded()) }

    /// The characters for which no font has a glyph, each once.
    var missingCharacters: Set<Unicode.Scalar> {
        guard pango_layout_get_unknown_glyphs_count(layout) > 0 else { return [] }
        let iterator = pango_layout_get_iter(layout)
        defer { pango_layout_iter_free(iterator) }
        var missing: Set<Unicode.Scalar> = []
        repeat {
            // At the end of each line is a run that is none.
            guard let run = pango_layout_iter_get_run_readonly(iterator), let glyphs = run.pointee.glyphs else {
                continue
            }
            for index in 0..<Int(glyphs.pointee.num_glyphs) {
                let glyph = glyphs.pointee.glyphs[index].glyph
                guard glyph & CPANGO_GLYPH_UNKNOWN_FLAG != 0, glyph != CPANGO_GLYPH_EMPTY,
                    let scalar = Unicode.Scalar(glyph & ~CPANGO_GLYPH_UNKNOWN_FLAG)
                else { continue }
                missing.insert(scalar)
            }
        } while pango_layout_iter_next_run(iterator) != 0
        return missing
    }

    /// Draws a part of the text.
    ///
    /// - Parameters:
    ///   - columns: The columns of the part, relative to the left end of the first baseline.
    ///   - rows: The rows of the part.
    ///   - color: The colour, whose alpha is ignored.
    /// - Returns: Rows of pixels with red, green, blue and alpha, the colours multiplied by alpha.
    func pixels(columns: Range<Int>, rows: Range<Int>, color: Color) throws(MediaError) -> [UInt8] {
        guard let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, CInt(columns.count), CInt(rows.count))
        else { throw outOfMemory }
        defer { cairo_surface_destroy(surface) }
        guard let context = cairo_create(surface) else { throw outOfMemory }
        defer { cairo_destroy(context) }
        cairo_set_source_rgb(
            context, Double(color.red) / 255, Double(color.green) / 255, Double(color.blue) / 255)
        var logical = PangoRectangle()
        pango_layout_get_pixel_extents(layout, nil, &logical)
        cairo_move_to(
            context, Double(-columns.lowerBound - Int(logical.x)), Double(-rows.lowerBound - baseline))
        pango_cairo_show_layout(context, layout)
        cairo_surface_flush(surface)
        guard cairo_status(context) == CAIRO_STATUS_SUCCESS, let data = cairo_image_surface_get_data(surface) else {
            throw outOfMemory
        }
        let stride = Int(cairo_image_surface_get_stride(surface))
        return [UInt8](unsafeUninitializedCapacity: columns.count * rows.count * 4) { pixels, count in
            for row in 0..<rows.count {
                let words = UnsafeRawPointer(data + row * stride)
                for column in 0..<columns.count {
                    let word = words.load(fromByteOffset: column * 4, as: UInt32.self)
                    for shift in [16, 8, 0, 24] as [UInt32] {
                        pixels[count] = UInt8(truncatingIfNeeded: word >> shift)
                        count += 1
                    }
                }
            }
        }
    }
}

private let outOfMemory = MediaError(.outOfResources, "there is no memory to draw text")
