/* Preloaded into a process whose costs are counted. What it counts does not jitter: calls of the allocator, calls of
   fsync and fdatasync, and bytes written by file name. It also takes the process out of time: the wall clock advances by
   one millisecond whenever it is read and the monotonic clock stands still, so that nothing is done "because 20 ms have
   passed". At the end the counts go to the file named by SILLOK_COUNTS, one `name TAB count` on each line. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define COUNT(counter, by) __atomic_fetch_add(&(counter), (by), __ATOMIC_RELAXED)

static long allocations, syncs, wall_reads;

/* Allocation: calls, not bytes. glibc's own names spare us a lookup that would itself allocate. */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
    COUNT(allocations, 1);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    COUNT(allocations, 1);
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    COUNT(allocations, 1);
    return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
    COUNT(allocations, 1);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **out, size_t alignment, size_t size) {
    void *memory = memalign(alignment, size);
    if (!memory) return ENOMEM;
    *out = memory;
    return 0;
}

/* Writing: a few files matter, each known by its last path component. */

static struct {
    char name[64];
    long bytes;
} files[64];
static int file_lock;

/* The last component of the path of an open file; NULL if it has none. */
static const char *name_of(int fd, char path[4096]) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, 4095);
    if (length <= 0) return NULL;
    path[length] = 0;
    return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

/* Whether this is the room that is made in a WAL, once for each opening, whenever there is time for it: SQLite opens its
   WAL for reading, too. Or that in the map of a WAL, a byte a page, which becomes long where it is copied back a moment later. */
static int is_room(int fd, const char *name) {
    const char *end = strrchr(name, '-');
    if (!end) return 0;
    return !strcmp(end, "-shm") || (!strcmp(end, "-wal") && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY);
}

static void wrote(int fd, long bytes) {
    char path[4096];
    const char *name = bytes > 0 ? name_of(fd, path) : NULL;
    if (!name || is_room(fd, name)) return;
    while (__atomic_exchange_n(&file_lock, 1, __ATOMIC_ACQUIRE)) {}
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!files[i].name[0]) snprintf(files[i].name, sizeof files[i].name, "%.63s", name);
        if (strncmp(files[i].name, name, 63)) continue;
        files[i].bytes += bytes;
        break;
    }
    __atomic_store_n(&file_lock, 0, __ATOMIC_RELEASE);
}

ssize_t write(int fd, const void *bytes, size_t count) {
    long done = syscall(SYS_write, fd, bytes, count);
    int saved = errno;
    wrote(fd, done);
    errno = saved;
    return done;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    long done = syscall(SYS_pwrite64, fd, bytes, count, offset);
    int saved = errno;
    wrote(fd, done);
    errno = saved;
    return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) { return pwrite64(fd, bytes, count, offset); }

ssize_t writev(int fd, const struct iovec *parts, int count) {
    long done = syscall(SYS_writev, fd, parts, count);
    int saved = errno;
    wrote(fd, done);
    errno = saved;
    return done;
}

/* Counted, not done: the counts are to be the same on every disk. */

int fsync(int fd) {
    char path[4096];
    const char *name = name_of(fd, path);
    if (!name || !is_room(fd, name)) COUNT(syncs, 1);
    return 0;
}

int fdatasync(int fd) {
    return fsync(fd);
}

/* Time. The monotonic clock stands a day ahead: waits of a few hundred milliseconds until something idle is tidied up do
   not end by themselves. */

int clock_gettime(clockid_t clock, struct timespec *time) {
    static struct timespec start;
    if (clock == CLOCK_REALTIME) {
        long milliseconds = COUNT(wall_reads, 1);
        *time = (struct timespec){1767225600 + milliseconds / 1000, milliseconds % 1000 * 1000000}; /* 2026-01-01 */
        return 0;
    }
    if (clock != CLOCK_MONOTONIC) return syscall(SYS_clock_gettime, clock, time);
    if (!__atomic_load_n(&start.tv_sec, __ATOMIC_ACQUIRE)) {
        struct timespec now;
        syscall(SYS_clock_gettime, clock, &now);
        __atomic_store_n(&start.tv_sec, now.tv_sec + 86400, __ATOMIC_RELEASE);
    }
    *time = start;
    return 0;
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("SILLOK_COUNTS");
    if (!path) return;
    long calls = allocations, synced = syncs;
    FILE *out = fopen(path, "w");
    if (!out) return;
    fprintf(out, "allocations\t%ld\nfsyncs\t%ld\n", calls, synced);
    for (size_t i = 0; i < sizeof files / sizeof *files && files[i].name[0]; i++)
        fprintf(out, "bytes %s\t%ld\n", files[i].name, files[i].bytes);
    fclose(out);
}
