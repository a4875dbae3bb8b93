/* The floor under the benchmarks: the same rows in the same tables with the same pragmas, put there by a plain loop over
 * SQLite that checks, hashes and signs nothing.
 *
 *   floor sync FILE                       the disk alone: eight pages written, then fdatasync
 *   floor append-one DATABASE DATA        the latency of one row in one durable commit
 *   floor append-batches DATABASE DATA    durable commits of a thousand rows; leaves a history table for the next
 *   floor history DATABASE                the last fifty rows of a user
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 50, QUERIES = 2000, BATCH = 1000, BEFORE = 50000, ONE = 5000, BATCHED = 200000 };
enum { USERS = 10000, ACTIVE_USERS = 2000, CONVERSATIONS = 50000, NODE = 256, HEAD = 4096 };

/* As Sources/EventStore/Log/Schema.swift. */
static const char *tables =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE name(ref INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
    "CREATE TABLE origin(ref INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, node BLOB NOT NULL, key BLOB NOT NULL);"
    "CREATE TABLE event(position INTEGER PRIMARY KEY, user INTEGER NOT NULL, conversation INTEGER, time INTEGER,"
    " hlc INTEGER NOT NULL, origin INTEGER NOT NULL, seq INTEGER NOT NULL, type INTEGER NOT NULL, author INTEGER,"
    " id BLOB NOT NULL, cause BLOB, dependencies BLOB, version INTEGER, unknown BLOB, twin INTEGER,"
    " leaf INTEGER NOT NULL, salt BLOB, digest BLOB, payload TEXT);"
    "CREATE UNIQUE INDEX event_dot ON event(origin, seq);"
    "CREATE UNIQUE INDEX event_id ON event(id) WHERE twin IS NULL;"
    "CREATE INDEX event_twin ON event(twin) WHERE twin IS NOT NULL;"
    "CREATE TABLE node(origin INTEGER, level INTEGER, number INTEGER, hash BLOB NOT NULL,"
    " PRIMARY KEY(origin, level, number)) WITHOUT ROWID;"
    "CREATE TABLE head(origin INTEGER, size INTEGER, root BLOB NOT NULL, hlc INTEGER NOT NULL,"
    " signature BLOB NOT NULL, PRIMARY KEY(origin, size)) WITHOUT ROWID;";
static const char *pragmas =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000;"
    "PRAGMA cache_size = -32768; PRAGMA foreign_keys = OFF;";

static sqlite3 *db;
static sqlite3_stmt *insert_event, *insert_name, *insert_node, *insert_head;
static int64_t position, names, user_refs[USERS], conversation_refs[CONVERSATIONS], type_ref;
static uint64_t random_state = 7;

typedef struct { char *user, *conversation, *payload; int payload_length; } record;

static void check(int code) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    fprintf(stderr, "floor: %s\n", db ? sqlite3_errmsg(db) : sqlite3_errstr(code));
    exit(1);
}

static void execute(const char *sql) { check(sqlite3_exec(db, sql, NULL, NULL, NULL)); }

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL));
    return statement;
}

static void run(sqlite3_stmt *statement) {
    check(sqlite3_step(statement));
    check(sqlite3_reset(statement));
}

static uint64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* SplitMix64, as in Records.swift. */
static uint64_t next_random(void) {
    uint64_t mixed = random_state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

static void fill_random(void *bytes, size_t count) {
    for (size_t at = 0; at < count; at += 8) {
        uint64_t word = next_random();
        memcpy((char *)bytes + at, &word, count - at < 8 ? count - at : 8);
    }
}

static void report(const char *metric, double value) { printf("%s\tfloor\t%f\n", metric, value); }

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void report_latencies(const char *metric, uint64_t *latencies, int count) {
    char name[128];
    qsort(latencies, (size_t)count, sizeof *latencies, ascending);
    for (int percent = 50; percent <= 99; percent += 49) {
        snprintf(name, sizeof name, "%s, p%d (µs)", metric, percent);
        report(name, (double)latencies[(count - 1) * percent / 100] / 1000);
    }
}

static double written_bytes(void) {
    char line[128];
    unsigned long long bytes = 0;
    FILE *file = fopen("/proc/self/io", "r");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "write_bytes: %llu", &bytes);
    if (file) fclose(file);
    return (double)bytes;
}

