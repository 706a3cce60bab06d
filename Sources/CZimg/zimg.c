// Nothing here links the library: its functions are looked up by name once it is loaded.

#include "CZimg.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <zimg.h>

#define FUNCTIONS(use) \
    use(get_api_version) use(image_format_default) use(graph_builder_params_default) use(filter_graph_build) \
    use(filter_graph_free) use(filter_graph_get_tmp_size) use(filter_graph_process)

#define MEMBER(name) __typeof__(&zimg_##name) name;
static struct { FUNCTIONS(MEMBER) } functions;

// The version of the structures that are used.
static const unsigned api_version = ZIMG_MAKE_API_VERSION(2, 0);

struct czimg_scaler {
    zimg_filter_graph *graph;
    // What a call needs while it works; null if nothing.
    void *temporary;
};

bool czimg_load(void) {
    void *library = dlopen("libzimg.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    bool is_complete = true;
#define LOOK_UP(name) \
    functions.name = (__typeof__(&zimg_##name))dlsym(library, "zimg_" #name); \
    is_complete = is_complete && functions.name;
    FUNCTIONS(LOOK_UP)
    if (is_complete && functions.get_api_version(NULL, NULL) >= api_version) return true;
    dlclose(library);
    return false;
}

static zimg_image_format format_of(const czimg_picture *picture) {
    zimg_image_format format;
    functions.image_format_default(&format, api_version);
    format.width = picture->width;
    format.height = picture->height;
    format.pixel_type = picture->bits > 8 ? ZIMG_PIXEL_WORD : ZIMG_PIXEL_BYTE;
    format.depth = picture->bits;
    format.subsample_w = picture->subsample_w;
    format.subsample_h = picture->subsample_h;
    format.color_family = ZIMG_COLOR_YUV;
    format.pixel_range = picture->is_full_range ? ZIMG_RANGE_FULL : ZIMG_RANGE_LIMITED;
    format.chroma_location = (zimg_chroma_location_e)picture->chroma_location;
    return format;
}

czimg_scaler *czimg_new(const czimg_picture *from, const czimg_picture *to, double b, double c) {
    const zimg_image_format source = format_of(from), target = format_of(to);
    zimg_graph_builder_params params;
    functions.graph_builder_params_default(&params, api_version);
    params.resample_filter = params.resample_filter_uv = ZIMG_RESIZE_BICUBIC;
    params.filter_param_a = params.filter_param_a_uv = b;
    params.filter_param_b = params.filter_param_b_uv = c;
    params.dither_type = to->bits < from->bits ? ZIMG_DITHER_ORDERED : ZIMG_DITHER_NONE;
    params.cpu_type = ZIMG_CPU_AUTO;
    czimg_scaler *scaler = calloc(1, sizeof *scaler);
    if (!scaler) return NULL;
    size_t size = 0;
    scaler->graph = functions.filter_graph_build(&source, &target, &params);
    if (scaler->graph && functions.filter_graph_get_tmp_size(scaler->graph, &size) == ZIMG_ERROR_SUCCESS &&
        (size == 0 || posix_memalign(&scaler->temporary, 64, size) == 0)) {
        return scaler;
    }
    czimg_free(scaler);
    return NULL;
}

void czimg_free(czimg_scaler *scaler) {
    if (!scaler) return;
    functions.filter_graph_free(scaler->graph);
    free(scaler->temporary);
    free(scaler);
}

bool czimg_scale(
    const czimg_scaler *scaler, const uint8_t *const *source, const int *source_strides, uint8_t *const *target,
    const int *target_strides
) {
    zimg_image_buffer_const from = {.version = api_version};
    zimg_image_buffer to = {.version = api_version};
    for (int plane = 0; plane < 3; plane++) {
        from.plane[plane].data = source[plane];
        from.plane[plane].stride = source_strides[plane];
        from.plane[plane].mask = ZIMG_BUFFER_MAX;
        to.plane[plane].data = target[plane];
        to.plane[plane].stride = target_strides[plane];
        to.plane[plane].mask = ZIMG_BUFFER_MAX;
    }
    return functions.filter_graph_process(scaler->graph, &from, &to, scaler->temporary, NULL, NULL, NULL, NULL) ==
           ZIMG_ERROR_SUCCESS;
}
