// The declarations of rubberband-c.h that are used, in place of the header, which few machines have.
// TimeStretchingTests has a compiler compare them with it where it is installed.

#ifndef CRUBBERBAND_DECLARATIONS_H
#define CRUBBERBAND_DECLARATIONS_H

#define CRB_PROCESS_REAL_TIME 0x00000001
#define CRB_THREADING_NEVER 0x00010000
#define CRB_CHANNELS_TOGETHER 0x10000000
#define CRB_ENGINE_FINER 0x20000000

#ifndef RUBBERBAND_C_API_H
typedef int RubberBandOptions;
struct RubberBandState_;
typedef struct RubberBandState_ *RubberBandState;
#endif

extern RubberBandState rubberband_new(
    unsigned int sampleRate, unsigned int channels, RubberBandOptions options, double initialTimeRatio,
    double initialPitchScale);
extern void rubberband_delete(RubberBandState);
extern int rubberband_get_engine_version(RubberBandState);
extern unsigned int rubberband_get_preferred_start_pad(const RubberBandState);
extern unsigned int rubberband_get_start_delay(const RubberBandState);
extern unsigned int rubberband_get_samples_required(const RubberBandState);
extern void rubberband_set_max_process_size(RubberBandState, unsigned int samples);
extern void rubberband_process(RubberBandState, const float *const *input, unsigned int samples, int final);
extern int rubberband_available(const RubberBandState);
extern unsigned int rubberband_retrieve(const RubberBandState, float *const *output, unsigned int samples);

#endif
