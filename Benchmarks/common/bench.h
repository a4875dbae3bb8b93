/* What every driver and floor in C shares: the records, the clocks, how results are printed, and what a server's
 * processes used. A result is a line `metric TAB value` on standard output; Benchmarks/compare reads them. */
#ifndef BENCH_H
#define BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The layout of a record: `id TAB kind TAB user TAB conversation TAB payload LF`, every line of the same length, written
 * by `sillok-bench records` (Records.swift). */
enum { ID = 36, NAME = 7, PAYLOAD = 296, TARGET_AT = 12 };
enum { KIND_AT = ID + 1, USER_AT = KIND_AT + 2, CONVERSATION_AT = USER_AT + NAME + 1 };
enum { PAYLOAD_AT = CONVERSATION_AT + NAME + 1, RECORD = PAYLOAD_AT + PAYLOAD + 1 };
enum { USERS = 10000, ACTIVE_USERS = 2000, CONVERSATIONS = 50000, PAGE = 50 };

static inline __attribute__((noreturn, format(printf, 1, 2))) void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static inline uint64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), as in Records.swift. */
static inline uint64_t next_random(uint64_t *state) {
    uint64_t mixed = *state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

/* ---- records ---- */

/* Records `from` to `from + count` of the file, mapped and read once, so that the disk takes no part in the clock. */
static inline const char *map_records(const char *path, long from, long count) {
    int file = open(path, O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) fail("%s: %s", path, strerror(errno));
    if ((from + count) * RECORD > status.st_size) fail("%s has too few records", path);
    const char *all = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0);
    if (all == MAP_FAILED) fail("%s: %s", path, strerror(errno));
    close(file);
    const char *first = all + from * RECORD;
    if (count > 0 && first[RECORD - 1] != '\n') fail("%s is not made of records", path);
    volatile char sum = 0;
    for (long at = 0; at < count * RECORD; at += 4096) sum = (char)(sum + first[at]);
    return first;
}

static inline int record_kind(const char *record) { return record[KIND_AT]; }
static inline const char *record_payload(const char *record) { return record + PAYLOAD_AT; }
static inline const char *record_user(const char *record) { return record + USER_AT; }
static inline const char *record_conversation(const char *record) { return record + CONVERSATION_AT; }
/* `u-00042` is 42. */
static inline int name_number(const char *name) {
    int number = 0;
    for (int i = 2; i < NAME; i++) number = number * 10 + (name[i] - '0');
    return number;
}
static inline const char *record_type(const char *record) {
    switch (record_kind(record)) {
    case 'P': return "message.posted";
    case 'E': return "message.edited";
    case 'R': return "message.retracted";
    default: return "message.read";
    }
}
/* The id of the message that is edited or retracted: `{"message":"<id>`. */
static inline const char *record_target(const char *record) {
    int kind = record_kind(record);
    return kind == 'E' || kind == 'R' ? record_payload(record) + TARGET_AT : NULL;
}

/* The sixteen bytes of a UUID's text. */
static inline void uuid_bytes(const char *text, unsigned char *bytes) {
    for (int at = 0, count = 0; count < 16; at++) {
        if (text[at] == '-') continue;
        int high = text[at], low = text[++at];
        bytes[count++] = (unsigned char)(((high & 15) + (high >> 6) * 9) << 4 | ((low & 15) + (low >> 6) * 9));
    }
}

/* ---- results ---- */

static inline void report(const char *metric, double value) {
    printf("%s\t%.9g\n", metric, value);
    fflush(stdout);
}

static inline int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Median, 99th percentile and maximum of latencies in nanoseconds, as `<prefix>p50_us` and so on. */
static inline void report_latencies(const char *prefix, uint64_t *latencies, long count) {
    char name[64];
    if (count == 0) return;
    qsort(latencies, (size_t)count, sizeof *latencies, ascending);
    for (int percent = 50; percent <= 99; percent += 49) {
        snprintf(name, sizeof name, "%sp%d_us", prefix, percent);
        report(name, (double)latencies[(count - 1) * percent / 100] / 1000);
    }
    snprintf(name, sizeof name, "%smax_us", prefix);
    report(name, (double)latencies[count - 1] / 1000);
}

/* ---- what a server uses ---- */

