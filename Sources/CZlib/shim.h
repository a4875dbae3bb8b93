#pragma once
#include <zlib.h>

/* A macro that Swift does not import: raw deflate, without zlib's own header. */
static inline int sillok_zlib_inflate_raw(z_stream *stream) { return inflateInit2(stream, -15); }
