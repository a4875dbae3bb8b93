/* The parts of the floor: SQLite's handles and how a log is written (log.c), views written behind it (views.c),
 * the log behind a socket (serve.c), and two logs with a line between them (live.c). */
#ifndef FLOOR_H
#define FLOOR_H

#include "../common/bench.h"
#include <sqlite3.h>

enum { LEVEL = 256, HEAD = 4096 };

void check(sqlite3 *db, int code);
void execute(sqlite3 *db, const char *sql);
sqlite3_stmt *prepare(sqlite3 *db, const char *sql);
void run(sqlite3_stmt *statement);
void bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count);
sqlite3 *open_database(const char *path, const char *pragmas, const char *tables);

/* What the views need of a stored event. */
typedef struct {
    int64_t position, hlc;
    int32_t user, conversation;
    const char *record;
} entry;

/* A row of a timeline or history, and some of one owner packed. */
enum { ROWS = 512 };
typedef struct { int64_t time, hlc, position, speaker; } row;
typedef struct {
    row first, last;
    int length;
    unsigned char bytes[ROWS];
} block;

void block_begin(block *b, row first);
/* Returns 0, and changes nothing, if the block is full. */
int block_append(block *b, row r);
/* Puts all rows into `rows`, which has room for ROWS; returns how many. */
int block_rows(const block *b, row *rows);
/* The block that a query for time, hlc, position and rows stands on. */
void block_load(block *b, sqlite3_stmt *select);

/* Opens the log, made if it is not there, for writing. */
void log_open(const char *path);
/* Appends records in one durable commit; `entries`, unless NULL, gets what was stored. */
void log_append(const char *records, long count, entry *entries);
/* From now on a commit never copies the WAL back; `log_copy_back` does. */
void log_keep_wal(void);
void log_copy_back(void);

/* Live replication between two processes. */
void live(const char *path, const char *other, const char *data, long from, long count, int early);

/* Appends `count` records, one for each request that comes over the Unix socket at `path`. Never returns. */
void serve(const char *path, const char *records, long count, long microseconds);

/* Opens the views beside the log. */
void views_open(const char *path);
/* Merges entries into every view, in key order, in one transaction. */
void views_merge(entry *entries, long count);

#endif
