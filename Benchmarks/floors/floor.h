/* The parts of the floor: SQLite's handles and how a log is written (log.c), and views written behind it (views.c). */
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

/* Opens the log, made if it is not there, for writing. */
void log_open(const char *path);
/* Appends records in one durable commit; `entries`, unless NULL, gets what was stored. */
void log_append(const char *records, long count, entry *entries);

/* Opens the views beside the log. */
void views_open(const char *path);
/* Merges entries into every view, in key order, in one transaction. */
void views_merge(entry *entries, long count);

#endif
