// The loops over samples that gain by vectors wider than the least processor has.
//
// Swift compiles a package for one processor and has no way to compile a function for a better one beside it; C has.
// Each kernel here has a twin in Swift that gives the same values, for every other processor: call these only where
// sample_kernels_are_available() says so. No kernel reads or writes outside what it is given, and none needs alignment.

#ifndef C_SAMPLE_KERNELS_H
#define C_SAMPLE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether this processor has what the kernels need (x86-64 with AVX2).
bool sample_kernels_are_available(void);

/// The extrema of some samples, 32767 and −32768 where there is none, and the exact sum of their squares.
typedef struct {
    int16_t low;
    int16_t high;
    uint64_t squares;
} sample_kernels_levels_t;

/// The levels of `count` samples of one channel.
sample_kernels_levels_t sample_kernels_levels(const int16_t *plane, size_t count);

/// Writes the mean of the two channels of `frames` interleaved frames, truncated toward zero, and gives both levels.
void sample_kernels_stereo(
    const int16_t *samples, size_t frames, int16_t *mean, sample_kernels_levels_t *left,
    sample_kernels_levels_t *right);

/// The same of two planes of floating-point numbers, which are rounded as sample_kernels_round_float() does.
void sample_kernels_float_planes(
    const float *lefts, const float *rights, size_t frames, int16_t *mean, sample_kernels_levels_t *left,
    sample_kernels_levels_t *right);

/// Writes the mean of two channels, truncated toward zero.
void sample_kernels_mean(const int16_t *left, const int16_t *right, size_t count, int16_t *mean);

/// Rounds samples of three bytes, the lowest first, to 16 bits, half to even; what would be 32768 becomes 32767.
///
/// Gives the greatest magnitude of what was written, at most 32767.
int16_t sample_kernels_round24(const uint8_t *bytes, size_t count, int16_t *samples);

/// x · 32768 rounded half to even, clamped; NaN becomes 0.
void sample_kernels_round_float(const float *numbers, size_t count, int16_t *samples);

#endif
