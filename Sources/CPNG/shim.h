/* libpng for Swift. libpng reports errors by longjmp, which must not cross a Swift frame: everything that can jump
   happens inside the functions below, and they return a status instead. */
#ifndef CPNG_SHIM_H
#define CPNG_SHIM_H

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* A file under way in memory; `bytes` is the caller's to free() whatever the outcome. */
typedef struct cpng_output {
    unsigned char *bytes;
    size_t count;
    size_t capacity;
    char message[128];
} cpng_output;

static inline void cpng_on_error(png_structp png, png_const_charp message) {
    cpng_output *output = (cpng_output *)png_get_error_ptr(png);
    strncpy(output->message, message, sizeof output->message - 1);
    png_longjmp(png, 1);
}

static inline void cpng_on_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static inline void cpng_on_write(png_structp png, png_bytep data, size_t length) {
    cpng_output *output = (cpng_output *)png_get_io_ptr(png);
    if (length > output->capacity - output->count) {
        size_t wanted = output->count + length;
        size_t capacity = output->capacity < 16384 ? 16384 : output->capacity * 2;
        if (capacity < wanted) capacity = wanted;
        unsigned char *bytes = (unsigned char *)realloc(output->bytes, capacity);
        if (bytes == NULL) png_error(png, "out of memory");
        output->bytes = bytes;
        output->capacity = capacity;
    }
    memcpy(output->bytes + output->count, data, length);
    output->count += length;
}

static inline void cpng_on_flush(png_structp png) { (void)png; }

/* Writes `height` tightly packed rows of RGBA pixels as a PNG file, without alpha if `opaque`. From level 4 on libpng
   tries every filter on each row; below, differences to the left are nearly as small and much faster. Returns 1, or 0
   with output->message set. */
static inline int cpng_encode(const unsigned char *rgba, unsigned int width, unsigned int height, int opaque,
                              int level, cpng_output *output) {
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, output, cpng_on_error, cpng_on_warning);
    png_infop info = png == NULL ? NULL : png_create_info_struct(png);
    if (info == NULL) {
        png_destroy_write_struct(&png, NULL);
        strncpy(output->message, "out of memory", sizeof output->message - 1);
        return 0;
    }
    /* Neither pointer changes between setjmp and a jump, so both are still good after it. */
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return 0;
    }
    png_set_write_fn(png, output, cpng_on_write, cpng_on_flush);
    png_set_compression_level(png, level);
    png_set_filter(png, PNG_FILTER_TYPE_BASE,
                   level == 0 ? PNG_FILTER_NONE : level < 4 ? PNG_FILTER_SUB : PNG_ALL_FILTERS);
    png_set_IHDR(png, info, width, height, 8, opaque ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGBA, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_write_info(png, info);
    if (opaque) png_set_filler(png, 0, PNG_FILLER_AFTER);
    for (unsigned int row = 0; row < height; row++) png_write_row(png, rgba + (size_t)row * width * 4);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    return 1;
}

#endif
