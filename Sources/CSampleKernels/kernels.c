#include "CSampleKernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define WIDE __attribute__((target("avx2")))

bool sample_kernels_are_available(void) { return __builtin_cpu_supports("avx2"); }

// Samples whose squares may be added up before the sums of their upper halves could leave 32 bits.
static const size_t most_samples = (size_t)1 << 18;

// Sixteen samples at once, every sixteenth in a lane.
typedef struct {
    __m256i low;
    __m256i high;
    // The sums of pairs of squares without what is beyond 32 bits, and of their upper halves.
    __m256i sums;
    __m256i upper_sums;
} lanes_t;

WIDE static inline lanes_t no_lanes(void) {
    const __m256i zero = _mm256_setzero_si256();
    return (lanes_t){_mm256_set1_epi16(INT16_MAX), _mm256_set1_epi16(INT16_MIN), zero, zero};
}

WIDE static inline void add_lanes(lanes_t *lanes, __m256i samples) {
    lanes->low = _mm256_min_epi16(lanes->low, samples);
    lanes->high = _mm256_max_epi16(lanes->high, samples);
    // At most 2^31, to be read without a sign.
    const __m256i pairs = _mm256_madd_epi16(samples, samples);
    lanes->sums = _mm256_add_epi32(lanes->sums, pairs);
    lanes->upper_sums = _mm256_add_epi32(lanes->upper_sums, _mm256_srli_epi32(pairs, 16));
}

WIDE static void take_lanes(sample_kernels_levels_t *levels, const lanes_t *lanes) {
    int16_t lows[16], highs[16];
    uint32_t sums[8], upper_sums[8];
    _mm256_storeu_si256((__m256i *)lows, lanes->low);
    _mm256_storeu_si256((__m256i *)highs, lanes->high);
    _mm256_storeu_si256((__m256i *)sums, lanes->sums);
    _mm256_storeu_si256((__m256i *)upper_sums, lanes->upper_sums);
    for (size_t lane = 0; lane < 16; lane++) {
        if (lows[lane] < levels->low) levels->low = lows[lane];
        if (highs[lane] > levels->high) levels->high = highs[lane];
    }
    for (size_t lane = 0; lane < 8; lane++) {
        // The lower halves add up to less than 2^32, so the wrapped sums tell them.
        const uint64_t upper = (uint64_t)upper_sums[lane] << 16;
        levels->squares += upper + (uint32_t)(sums[lane] - (uint32_t)upper);
    }
}

static inline void take_sample(sample_kernels_levels_t *levels, int32_t sample) {
    if (sample < levels->low) levels->low = (int16_t)sample;
    if (sample > levels->high) levels->high = (int16_t)sample;
    levels->squares += (uint64_t)((int64_t)sample * sample);
}