/* CPU time in nanoseconds of the process `root`, of all its descendants, and of those it has waited for (proc(5)). */
static inline uint64_t tree_cpu(pid_t root) {
    static struct { pid_t pid, parent; uint64_t ticks; int in; } all[4096];
    int count = 0;
    uint64_t sum = 0;
    if (root <= 0) return 0;
    DIR *folder = opendir("/proc");
    for (struct dirent *entry; folder && (entry = readdir(folder)) && count < 4096;) {
        char path[300], line[1024];
        pid_t pid = atoi(entry->d_name);
        if (pid <= 0) continue;
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        size_t length = fread(line, 1, sizeof line - 1, file);
        fclose(file);
        line[length] = 0;
        char *rest = strrchr(line, ')');
        unsigned long used[4];
        int parent;
        if (!rest || sscanf(rest + 2, "%*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &parent, &used[0],
                            &used[1], &used[2], &used[3]) != 5) continue;
        all[count].pid = pid;
        all[count].parent = parent;
        all[count].ticks = used[0] + used[1] + used[2] + used[3];
        all[count++].in = pid == root;
    }
    if (folder) closedir(folder);
    for (int changed = 1; changed;) {
        changed = 0;
        for (int i = 0; i < count; i++)
            for (int j = 0; !all[i].in && j < count; j++)
                if (all[j].in && all[i].parent == all[j].pid) changed = all[i].in = 1;
    }
    for (int i = 0; i < count; i++)
        if (all[i].in) sum += all[i].ticks;
    return sum * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* A measured stretch: wall clock, CPU time of the server (`root`; 0: of this process) and of the driver. */
typedef struct { uint64_t start, server, driver; pid_t root; } stretch;

static inline stretch begin(pid_t root) {
    stretch s = {0, root ? tree_cpu(root) : 0, now(CLOCK_PROCESS_CPUTIME_ID), root};
    s.start = now(CLOCK_MONOTONIC);
    return s;
}

/* Prints `rate` (events/s), `cpu_us` (server, for each event), and for a server `driver_busy`: the share of the stretch that
 * the driver spent on a CPU. A driver near 1 on its only thread would be what is measured. */
static inline void end(const stretch *s, long events) {
    uint64_t elapsed = now(CLOCK_MONOTONIC) - s->start, driver = now(CLOCK_PROCESS_CPUTIME_ID) - s->driver;
    uint64_t used = s->root ? tree_cpu(s->root) - s->server : driver;
    report("rate", (double)events * 1e9 / (double)elapsed);
    report("cpu_us", (double)used / 1000 / (double)events);
    if (s->root) report("driver_busy", (double)driver / (double)elapsed);
}

/* ---- many clients ---- */

/* One client: sends one record and waits until it is acknowledged as durable. */
typedef void (*send_one)(void *connection, const char *record, long number);

/* What the clients take their records from. */
typedef struct {
    send_one send;
    const char *records;
    long from, count;
    atomic_long next;
    uint64_t *latencies;
} supply;

typedef struct {
    supply *supply;
    void *connection;
} client;

static inline void *run_client(void *argument) {
    client *c = argument;
    supply *all = c->supply;
    for (long i; (i = atomic_fetch_add(&all->next, 1)) < all->count;) {
        uint64_t start = now(CLOCK_MONOTONIC);
        all->send(c->connection, all->records + i * RECORD, all->from + i);
        all->latencies[i] = now(CLOCK_MONOTONIC) - start;
    }
    return NULL;
}

/* `count` records over as many connections, each with a thread of its own. Each takes the next one when its last is acknowledged, so
 * that ids, which have the time in front, come in the order of time, as those of clients that live do. */
static inline void run_clients(
    send_one send, void **connections, int clients, const char *records, long from, long count, pid_t server) {
    client all[256];
    pthread_t threads[256];
    if (clients < 1 || clients > 256 || count < clients) fail("1 to 256 clients, each with an event");
    supply events = {send, records, from, count, 0, calloc((size_t)count, sizeof(uint64_t))};
    stretch s = begin(server);
    for (int i = 0; i < clients; i++) {
        all[i] = (client){&events, connections[i]};
        if (i > 0 && pthread_create(&threads[i], NULL, run_client, &all[i]) != 0) fail("pthread_create");
    }
    run_client(&all[0]);
    for (int i = 1; i < clients; i++) pthread_join(threads[i], NULL);
    end(&s, count);
    report_latencies("", events.latencies, count);
    free(events.latencies);
}

#endif
