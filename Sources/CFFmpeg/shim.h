// What the Swift importer cannot see of FFmpeg's libraries (macros, variadic functions, fields whose home moved
// between versions), as small static inline functions. Differences between FFmpeg 5.1 and 8 live here only.

#ifndef MEDIATOOL_CFFMPEG_SHIM_H
#define MEDIATOOL_CFFMPEG_SHIM_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

#endif
