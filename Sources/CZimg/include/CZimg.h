// What is used of zimg, for the module LibAV, from a library that is loaded when it is first needed.

#ifndef CZIMG_H
#define CZIMG_H

#include <stdbool.h>
#include <stdint.h>

/// A picture of a luma plane and two chroma planes.
typedef struct {
    /// The size of luma in pixels.
    unsigned width, height;
    /// The bits of a sample: 8 in one byte, 9 to 16 in two.
    unsigned bits;
    /// The binary logarithms of how many columns and rows share a chroma sample.
    unsigned subsample_w, subsample_h;
    /// False if black is 16 and white 235, in 8 bits.
    bool is_full_range;
    /// The position of chroma samples: zimg_chroma_location_e.
    int chroma_location;
} czimg_picture;

/// Scales pictures; one thread at a time may use it.
typedef struct czimg_scaler czimg_scaler;

/// Loads the library: dlopen(3). Returns false if there is none, or only one that is too old. All other functions need
/// it to have returned true; one thread at a time may call it.
bool czimg_load(void);

/// Makes a scaler by bicubic convolution with the parameters B and C, or returns null if zimg cannot scale such
/// pictures: zimg_filter_graph_build. Where bits are lost, the rounding is dithered by a fixed pattern.
czimg_scaler *czimg_new(const czimg_picture *from, const czimg_picture *to, double b, double c);

/// zimg_filter_graph_free; null is allowed.
void czimg_free(czimg_scaler *scaler);

/// What the addresses and strides of all planes must be multiples of, in bytes: 32 on x86-64, and no more elsewhere.
static const int32_t czimg_alignment = 32;

/// Scales a picture into another, each given by three planes and their strides in bytes: zimg_filter_graph_process.
bool czimg_scale(
    const czimg_scaler *scaler, const uint8_t *const *source, const int *source_strides, uint8_t *const *target,
    const int *target_strides);

#endif