/* The first `count` records of the file. */
static record *read_records(const char *path, int count) {
    FILE *file = fopen(path, "r");
    record *records = calloc((size_t)count, sizeof *records);
    char *line = NULL;
    size_t capacity = 0;
    for (int i = 0; i < count; i++) {
        ssize_t length = file ? getline(&line, &capacity, file) : -1;
        if (length < 0) {
            fprintf(stderr, "floor: %s has too few records\n", path);
            exit(1);
        }
        line[length - 1] = 0;
        char *rest = strdup(line);
        records[i].user = strsep(&rest, "\t");
        records[i].conversation = strsep(&rest, "\t");
        records[i].payload = rest;
        records[i].payload_length = (int)strlen(rest);
    }
    free(line);
    fclose(file);
    return records;
}

static int64_t intern(int64_t *ref, const char *text) {
    if (*ref == 0) {
        *ref = ++names;
        check(sqlite3_bind_int64(insert_name, 1, *ref));
        check(sqlite3_bind_text(insert_name, 2, text, -1, SQLITE_STATIC));
        run(insert_name);
    }
    return *ref;
}

static void bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    check(sqlite3_bind_blob(statement, index, bytes, count, SQLITE_STATIC));
}

static void insert_tree(int64_t hlc) {
    unsigned char noise[96];
    fill_random(noise, sizeof noise);
    if (position % NODE == 0) {
        check(sqlite3_bind_int64(insert_node, 1, position / NODE - 1));
        bind_blob(insert_node, 2, noise, 32);
        run(insert_node);
    }
    if (position % HEAD == 0) {
        check(sqlite3_bind_int64(insert_head, 1, position));
        bind_blob(insert_head, 2, noise, 32);
        check(sqlite3_bind_int64(insert_head, 3, hlc));
        bind_blob(insert_head, 4, noise + 32, 64);
        run(insert_head);
    }
}

static void insert(const record *r) {
    unsigned char noise[40];
    uint64_t milliseconds = now(CLOCK_REALTIME) / 1000000;
    int64_t hlc = (int64_t)(milliseconds << 16 | (uint64_t)(position & 0xffff));
    fill_random(noise, sizeof noise);
    /* An id begins with its time, as UUIDv7 does, so the index grows at its end; the count keeps the order within. */
    for (int i = 0; i < 6; i++) noise[i] = (unsigned char)(milliseconds >> (40 - 8 * i));
    noise[6] = (unsigned char)(0x70 | ((position + 1) >> 16 & 15));
    noise[7] = (unsigned char)((position + 1) >> 8);
    noise[8] = (unsigned char)(position + 1);
    position++;
    check(sqlite3_bind_int64(insert_event, 1, position));
    check(sqlite3_bind_int64(insert_event, 2, intern(&user_refs[atoi(r->user + 2)], r->user)));
    check(sqlite3_bind_int64(
        insert_event, 3, intern(&conversation_refs[atoi(r->conversation + 2)], r->conversation)));
    check(sqlite3_bind_int64(insert_event, 5, hlc));
    check(sqlite3_bind_int64(insert_event, 6, 1));
    check(sqlite3_bind_int64(insert_event, 7, position));
    check(sqlite3_bind_int64(insert_event, 8, intern(&type_ref, "message.posted")));
    bind_blob(insert_event, 10, noise, 16);
    int32_t leaf;
    memcpy(&leaf, noise + 32, sizeof leaf);
    check(sqlite3_bind_int64(insert_event, 16, leaf));
    bind_blob(insert_event, 17, noise + 16, 16);
    check(sqlite3_bind_text(insert_event, 19, r->payload, r->payload_length, SQLITE_STATIC));
    run(insert_event);
    insert_tree(hlc);
}

static void append(const record *records, int count, int batch) {
    for (int i = 0; i < count; i += batch) {
        execute("BEGIN IMMEDIATE");
        for (int j = i; j < i + batch && j < count; j++) insert(&records[j]);
        execute("COMMIT");
    }
}

static void open_new(const char *path) {
    check(sqlite3_open(path, &db));
    execute(pragmas);
    execute(tables);
    insert_event = prepare("INSERT INTO event VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19)");
    insert_name = prepare("INSERT INTO name VALUES(?1, ?2)");
    insert_node = prepare("INSERT INTO node VALUES(1, 8, ?1, ?2)");
    insert_head = prepare("INSERT INTO head VALUES(1, ?1, ?2, ?3, ?4)");
}

static void append_one(const char *path, const char *data) {
    static uint64_t latencies[ONE];
    record *records = read_records(data, BEFORE + ONE);
    open_new(path);
    append(records, BEFORE, BATCH);
    for (int i = 0; i < ONE; i++) {
        uint64_t start = now(CLOCK_MONOTONIC);
        append(records + BEFORE + i, 1, 1);
        latencies[i] = now(CLOCK_MONOTONIC) - start;
    }
    report_latencies("1. durable append of one event", latencies, ONE);
}

