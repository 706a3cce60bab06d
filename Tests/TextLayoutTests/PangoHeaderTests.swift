import TestSupport
import Testing

/// The declarations of Pango and Cairo in `CPango` against the libraries' own headers.
@Suite struct PangoHeaderTests {
    private static let flags: [String]? = {
        let found = try? Program.run("pkg-config", ["--cflags", "pangocairo"])
        return found?.status == 0 ? found?.output.split(whereSeparator: \.isWhitespace).map(String.init) : nil
    }()

    private static let checks = """
        #include <stddef.h>
        _Static_assert(sizeof(PangoGlyphInfo) == 20 && offsetof(PangoGlyphInfo, glyph) == 0, "");
        _Static_assert(offsetof(PangoGlyphInfo, geometry) == 4, "");
        _Static_assert(offsetof(PangoGlyphString, glyphs) == 8 && offsetof(PangoGlyphItem, glyphs) == 8, "");
        _Static_assert(sizeof(PangoRectangle) == 16 && offsetof(PangoRectangle, height) == 12, "");
        _Static_assert(PANGO_DIRECTION_WEAK_LTR == 4 && PANGO_ELLIPSIZE_END == 3, "");
        _Static_assert(CAIRO_STATUS_SUCCESS == 0 && CAIRO_FORMAT_ARGB32 == 0 && CAIRO_ANTIALIAS_GRAY == 2, "");
        _Static_assert(CAIRO_HINT_STYLE_SLIGHT == 2 && CAIRO_HINT_METRICS_ON == 2, "");

        """

    /// A compiler takes the same function twice only if both declarations are alike.
    @Test(.enabled(if: flags != nil, "the headers of Pango are not installed"))
    func declarationsAreThoseOfTheHeaders() throws {
        let shim = "#include \"\(Repository.path("Sources/CPango/shim.h"))\"\n"
        let constants = """
            _Static_assert(CPANGO_SCALE == PANGO_SCALE && CPANGO_GLYPH_EMPTY == PANGO_GLYPH_EMPTY, "");
            _Static_assert(CPANGO_GLYPH_UNKNOWN_FLAG == PANGO_GLYPH_UNKNOWN_FLAG, "");

            """
        for source in ["#include <pango/pangocairo.h>\n" + shim + Self.checks + constants, shim + Self.checks] {
            let compiled = try Program.run(
                "clang", ["-fsyntax-only", "-Werror", "-xc", "-"] + (Self.flags ?? []), input: Array(source.utf8))
            #expect(compiled.status == 0, "\(compiled.error)")
        }
    }
}
