#include "CSampleKernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define WIDE __attribute__((target("avx2")))

bool sample_kernels_are_available(void) { return __builtin_cpu_supports("avx2"); }

// Samples whose squares may be added up before the sums of their upper halves could leave 32 bits.
static const size_t most_samples = (size_t)1 << 18;

WIDE static void add_levels(sample_kernels_levels_t *levels, const int16_t *plane, size_t count) {
    __m256i low = _mm256_set1_epi16(INT16_MAX);
    __m256i high = _mm256_set1_epi16(INT16_MIN);
    // The sums of pairs of squares without what is beyond 32 bits, and of their upper halves.
    __m256i sums = _mm256_setzero_si256();
    __m256i upper_sums = _mm256_setzero_si256();
    size_t place = 0;
    for (; place + 16 <= count; place += 16) {
        const __m256i samples = _mm256_loadu_si256((const __m256i *)(plane + place));
        low = _mm256_min_epi16(low, samples);
        high = _mm256_max_epi16(high, samples);
        // At most 2^31, to be read without a sign.
        const __m256i pairs = _mm256_madd_epi16(samples, samples);
        sums = _mm256_add_epi32(sums, pairs);
        upper_sums = _mm256_add_epi32(upper_sums, _mm256_srli_epi32(pairs, 16));
    }
    int16_t lows[16], highs[16];
    uint32_t lanes[8], upper_lanes[8];
    _mm256_storeu_si256((__m256i *)lows, low);
    _mm256_storeu_si256((__m256i *)highs, high);
    _mm256_storeu_si256((__m256i *)lanes, sums);
    _mm256_storeu_si256((__m256i *)upper_lanes, upper_sums);
    for (size_t lane = 0; lane < 16; lane++) {
        if (lows[lane] < levels->low) levels->low = lows[lane];
        if (highs[lane] > levels->high) levels->high = highs[lane];
    }
    for (size_t lane = 0; lane < 8; lane++) {
        // The lower halves add up to less than 2^32, so the wrapped sums tell them.
        const uint64_t upper = (uint64_t)upper_lanes[lane] << 16;
        levels->squares += upper + (uint32_t)(lanes[lane] - (uint32_t)upper);
    }
    for (; place < count; place++) {
        const int32_t sample = plane[place];
        if (sample < levels->low) levels->low = (int16_t)sample;
        if (sample > levels->high) levels->high = (int16_t)sample;
        levels->squares += (uint64_t)((int64_t)sample * sample);
    }
}

sample_kernels_levels_t sample_kernels_levels(const int16_t *plane, size_t count) {
    sample_kernels_levels_t levels = {INT16_MAX, INT16_MIN, 0};
    while (count > 0) {
        const size_t part = count < most_samples ? count : most_samples;
        add_levels(&levels, plane, part);
        plane += part;
        count -= part;
    }
    return levels;
}

WIDE void sample_kernels_split(const int16_t *samples, size_t frames, int16_t *left, int16_t *right) {
    size_t frame = 0;
    for (; frame + 16 <= frames; frame += 16) {
        const __m256i first = _mm256_loadu_si256((const __m256i *)(samples + frame * 2));
        const __m256i second = _mm256_loadu_si256((const __m256i *)(samples + frame * 2 + 16));
        // Sign-extended to 32 bits, so that packing changes nothing; it works in halves, which are put in order.
        const __m256i lefts = _mm256_packs_epi32(
            _mm256_srai_epi32(_mm256_slli_epi32(first, 16), 16), _mm256_srai_epi32(_mm256_slli_epi32(second, 16), 16));
        const __m256i rights = _mm256_packs_epi32(_mm256_srai_epi32(first, 16), _mm256_srai_epi32(second, 16));
        _mm256_storeu_si256((__m256i *)(left + frame), _mm256_permute4x64_epi64(lefts, 0xD8));
        _mm256_storeu_si256((__m256i *)(right + frame), _mm256_permute4x64_epi64(rights, 0xD8));
    }
    for (; frame < frames; frame++) {
        left[frame] = samples[frame * 2];
        right[frame] = samples[frame * 2 + 1];
    }
}

