// What is used of Rubber Band, for the module TimeStretching, from a library that is loaded when it is first needed.

#ifndef CRUBBERBAND_H
#define CRUBBERBAND_H

/// A stretcher: RubberBandState points to one.
struct RubberBandState_;

/// Loads the library: dlopen(3). Returns 0 if it can be used, 1 if there is none, 2 if it is older than version 3.
/// All other functions need it to have returned 0; one thread at a time may call it.
int crb_load(void);

/// Makes a stretcher of the engine R3 that works on one thread and keeps all channels in phase: rubberband_new.
/// `stretch` is the duration of a second; `most` the number of samples that one call of crb_process may bring.
struct RubberBandState_ *crb_new(unsigned int sample_rate, unsigned int channels, double stretch, unsigned int most);

/// rubberband_delete.
void crb_delete(struct RubberBandState_ *stretcher);

/// The number of samples that come before the first one: rubberband_get_preferred_start_pad.
unsigned int crb_start_pad(struct RubberBandState_ *stretcher);

/// The number of samples to drop before that of the first one: rubberband_get_start_delay.
unsigned int crb_start_delay(struct RubberBandState_ *stretcher);

/// The number of samples without which there is no more output: rubberband_get_samples_required.
unsigned int crb_samples_required(struct RubberBandState_ *stretcher);

/// Takes samples, one array for each channel: rubberband_process.
void crb_process(struct RubberBandState_ *stretcher, const float *const *samples, unsigned int count);

/// The number of samples that are ready: rubberband_available.
int crb_available(struct RubberBandState_ *stretcher);

/// Gives samples that are ready, and returns their number: rubberband_retrieve.
unsigned int crb_retrieve(struct RubberBandState_ *stretcher, float *const *samples, unsigned int count);

#endif
