/* What is used of Pango and Cairo, declared here in place of their headers.

   The libraries are there wherever Debian's libavcodec is, which needs them itself, under these names since 2010. Their
   headers are not: they would bring fifty packages more, and flags that SwiftPM warns of in every build. Where they are
   installed, TextLayoutTests has a compiler compare these declarations with theirs. */
#ifndef CPANGO_SHIM_H
#define CPANGO_SHIM_H

#include <stdint.h>

/* pango.h, pangocairo.h */

#define CPANGO_SCALE 1024
/* In place of a glyph: the character that no font has, with this bit set. */
#define CPANGO_GLYPH_UNKNOWN_FLAG 0x10000000u
/* In place of a glyph: a character of which nothing is drawn. */
#define CPANGO_GLYPH_EMPTY 0x0FFFFFFFu

#ifndef __PANGO_H__
typedef struct _PangoFontMap PangoFontMap;
typedef struct _PangoContext PangoContext;
typedef struct _PangoFont PangoFont;
typedef struct _PangoFontDescription PangoFontDescription;
typedef struct _PangoLayout PangoLayout;
typedef struct _PangoLayoutIter PangoLayoutIter;
typedef struct _PangoItem PangoItem;

typedef struct _PangoRectangle {
    int x, y, width, height;
} PangoRectangle;

typedef struct _PangoGlyphInfo {
    uint32_t glyph;
    struct { int32_t width, x_offset, y_offset; } geometry;
    uint32_t attr;
} PangoGlyphInfo;

typedef struct _PangoGlyphString {
    int num_glyphs;
    PangoGlyphInfo *glyphs;
} PangoGlyphString;

typedef struct _PangoGlyphItem {
    PangoItem *item;
    PangoGlyphString *glyphs;
} PangoGlyphItem;

typedef enum { PANGO_DIRECTION_WEAK_LTR = 4 } PangoDirection;
typedef enum { PANGO_ELLIPSIZE_END = 3 } PangoEllipsizeMode;
#endif

#ifndef CAIRO_H
typedef struct _cairo cairo_t;
typedef struct _cairo_surface cairo_surface_t;
typedef struct _cairo_font_options cairo_font_options_t;
typedef enum { CAIRO_STATUS_SUCCESS = 0 } cairo_status_t;
typedef enum { CAIRO_FORMAT_INVALID = -1, CAIRO_FORMAT_ARGB32 = 0 } cairo_format_t;
typedef enum { CAIRO_ANTIALIAS_GRAY = 2 } cairo_antialias_t;
typedef enum { CAIRO_HINT_STYLE_SLIGHT = 2 } cairo_hint_style_t;
typedef enum { CAIRO_HINT_METRICS_ON = 2 } cairo_hint_metrics_t;
#endif

PangoFontMap *pango_cairo_font_map_new(void);
PangoContext *pango_font_map_create_context(PangoFontMap *map);
void pango_context_set_base_dir(PangoContext *context, PangoDirection direction);
PangoFont *pango_context_load_font(PangoContext *context, const PangoFontDescription *description);
void pango_cairo_context_set_font_options(PangoContext *context, const cairo_font_options_t *options);

PangoFontDescription *pango_font_description_from_string(const char *text);
void pango_font_description_set_absolute_size(PangoFontDescription *description, double size);
void pango_font_description_free(PangoFontDescription *description);

PangoLayout *pango_layout_new(PangoContext *context);
void pango_layout_set_font_description(PangoLayout *layout, const PangoFontDescription *description);
void pango_layout_set_text(PangoLayout *layout, const char *text, int length);
void pango_layout_set_width(PangoLayout *layout, int width);
void pango_layout_set_ellipsize(PangoLayout *layout, PangoEllipsizeMode mode);
void pango_layout_get_pixel_size(PangoLayout *layout, int *width, int *height);
void pango_layout_get_pixel_extents(PangoLayout *layout, PangoRectangle *ink, PangoRectangle *logical);
int pango_layout_get_baseline(PangoLayout *layout);
int pango_layout_get_unknown_glyphs_count(PangoLayout *layout);
void pango_cairo_show_layout(cairo_t *context, PangoLayout *layout);

PangoLayoutIter *pango_layout_get_iter(PangoLayout *layout);
PangoGlyphItem *pango_layout_iter_get_run_readonly(PangoLayoutIter *iterator);
int pango_layout_iter_next_run(PangoLayoutIter *iterator);
void pango_layout_iter_free(PangoLayoutIter *iterator);

/* glib-object.h */

void g_object_unref(void *object);

/* cairo.h */

cairo_font_options_t *cairo_font_options_create(void);
void cairo_font_options_set_antialias(cairo_font_options_t *options, cairo_antialias_t antialias);
void cairo_font_options_set_hint_style(cairo_font_options_t *options, cairo_hint_style_t style);
void cairo_font_options_set_hint_metrics(cairo_font_options_t *options, cairo_hint_metrics_t metrics);
void cairo_font_options_destroy(cairo_font_options_t *options);

cairo_surface_t *cairo_image_surface_create(cairo_format_t format, int width, int height);
unsigned char *cairo_image_surface_get_data(cairo_surface_t *surface);
int cairo_image_surface_get_stride(cairo_surface_t *surface);
void cairo_surface_flush(cairo_surface_t *surface);
void cairo_surface_destroy(cairo_surface_t *surface);
cairo_t *cairo_create(cairo_surface_t *surface);
cairo_status_t cairo_status(cairo_t *context);
void cairo_set_source_rgb(cairo_t *context, double red, double green, double blue);
void cairo_move_to(cairo_t *context, double x, double y);
void cairo_destroy(cairo_t *context);

#endif