WIDE void sample_kernels_mean(const int16_t *left, const int16_t *right, size_t count, int16_t *mean) {
    size_t place = 0;
    for (; place + 16 <= count; place += 16) {
        const __m256i first = _mm256_loadu_si256((const __m256i *)(left + place));
        const __m256i second = _mm256_loadu_si256((const __m256i *)(right + place));
        const __m256i different = _mm256_xor_si256(first, second);
        // Rounded down without a wider type, then up by one where it is negative and half a step was lost.
        const __m256i floor = _mm256_add_epi16(_mm256_and_si256(first, second), _mm256_srai_epi16(different, 1));
        const __m256i lost = _mm256_and_si256(different, _mm256_srli_epi16(floor, 15));
        _mm256_storeu_si256((__m256i *)(mean + place), _mm256_add_epi16(floor, lost));
    }
    for (; place < count; place++) mean[place] = (int16_t)((left[place] + right[place]) / 2);
}

WIDE void sample_kernels_round24(const uint8_t *bytes, size_t count, int16_t *samples) {
    // Each three bytes to the upper ones of four.
    const __m256i places = _mm256_setr_epi8(
        -1, 0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1, 0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11);
    const __m256i one = _mm256_set1_epi32(1);
    const __m256i half = _mm256_set1_epi32(0x7F);
    size_t place = 0;
    // Four bytes behind the last twelve are read too.
    for (; place + 18 <= count; place += 16) {
        __m256i words[2];
        for (size_t part = 0; part < 2; part++) {
            const uint8_t *from = bytes + (place + part * 8) * 3;
            const __m128i low = _mm_loadu_si128((const __m128i *)from);
            const __m128i high = _mm_loadu_si128((const __m128i *)(from + 12));
            const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
            const __m256i numbers = _mm256_srai_epi32(_mm256_shuffle_epi8(both, places), 8);
            const __m256i odd = _mm256_and_si256(_mm256_srai_epi32(numbers, 8), one);
            words[part] = _mm256_srai_epi32(_mm256_add_epi32(_mm256_add_epi32(numbers, half), odd), 8);
        }
        const __m256i packed = _mm256_packs_epi32(words[0], words[1]);
        _mm256_storeu_si256((__m256i *)(samples + place), _mm256_permute4x64_epi64(packed, 0xD8));
    }
    for (; place < count; place++) {
        const uint8_t *from = bytes + place * 3;
        const int32_t number = (int32_t)((uint32_t)from[0] << 8 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 24) >> 8;
        const int32_t rounded = (number + 0x7F + (number >> 8 & 1)) >> 8;
        samples[place] = (int16_t)(rounded > INT16_MAX ? INT16_MAX : rounded);
    }
}

WIDE static __m256i rounded_floats(__m256 numbers) {
    const __m256 scaled = _mm256_mul_ps(numbers, _mm256_set1_ps(32768));
    // The first operand goes where either is not a number.
    const __m256 clear = _mm256_and_ps(scaled, _mm256_cmp_ps(scaled, scaled, _CMP_ORD_Q));
    const __m256 limited = _mm256_max_ps(_mm256_min_ps(clear, _mm256_set1_ps(32767)), _mm256_set1_ps(-32768));
    // Half to even, as a thread's rounding is unless it was changed.
    return _mm256_cvtps_epi32(_mm256_round_ps(limited, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

WIDE void sample_kernels_round_float(const float *numbers, size_t count, int16_t *samples) {
    size_t place = 0;
    for (; place + 16 <= count; place += 16) {
        const __m256i packed = _mm256_packs_epi32(
            rounded_floats(_mm256_loadu_ps(numbers + place)), rounded_floats(_mm256_loadu_ps(numbers + place + 8)));
        _mm256_storeu_si256((__m256i *)(samples + place), _mm256_permute4x64_epi64(packed, 0xD8));
    }
    if (place == count) return;
    float rest[16] = {0};
    int16_t rounded[16];
    for (size_t lane = 0; place + lane < count; lane++) rest[lane] = numbers[place + lane];
    sample_kernels_round_float(rest, 16, rounded);
    for (size_t lane = 0; place + lane < count; lane++) samples[place + lane] = rounded[lane];
}

#else

// Other processors have the kernels in Swift; these are never called.

bool sample_kernels_are_available(void) { return false; }

sample_kernels_levels_t sample_kernels_levels(const int16_t *plane, size_t count) {
    return (sample_kernels_levels_t){INT16_MAX, INT16_MIN, 0};
}

void sample_kernels_split(const int16_t *samples, size_t frames, int16_t *left, int16_t *right) {}
void sample_kernels_mean(const int16_t *left, const int16_t *right, size_t count, int16_t *mean) {}
void sample_kernels_round24(const uint8_t *bytes, size_t count, int16_t *samples) {}
void sample_kernels_round_float(const float *numbers, size_t count, int16_t *samples) {}

#endif
