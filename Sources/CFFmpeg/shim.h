// What the Swift importer cannot see of FFmpeg's libraries (macros, fields whose home moved between versions), as
// small static inline functions. Differences between FFmpeg's versions, from 5.1 on, live here only.

#ifndef MEDIATOOL_CFFMPEG_SHIM_H
#define MEDIATOOL_CFFMPEG_SHIM_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/base64.h>
#include <libavutil/adler32.h>
#include <libavutil/audio_fifo.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/cpu.h>
#include <libavutil/display.h>
#include <libavutil/dovi_meta.h>
#include <libavutil/hash.h>
#include <libavutil/imgutils.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/md5.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

// Macros that the importer skips.

static const int shim_error_again = AVERROR(EAGAIN);
static const int shim_error_eof = AVERROR_EOF;
static const int shim_error_exit = AVERROR_EXIT;
static const int shim_error_invalid_data = AVERROR_INVALIDDATA;
static const int shim_error_invalid_argument = AVERROR(EINVAL);
static const int shim_error_no_memory = AVERROR(ENOMEM);
static const int shim_error_input_output = AVERROR(EIO);
static const int shim_error_not_permitted = AVERROR(EPERM);
static const int shim_error_no_space = AVERROR(ENOSPC);
static const int shim_error_no_system_call = AVERROR(ENOSYS);
static const int shim_error_decoder_not_found = AVERROR_DECODER_NOT_FOUND;
static const int shim_error_patch_welcome = AVERROR_PATCHWELCOME;
static const int64_t shim_no_pts = AV_NOPTS_VALUE;

// Side data of a stream: in AVStream until 6.0, in its AVCodecParameters from 6.1 on.
static inline const uint8_t *shim_stream_side_data(const AVStream *stream, enum AVPacketSideDataType type,
                                                   size_t *size) {
    *size = 0;
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
    const AVPacketSideData *found = av_packet_side_data_get(stream->codecpar->coded_side_data,
                                                            stream->codecpar->nb_coded_side_data, type);
    if (!found) return NULL;
    *size = found->size;
    return found->data;
#else
    return av_stream_get_side_data(stream, type, size);
#endif
}

// The other way round: room for side data of a stream that is written.
static inline uint8_t *shim_stream_new_side_data(AVStream *stream, enum AVPacketSideDataType type, size_t size) {
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
    AVPacketSideData *made = av_packet_side_data_new(&stream->codecpar->coded_side_data,
                                                     &stream->codecpar->nb_coded_side_data, type, size, 0);
    return made ? made->data : NULL;
#else
    return av_stream_new_side_data(stream, type, size);
#endif
}

// Takes the display matrix of a stream that was read out of its parameters, where it is from 6.1 on; before, it is not copied
// with them.
static inline void shim_forget_display_matrix(AVCodecParameters *parameters) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)
    av_packet_side_data_remove(parameters->coded_side_data, &parameters->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
#else
    (void)parameters;
#endif
}

// Appends a chapter to a file that is written, as libavformat has no public function for it; takes the metadata over.
static inline int shim_add_chapter(AVFormatContext *file, int64_t id, int timescale, int64_t start, int64_t end,
                                   AVDictionary *metadata) {
    AVChapter *chapter = av_mallocz(sizeof *chapter);
    AVChapter **list = av_realloc_array(file->chapters, file->nb_chapters + 1, sizeof *list);
    if (list) file->chapters = list;
    if (!chapter || !list) {
        av_free(chapter);
        av_dict_free(&metadata);
        return AVERROR(ENOMEM);
    }
    chapter->id = id;
    chapter->time_base = (AVRational){1, timescale};
    chapter->start = start;
    chapter->end = end;
    chapter->metadata = metadata;
    list[file->nb_chapters++] = chapter;
    return 0;
}

// Empties a decoder and has it forget how often time stamps were wrong; 0 where only libavcodec itself could, from 6.0 on.
static inline int shim_decoder_restart(AVCodecContext *context) {
#if LIBAVCODEC_VERSION_MAJOR < 60
    avcodec_flush_buffers(context);
    context->pts_correction_num_faulty_pts = 0;
    context->pts_correction_num_faulty_dts = 0;
    return 1;
#else
    return 0;
#endif
}

// Whether libavformat has a Matroska stream begin after its CodecDelay: from 8.1 on.
static inline int shim_starts_count_delay(void) { return LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(62, 12, 100); }

// A frame's duration in its time base, 0 where unknown: pkt_duration before 6.0.
static inline int64_t shim_frame_duration(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    return frame->duration;
#else
    return frame->pkt_duration;
#endif
}

// Whether a frame came from a sync sample: a field of its own before 6.1, a flag after.
static inline int shim_frame_is_key(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 29, 100)
    return (frame->flags & AV_FRAME_FLAG_KEY) != 0;
#else
    return frame->key_frame;
#endif
}

static inline void shim_frame_set_key(AVFrame *frame, int is_key) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 29, 100)
    frame->flags = is_key ? frame->flags | AV_FRAME_FLAG_KEY : frame->flags & ~AV_FRAME_FLAG_KEY;
#else
    frame->key_frame = is_key;
#endif
}

