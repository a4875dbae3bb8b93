/* beside FILE BYTES: what the disk and the machine give anyone at this moment. One thread writes BYTES and syncs them every 10 ms, into a
   file of full length, as SQLite writes a WAL; another only sleeps 10 ms. A line for each: `sync` or `wake`, the monotonic second of its
   end, and the milliseconds that it took (of a sleep: that it came late). Ends when standard input does. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *path;
static size_t bytes;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void tell(const char *what, double start, double over) {
    char line[80];
    double end = now();
    int count = snprintf(line, sizeof line, "%s %.6f %.3f\n", what, end, (end - start - over) * 1e3);
    if (write(1, line, (size_t)count) != count) _exit(1);
}

static void rest(void) { nanosleep(&(struct timespec){0, 10 * 1000 * 1000}, NULL); }

_Noreturn static void *sleeper(void *unused) {
    (void)unused;
    for (;;) {
        double start = now();
        rest();
        tell("wake", start, 0.01);
    }
}

_Noreturn static void *writer(void *unused) {
    (void)unused;
    char *block = malloc(bytes);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (!block || file < 0) _exit(1);
    memset(block, 7, bytes);
    const long blocks = 400;
    for (long i = 0; i < blocks; i++)
        if (pwrite(file, block, bytes, i * (long)bytes) < 0) _exit(1);
    if (fsync(file) != 0) _exit(1);
    for (long i = 0;; i++) {
        double start = now();
        if (pwrite(file, block, bytes, i % blocks * (long)bytes) < 0 || fdatasync(file) != 0) _exit(1);
        tell("sync", start, 0);
        rest();
    }
}

int main(int count, char **words) {
    if (count != 3) return 2;
    path = words[1];
    bytes = strtoul(words[2], NULL, 10);
    pthread_t thread;
    if (pthread_create(&thread, NULL, sleeper, NULL) || pthread_create(&thread, NULL, writer, NULL)) return 1;
    char byte;
    while (read(0, &byte, 1) > 0) continue;
    unlink(path);
    return 0;
}
