/* The floors under the benchmarks: what this disk, and SQLite in plain C, give anyone.
 *
 *   floor sync FILE                                the disk alone: eight pages written, then fdatasync
 *   floor log FOLDER DATA FROM COUNT BATCH         durable commits of BATCH events into a log
 *   floor views FOLDER DATA FROM COUNT BATCH       the same, the views merged every 65,536 events, between two commits
 *   floor threads FOLDER DATA FROM COUNT BATCH     the same, merged by a second thread
 *   floor serve FOLDER DATA FROM COUNT SOCKET WORK durable commits of one event for each request over a Unix socket,
 *                                                  after WORK microseconds of computing
 *   floor live FOLDER DATA FROM COUNT OTHER-FOLDER one event after the other into the log of one process, then of another
 *   floor early FOLDER DATA FROM COUNT OTHER-FOLDER the same, sent before the first has it: both disks write at a time
 *   floor history FOLDER QUERIES                   the last fifty events of a user, from log and views
 *   floor scan FOLDER                              every column of every event in order */
#include "floor.h"

enum { DELTA = 65536, SYNCS = 5000 };

void check(sqlite3 *db, int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) fail("floor: %s", sqlite3_errmsg(db));
}

void execute(sqlite3 *db, const char *sql) { check(db, sqlite3_exec(db, sql, NULL, NULL, NULL)); }

sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement;
    check(db, sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL));
    return statement;
}

void run(sqlite3_stmt *statement) {
    check(sqlite3_db_handle(statement), sqlite3_step(statement));
    check(sqlite3_db_handle(statement), sqlite3_reset(statement));
}

void bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    check(sqlite3_db_handle(statement), sqlite3_bind_blob(statement, index, bytes, count, SQLITE_STATIC));
}

sqlite3 *open_database(const char *path, const char *pragmas, const char *tables) {
    sqlite3 *db;
    check(NULL, sqlite3_open(path, &db));
    execute(db, pragmas);
    execute(db, tables);
    return db;
}

static const char *file_in(const char *folder, const char *name) {
    char *path;
    mkdir(folder, 0755);
    if (asprintf(&path, "%s/%s", folder, name) < 0) fail("no memory");
    return path;
}

static double written_bytes(void) {
    char line[128];
    unsigned long long bytes = 0;
    FILE *file = fopen("/proc/self/io", "r");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "wchar: %llu", &bytes);
    if (file) fclose(file);
    return (double)bytes;
}

/* ---- writing ---- */

/* What the second thread is given: one delta at a time. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    entry *entries;
    long count;
    int ended;
} handed = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0, 0};

static void *merge_handed(void *unused) {
    pthread_mutex_lock(&handed.mutex);
    for (;;) {
        while (!handed.count && !handed.ended) pthread_cond_wait(&handed.changed, &handed.mutex);
        if (!handed.count) break;
        pthread_mutex_unlock(&handed.mutex);
        views_merge(handed.entries, handed.count);
        pthread_mutex_lock(&handed.mutex);
        handed.count = 0;
        pthread_cond_broadcast(&handed.changed);
    }
    pthread_mutex_unlock(&handed.mutex);
    return unused;
}

/* Waits until the thread has merged the delta before, then gives it this one. */
static void hand_over(entry *entries, long count) {
    pthread_mutex_lock(&handed.mutex);
    while (handed.count) pthread_cond_wait(&handed.changed, &handed.mutex);
    handed.entries = entries;
    handed.count = count;
    pthread_cond_broadcast(&handed.changed);
    pthread_mutex_unlock(&handed.mutex);
}

static void append(const char *how, const char *folder, const char *data, long from, long count, long batch) {
    const char *records = map_records(data, from, count);
    uint64_t *latencies = calloc((size_t)(count / batch + 1), sizeof *latencies);
    int views = strcmp(how, "log") != 0, threads = strcmp(how, "threads") == 0;
    entry *deltas[2] = {calloc((size_t)(DELTA + batch), sizeof(entry)), calloc((size_t)(DELTA + batch), sizeof(entry))};
    long gathered = 0, calls = 0, generation = 0;
    pthread_t merger;
    log_open(file_in(folder, "log.db"));
    if (views) views_open(file_in(folder, "views.db"));
    if (threads && pthread_create(&merger, NULL, merge_handed, NULL) != 0) fail("pthread_create");
    double written = written_bytes();
    stretch s = begin(0);
    for (long done = 0; done < count; calls++) {
        long size = count - done < batch ? count - done : batch;
        entry *delta = deltas[generation % 2];
        uint64_t start = now(CLOCK_MONOTONIC);
        log_append(records + done * RECORD, size, views ? delta + gathered : NULL);
        done += size;
        gathered += views ? size : 0;
        if (gathered >= DELTA) {
            if (threads) hand_over(delta, gathered);
            else views_merge(delta, gathered);
            generation++;
            gathered = 0;
        }
        latencies[calls] = now(CLOCK_MONOTONIC) - start;
    }
    end(&s, count);
    /* What is left in memory is fresh for readers in this process; merging it counts as settling. */
    if (threads) {
        hand_over(deltas[generation % 2], gathered);
        hand_over(NULL, 0);
        pthread_mutex_lock(&handed.mutex);
        handed.ended = 1;
        pthread_cond_broadcast(&handed.changed);
        pthread_mutex_unlock(&handed.mutex);
        pthread_join(merger, NULL);
    } else if (views) {
        views_merge(deltas[generation % 2], gathered);
    }
    if (views) report("settled_rate", (double)count * 1e9 / (double)(now(CLOCK_MONOTONIC) - s.start));
    report("written", (written_bytes() - written) / (double)count);
    report_latencies("", latencies, calls);
}

