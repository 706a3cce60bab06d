// Nothing here links the library: its functions are looked up by name once it is loaded.

#include "CRubberBand.h"
#include "declarations.h"

#include <dlfcn.h>
#include <stddef.h>

// get_engine_version, which came with version 3 and its engine, is looked up for that alone.
#define FUNCTIONS(use) \
    use(new) use(delete) use(get_engine_version) use(get_preferred_start_pad) use(get_start_delay) \
    use(get_samples_required) use(set_max_process_size) use(process) use(available) use(retrieve)

#define MEMBER(name) __typeof__(&rubberband_##name) name;
static struct { FUNCTIONS(MEMBER) } functions;

int crb_load(void) {
    // Version 4 has another name; what is used of it is declared alike.
    void *library = dlopen("librubberband.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen("librubberband.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 1;
    int is_complete = 1;
#define LOOK_UP(name) \
    functions.name = (__typeof__(&rubberband_##name))dlsym(library, "rubberband_" #name); \
    is_complete = is_complete && functions.name;
    FUNCTIONS(LOOK_UP)
    if (is_complete) return 0;
    dlclose(library);
    return 2;
}

struct RubberBandState_ *crb_new(unsigned int sample_rate, unsigned int channels, double stretch, unsigned int most) {
    const RubberBandOptions options =
        CRB_PROCESS_REAL_TIME | CRB_THREADING_NEVER | CRB_CHANNELS_TOGETHER | CRB_ENGINE_FINER;
    RubberBandState stretcher = functions.new(sample_rate, channels, options, stretch, 1);
    if (!stretcher) return NULL;
    functions.set_max_process_size(stretcher, most);
    return stretcher;
}

void crb_delete(struct RubberBandState_ *stretcher) { functions.delete(stretcher); }

unsigned int crb_start_pad(struct RubberBandState_ *stretcher) { return functions.get_preferred_start_pad(stretcher); }

unsigned int crb_start_delay(struct RubberBandState_ *stretcher) { return functions.get_start_delay(stretcher); }

unsigned int crb_samples_required(struct RubberBandState_ *stretcher) {
    return functions.get_samples_required(stretcher);
}

void crb_process(struct RubberBandState_ *stretcher, const float *const *samples, unsigned int count) {
    functions.process(stretcher, samples, count, 0);
}

int crb_available(struct RubberBandState_ *stretcher) { return functions.available(stretcher); }

unsigned int crb_retrieve(struct RubberBandState_ *stretcher, float *const *samples, unsigned int count) {
    return functions.retrieve(stretcher, samples, count);
}