static void append_batches(const char *path, const char *data) {
    record *records = read_records(data, BATCHED);
    open_new(path);
    double written = written_bytes();
    uint64_t start = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    append(records, BATCHED, BATCH);
    uint64_t elapsed = now(CLOCK_MONOTONIC) - start;
    cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    report("2. durable append, batches of 1000 (events/s)", BATCHED * 1e9 / (double)elapsed);
    report("2. durable append, batches of 1000, CPU (µs/event)", (double)cpu / 1000 / BATCHED);
    report("2. durable append, batches of 1000, written (bytes/event)", (written_bytes() - written) / BATCHED);
}

static void make_history(void) {
    execute(
        "CREATE TABLE history(user INTEGER, time INTEGER, hlc INTEGER, position INTEGER,"
        " PRIMARY KEY(user, time, hlc, position)) WITHOUT ROWID;"
        "INSERT INTO history SELECT user, hlc >> 16, hlc, position FROM event ORDER BY user, hlc, position;");
}

static void history(const char *path) {
    static uint64_t latencies[QUERIES];
    char user[32];
    size_t rows = 0, bytes = 0;
    check(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL));
    sqlite3_stmt *name = prepare("SELECT ref FROM name WHERE text = ?");
    sqlite3_stmt *keys = prepare(
        "SELECT position FROM history WHERE user = ? ORDER BY time DESC, hlc DESC, position DESC LIMIT ?");
    sqlite3_stmt *event = prepare("SELECT * FROM event WHERE position = ?");
    random_state = 5;
    for (int i = 0; i < QUERIES; i++) {
        snprintf(user, sizeof user, "u-%d", (int)(next_random() % ACTIVE_USERS));
        uint64_t start = now(CLOCK_MONOTONIC);
        check(sqlite3_bind_text(name, 1, user, -1, SQLITE_STATIC));
        check(sqlite3_step(name));
        check(sqlite3_bind_int64(keys, 1, sqlite3_column_int64(name, 0)));
        check(sqlite3_bind_int(keys, 2, PAGE));
        while (sqlite3_step(keys) == SQLITE_ROW) {
            check(sqlite3_bind_int64(event, 1, sqlite3_column_int64(keys, 0)));
            check(sqlite3_step(event));
            for (int column = 0; column < 18; column++) bytes += (size_t)sqlite3_column_bytes(event, column) > 1 << 20;
            char *copy = strdup((const char *)sqlite3_column_text(event, 18));
            bytes += strlen(copy);
            free(copy);
            rows++;
            check(sqlite3_reset(event));
        }
        check(sqlite3_reset(keys));
        check(sqlite3_reset(name));
        latencies[i] = now(CLOCK_MONOTONIC) - start;
    }
    if (bytes == 0) exit(1);
    report_latencies("5. last 50 events of a user", latencies, QUERIES);
    report("5. rows of each answer (mean)", (double)rows / QUERIES);
}

/* As a WAL in use: the pages of the file are overwritten, so that no sync has to grow it. */
static void sync_alone(const char *path) {
    static uint64_t latencies[ONE];
    static char pages[8 * 4096];
    enum { SLOTS = 125 };
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = -SLOTS; i < ONE; i++) {
        memset(pages, i, sizeof pages);
        uint64_t start = now(CLOCK_MONOTONIC);
        ssize_t count = pwrite(file, pages, sizeof pages, (off_t)((i + SLOTS) % SLOTS) * (off_t)sizeof pages);
        if (count != sizeof pages || fdatasync(file) != 0) {
            perror(path);
            exit(1);
        }
        if (i >= 0) latencies[i] = now(CLOCK_MONOTONIC) - start;
    }
    report_latencies("0. the disk: 32 KiB written and fdatasync", latencies, ONE);
}

int main(int count, char **words) {
    if (count == 3 && strcmp(words[1], "sync") == 0) {
        sync_alone(words[2]);
    } else if (count == 4 && strcmp(words[1], "append-one") == 0) {
        append_one(words[2], words[3]);
    } else if (count == 4 && strcmp(words[1], "append-batches") == 0) {
        append_batches(words[2], words[3]);
        make_history();
    } else if (count == 3 && strcmp(words[1], "history") == 0) {
        history(words[2]);
    } else {
        fputs("usage: floor sync FILE | floor append-one|append-batches DATABASE DATA | floor history DATABASE\n", stderr);
        return 2;
    }
    return 0;
}