/* ---- reading ---- */

static sqlite3 *open_reader(const char *folder, const char *name) {
    sqlite3 *db;
    check(NULL, sqlite3_open_v2(file_in(folder, name), &db, SQLITE_OPEN_READONLY, NULL));
    return db;
}

static void history(const char *folder, long queries) {
    uint64_t *latencies = calloc((size_t)queries, sizeof *latencies), random = 6;
    long rows = 0, bytes = 0;
    char user[16];
    sqlite3 *log = open_reader(folder, "log.db"), *views = open_reader(folder, "views.db");
    sqlite3_stmt *name = prepare(log, "SELECT ref FROM name WHERE text = ?");
    sqlite3_stmt *event = prepare(log, "SELECT * FROM event WHERE position = ?");
    sqlite3_stmt *keys = prepare(views,
        "SELECT time, hlc, position, rows FROM history WHERE user = ? ORDER BY time DESC, hlc DESC, position DESC");
    block b;
    row block_at[ROWS];
    stretch s = begin(0);
    /* Once more before the clock starts: caches are warm for everyone. */
    for (long i = -queries; i < queries; i++) {
        if (i == 0) {
            s = begin(0);
            random = 5;
            rows = 0;
        }
        snprintf(user, sizeof user, "u-%05d", (int)(next_random(&random) % ACTIVE_USERS));
        uint64_t start = now(CLOCK_MONOTONIC);
        execute(log, "BEGIN");
        check(log, sqlite3_bind_text(name, 1, user, -1, SQLITE_STATIC));
        check(log, sqlite3_step(name));
        check(views, sqlite3_bind_int64(keys, 1, sqlite3_column_int64(name, 0)));
        int left = 50, count = 0;
        while (left-- > 0) {
            if (count == 0) {
                if (sqlite3_step(keys) != SQLITE_ROW) break;
                block_load(&b, keys);
                count = block_rows(&b, block_at);
            }
            check(log, sqlite3_bind_int64(event, 1, block_at[--count].position));
            check(log, sqlite3_step(event));
            for (int column = 0; column < 18; column++) bytes += sqlite3_column_bytes(event, column) > 1 << 20;
            char *copy = strdup((const char *)sqlite3_column_text(event, 18));
            bytes += (long)strlen(copy);
            free(copy);
            rows++;
            check(log, sqlite3_reset(event));
        }
        check(views, sqlite3_reset(keys));
        check(log, sqlite3_reset(name));
        execute(log, "COMMIT");
        latencies[i < 0 ? 0 : i] = now(CLOCK_MONOTONIC) - start;
    }
    end(&s, queries);
    if (bytes == 0) fail("the histories are empty");
    report("rows", (double)rows / (double)queries);
    report_latencies("", latencies, queries);
}

static void scan(const char *folder) {
    sqlite3 *log = open_reader(folder, "log.db");
    sqlite3_stmt *all = prepare(log, "SELECT * FROM event ORDER BY position");
    long rows = 0, bytes = 0;
    stretch s = begin(0);
    while (sqlite3_step(all) == SQLITE_ROW) {
        rows++;
        for (int column = 0; column < 19; column++) {
            if (sqlite3_column_type(all, column) == SQLITE_INTEGER) bytes += sqlite3_column_int64(all, column) & 1;
            else if (sqlite3_column_blob(all, column)) bytes += sqlite3_column_bytes(all, column);
        }
    }
    end(&s, rows);
    if (bytes < rows * PAYLOAD) fail("the log is empty");
    report("rows", (double)rows);
}

/* As a WAL in use: the pages of the file are overwritten, so that no sync has to grow it. */
static void sync_alone(const char *path) {
    static uint64_t latencies[SYNCS];
    static char pages[8 * 4096];
    enum { SLOTS = 125 };
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = -SLOTS; i < SYNCS; i++) {
        memset(pages, i, sizeof pages);
        uint64_t start = now(CLOCK_MONOTONIC);
        ssize_t count = pwrite(file, pages, sizeof pages, (off_t)((i + SLOTS) % SLOTS) * (off_t)sizeof pages);
        if (count != sizeof pages || fdatasync(file) != 0) fail("%s: %s", path, strerror(errno));
        if (i >= 0) latencies[i] = now(CLOCK_MONOTONIC) - start;
    }
    report_latencies("", latencies, SYNCS);
}

int main(int count, char **words) {
    if (count == 3 && strcmp(words[1], "sync") == 0) sync_alone(words[2]);
    else if (count == 7 && (!strcmp(words[1], "log") || !strcmp(words[1], "views") || !strcmp(words[1], "threads")))
        append(words[1], words[2], words[3], atol(words[4]), atol(words[5]), atol(words[6]));
    else if (count == 8 && strcmp(words[1], "serve") == 0) {
        log_open(file_in(words[2], "log.db"));
        serve(words[6], map_records(words[3], atol(words[4]), atol(words[5])), atol(words[5]), atol(words[7]));
    } else if (count == 7 && (!strcmp(words[1], "live") || !strcmp(words[1], "early")))
        live(file_in(words[2], "log.db"), file_in(words[6], "log.db"), words[3], atol(words[4]), atol(words[5]), *words[1] == 'e');
    else if (count == 4 && strcmp(words[1], "history") == 0) history(words[2], atol(words[3]));
    else if (count == 3 && strcmp(words[1], "scan") == 0) scan(words[2]);
    else fail("floor: see the head of floor.c");
    return 0;
}
