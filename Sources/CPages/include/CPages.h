#pragma once
/* The pages that a browser loads from the daemon, as they were when it was built. */
#include <stddef.h>

/* A file: where it is served, its bytes and its media type. */
struct sillok_page {
    const char *path;
    const unsigned char *bytes;
    size_t count;
    const char *type;
};

/* All of them; their number in `count`. */
const struct sillok_page *sillok_pages(size_t *count);