WIDE static void add_levels(sample_kernels_levels_t *levels, const int16_t *plane, size_t count) {
    lanes_t lanes = no_lanes();
    size_t place = 0;
    for (; place + 16 <= count; place += 16) {
        add_lanes(&lanes, _mm256_loadu_si256((const __m256i *)(plane + place)));
    }
    take_lanes(levels, &lanes);
    for (; place < count; place++) take_sample(levels, plane[place]);
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

WIDE static __m256i mean_of(__m256i left, __m256i right) {
    const __m256i different = _mm256_xor_si256(left, right);
    // Rounded down without a wider type, then up by one where it is negative and half a step was lost.
    const __m256i floor = _mm256_add_epi16(_mm256_and_si256(left, right), _mm256_srai_epi16(different, 1));
    return _mm256_add_epi16(floor, _mm256_and_si256(different, _mm256_srli_epi16(floor, 15)));
}

WIDE void sample_kernels_mean(const int16_t *left, const int16_t *right, size_t count, int16_t *mean) {
    size_t place = 0;
    for (; place + 16 <= count; place += 16) {
        const __m256i first = _mm256_loadu_si256((const __m256i *)(left + place));
        const __m256i second = _mm256_loadu_si256((const __m256i *)(right + place));
        _mm256_storeu_si256((__m256i *)(mean + place), mean_of(first, second));
    }
    for (; place < count; place++) mean[place] = (int16_t)((left[place] + right[place]) / 2);
}

WIDE static void add_stereo(
    const int16_t *samples, size_t frames, int16_t *mean, sample_kernels_levels_t *left, sample_kernels_levels_t *right
) {
    lanes_t lefts = no_lanes(), rights = no_lanes();
    size_t frame = 0;
    for (; frame + 16 <= frames; frame += 16) {
        const __m256i first = _mm256_loadu_si256((const __m256i *)(samples + frame * 2));
        const __m256i second = _mm256_loadu_si256((const __m256i *)(samples + frame * 2 + 16));
        // The first eight frames in even places, the other eight in odd ones: levels know no order.
        const __m256i left_samples = _mm256_blend_epi16(first, _mm256_slli_epi32(second, 16), 0xAA);
        const __m256i right_samples = _mm256_blend_epi16(_mm256_srli_epi32(first, 16), second, 0xAA);
        add_lanes(&lefts, left_samples);
        add_lanes(&rights, right_samples);
        const __m256i means = mean_of(left_samples, right_samples);
        // Sign-extended to 32 bits, so that packing changes nothing; it works in halves, which are put in order.
        const __m256i packed = _mm256_packs_epi32(
            _mm256_srai_epi32(_mm256_slli_epi32(means, 16), 16), _mm256_srai_epi32(means, 16));
        _mm256_storeu_si256((__m256i *)(mean + frame), _mm256_permute4x64_epi64(packed, 0xD8));
    }
    take_lanes(left, &lefts);
    take_lanes(right, &rights);
    for (; frame < frames; frame++) {
        take_sample(left, samples[frame * 2]);
        take_sample(right, samples[frame * 2 + 1]);
        mean[frame] = (int16_t)((samples[frame * 2] + samples[frame * 2 + 1]) / 2);
    }
}

void sample_kernels_stereo(
    const int16_t *samples, size_t frames, int16_t *mean, sample_kernels_levels_t *left, sample_kernels_levels_t *right
) {
    *left = *right = (sample_kernels_levels_t){INT16_MAX, INT16_MIN, 0};
    while (frames > 0) {
        const size_t part = frames < most_samples ? frames : most_samples;
        add_stereo(samples, part, mean, left, right);
        samples += part * 2;
        mean += part;
        frames -= part;
    }
}

WIDE int16_t sample_kernels_round24(const uint8_t *bytes, size_t count, int16_t *samples) {
    // Of four samples the two upper bytes each, then the lowest byte of each.
    const __m256i places = _mm256_setr_epi8(
        1, 2, 4, 5, 7, 8, 10, 11, 0, -1, 3, -1, 6, -1, 9, -1, 1, 2, 4, 5, 7, 8, 10, 11, 0, -1, 3, -1, 6, -1, 9, -1);
    const __m256i one = _mm256_set1_epi16(1);
    const __m256i half = _mm256_set1_epi16(0x80);
    __m256i low = _mm256_setzero_si256(), high = _mm256_setzero_si256();
    size_t place = 0;
    // Four bytes behind the last twelve are read too.
    for (; place + 18 <= count; place += 16) {
        __m256i words[2];
        for (size_t part = 0; part < 2; part++) {
            const uint8_t *from = bytes + (place + part * 8) * 3;
            const __m128i first = _mm_loadu_si128((const __m128i *)from);
            const __m128i second = _mm_loadu_si128((const __m128i *)(from + 12));
            const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
            words[part] = _mm256_shuffle_epi8(both, places);
        }
        const __m256i floor = _mm256_unpacklo_epi64(words[0], words[1]);
        const __m256i rest = _mm256_unpackhi_epi64(words[0], words[1]);
        // Up by one, or not beyond the greatest, where more than a half was lost, or a half of an odd number.
        const __m256i odd = _mm256_and_si256(floor, one);
        const __m256i packed = _mm256_subs_epi16(floor, _mm256_cmpgt_epi16(_mm256_add_epi16(rest, odd), half));
        low = _mm256_min_epi16(low, packed);
        high = _mm256_max_epi16(high, packed);
        _mm256_storeu_si256((__m256i *)(samples + place), _mm256_permute4x64_epi64(packed, 0xD8));
    }
    int16_t lows[16], highs[16];
    _mm256_storeu_si256((__m256i *)lows, low);
    _mm256_storeu_si256((__m256i *)highs, high);
    int32_t magnitude = 0;
    for (size_t lane = 0; lane < 16; lane++) {
        if (highs[lane] > magnitude) magnitude = highs[lane];
        if (-lows[lane] > magnitude) magnitude = -lows[lane];
    }
    for (; place < count; place++) {
        const uint8_t *from = bytes + place * 3;
        const int32_t number = (int32_t)((uint32_t)from[0] << 8 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 24) >> 8;
        const int32_t rounded = (number + 0x7F + (number >> 8 & 1)) >> 8;
        samples[place] = (int16_t)(rounded > INT16_MAX ? INT16_MAX : rounded);
        if (samples[place] > magnitude) magnitude = samples[place];
        if (-samples[place] > magnitude) magnitude = -samples[place];
    }
    return (int16_t)(magnitude > INT16_MAX ? INT16_MAX : magnitude);
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

// The rounded numbers of sixteen, each four of them in the place of the next four but one: 0, 2, 1, 3.
WIDE static inline __m256i sixteen_rounded(const float *numbers) {
    return _mm256_packs_epi32(rounded_floats(_mm256_loadu_ps(numbers)), rounded_floats(_mm256_loadu_ps(numbers + 8)));
}

WIDE static void add_float_planes(
    const float *lefts, const float *rights, size_t frames, int16_t *mean, sample_kernels_levels_t *left,
    sample_kernels_levels_t *right
) {
    lanes_t left_lanes = no_lanes(), right_lanes = no_lanes();
    size_t frame = 0;
    for (; frame + 16 <= frames; frame += 16) {
        const __m256i left_samples = sixteen_rounded(lefts + frame);
        const __m256i right_samples = sixteen_rounded(rights + frame);
        add_lanes(&left_lanes, left_samples);
        add_lanes(&right_lanes, right_samples);
        const __m256i means = _mm256_permute4x64_epi64(mean_of(left_samples, right_samples), 0xD8);
        _mm256_storeu_si256((__m256i *)(mean + frame), means);
    }
    take_lanes(left, &left_lanes);
    take_lanes(right, &right_lanes);
    int16_t rounded[2];
    for (; frame < frames; frame++) {
        sample_kernels_round_float(lefts + frame, 1, rounded);
        sample_kernels_round_float(rights + frame, 1, rounded + 1);
        take_sample(left, rounded[0]);
        take_sample(right, rounded[1]);
        mean[frame] = (int16_t)((rounded[0] + rounded[1]) / 2);
    }
}

void sample_kernels_float_planes(
    const float *lefts, const float *rights, size_t frames, int16_t *mean, sample_kernels_levels_t *left,
    sample_kernels_levels_t *right
) {
    *left = *right = (sample_kernels_levels_t){INT16_MAX, INT16_MIN, 0};
    while (frames > 0) {
        const size_t part = frames < most_samples ? frames : most_samples;
        add_float_planes(lefts, rights, part, mean, left, right);
        lefts += part;
        rights += part;
        mean += part;
        frames -= part;
    }
}

#else

// Other processors have the kernels in Swift; these are never called.

bool sample_kernels_are_available(void) { return false; }

sample_kernels_levels_t sample_kernels_levels(const int16_t *plane, size_t count) {
    return (sample_kernels_levels_t){INT16_MAX, INT16_MIN, 0};
}

void sample_kernels_stereo(
    const int16_t *samples, size_t frames, int16_t *mean, sample_kernels_levels_t *left, sample_kernels_levels_t *right
) {}
void sample_kernels_float_planes(
    const float *lefts, const float *rights, size_t frames, int16_t *mean, sample_kernels_levels_t *left,
    sample_kernels_levels_t *right
) {}
void sample_kernels_mean(const int16_t *left, const int16_t *right, size_t count, int16_t *mean) {}
int16_t sample_kernels_round24(const uint8_t *bytes, size_t count, int16_t *samples) { return 0; }
void sample_kernels_round_float(const float *numbers, size_t count, int16_t *samples) {}

#endif