// Whether a picture consists of two fields, and whether the upper rows are the first one: fields before 6.1, flags after.
static inline int shim_frame_is_interlaced(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 29, 100)
    return (frame->flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
    return frame->interlaced_frame;
#endif
}

static inline void shim_frame_set_progressive(AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 29, 100)
    frame->flags &= ~(AV_FRAME_FLAG_INTERLACED | AV_FRAME_FLAG_TOP_FIELD_FIRST);
#else
    frame->interlaced_frame = frame->top_field_first = 0;
#endif
}

static inline int shim_frame_is_top_field_first(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 29, 100)
    return (frame->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0;
#else
    return frame->top_field_first;
#endif
}

static inline int shim_frame_is_corrupt(const AVFrame *frame) {
    return (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0 || frame->decode_error_flags != 0;
}

// The shape of a display matrix's side data is int32_t[9].
static inline int32_t shim_display_matrix_at(const uint8_t *matrix, int index) {
    return ((const int32_t *)matrix)[index];
}

// The callback of av_log_set_callback gets a va_list; one formatted line is all that Swift needs of it.
typedef void (*shim_log_sink)(int level, const char *line);

static shim_log_sink shim_current_log_sink = NULL;

// How often a codec context, or a copy of it for one of its threads, has logged an error: counted in the int that its
// `opaque` points to.
static inline void shim_count_complaint(void *context) {
    if (!context || *(const AVClass *const *)context != avcodec_get_class()) return;
    int *complaints = (int *)((AVCodecContext *)context)->opaque;
    if (complaints) __atomic_fetch_add(complaints, 1, __ATOMIC_RELAXED);
}

static inline int shim_complaints(const int *complaints) { return __atomic_load_n(complaints, __ATOMIC_RELAXED); }

static void shim_log_callback(void *context, int level, const char *format, va_list arguments) {
    if ((level & 0xff) > AV_LOG_ERROR || !shim_current_log_sink) return;
    shim_count_complaint(context);
    char line[512];
    int print_prefix = 0;
    av_log_format_line2(context, level, format, arguments, line, sizeof line, &print_prefix);
    shim_current_log_sink(level, line);
}

static inline void shim_set_log_sink(shim_log_sink sink) {
    shim_current_log_sink = sink;
    av_log_set_callback(shim_log_callback);
}

// What an encoder takes: NULL for anything. Lists in AVCodec until 7.0; from 7.1 on a function gives them, and the lists are
// deprecated, in 9.0 gone.
static inline const void *shim_codec_list(const AVCodec *codec, int config) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)
    const void *list = NULL;
    return avcodec_get_supported_config(NULL, codec, (enum AVCodecConfig)config, 0, &list, NULL) < 0 ? NULL : list;
#else
    return config == 0 ? (const void *)codec->pix_fmts
         : config == 2 ? (const void *)codec->supported_samplerates : (const void *)codec->sample_fmts;
#endif
}

static inline const enum AVPixelFormat *shim_codec_pixel_formats(const AVCodec *codec) {
    return (const enum AVPixelFormat *)shim_codec_list(codec, 0);
}

static inline const int *shim_codec_sample_rates(const AVCodec *codec) {
    return (const int *)shim_codec_list(codec, 2);
}

static inline const enum AVSampleFormat *shim_codec_sample_formats(const AVCodec *codec) {
    return (const enum AVSampleFormat *)shim_codec_list(codec, 3);
}

// libswscale's context: an opaque struct until 7.1, one with public fields after, and its flags are an enumeration since 8.0.
// Swift would see two types; behind another name it sees one.
typedef struct shim_scaler shim_scaler;

static const int shim_scaler_flags = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP;
static const int shim_area_scaler_flags = SWS_AREA | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP;

static inline shim_scaler *shim_scaler_alloc(void) { return (shim_scaler *)sws_alloc_context(); }

static inline shim_scaler *shim_scaler_get(int width, int height, enum AVPixelFormat source, enum AVPixelFormat target) {
    return (shim_scaler *)sws_getContext(width, height, source, width, height, target, shim_scaler_flags, NULL, NULL, NULL);
}

static inline void shim_scaler_free(shim_scaler *scaler) { sws_freeContext((struct SwsContext *)scaler); }

static inline int shim_scaler_init(shim_scaler *scaler) {
    return sws_init_context((struct SwsContext *)scaler, NULL, NULL);
}

static inline int shim_scaler_colors(shim_scaler *scaler, const int *source, int source_full, const int *target,
                                     int target_full, int brightness, int contrast, int saturation) {
    return sws_setColorspaceDetails((struct SwsContext *)scaler, source, source_full, target, target_full, brightness,
                                    contrast, saturation);
}

static inline int shim_scaler_scale(shim_scaler *scaler, const uint8_t *const source[], const int strides[], int row,
                                    int rows, uint8_t *const target[], const int target_strides[]) {
    return sws_scale((struct SwsContext *)scaler, source, strides, row, rows, target, target_strides);
}

// av_codec_get_id takes a list of tag lists that ends with NULL.
static inline enum AVCodecID shim_codec_of_tag(const struct AVCodecTag *tags, unsigned tag) {
    const struct AVCodecTag *const lists[] = {tags, NULL};
    return av_codec_get_id(lists, tag);
}

#endif
