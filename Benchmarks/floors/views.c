/* Views written behind the log: what was stored is gathered in memory, sorted for each view and merged in key order, in one
 * transaction. The tables are those that these records touch in Sillok's views, without stamps for concurrent writers. */
#include "floor.h"

static const char *tables =
    "CREATE TABLE IF NOT EXISTS progress(position INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS history(user INTEGER, time INTEGER, hlc INTEGER, position INTEGER,"
    " rows BLOB NOT NULL, PRIMARY KEY(user, time, hlc, position)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS timeline(conversation INTEGER, time INTEGER, hlc INTEGER, position INTEGER,"
    " rows BLOB NOT NULL, PRIMARY KEY(conversation, time, hlc, position)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS conversation(conversation INTEGER PRIMARY KEY, events INTEGER NOT NULL,"
    " messages INTEGER NOT NULL, first_hlc INTEGER NOT NULL, last_hlc INTEGER NOT NULL);"
    "CREATE INDEX IF NOT EXISTS conversation_recent ON conversation(last_hlc, conversation);"
    "CREATE TABLE IF NOT EXISTS message(message BLOB PRIMARY KEY, edits INTEGER NOT NULL, edit_position INTEGER,"
    " text TEXT, retracted INTEGER) WITHOUT ROWID;";
static const char *pragmas =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 1000;"
    "PRAGMA cache_size = -32768; PRAGMA foreign_keys = OFF;";

static sqlite3 *db;
static sqlite3_stmt *last_of_user, *last_of_conversation, *save_history, *save_timeline;
static sqlite3_stmt *change_conversation, *edit, *retract, *progress;

void views_open(const char *path) {
    db = open_database(path, pragmas, tables);
    last_of_user = prepare(db,
        "SELECT time, hlc, position, rows FROM history WHERE user = ? ORDER BY time DESC, hlc DESC, position DESC LIMIT 1");
    last_of_conversation = prepare(db,
        "SELECT time, hlc, position, rows FROM timeline WHERE conversation = ?"
        " ORDER BY time DESC, hlc DESC, position DESC LIMIT 1");
    save_history = prepare(db, "INSERT OR REPLACE INTO history VALUES(?1, ?2, ?3, ?4, ?5)");
    save_timeline = prepare(db, "INSERT OR REPLACE INTO timeline VALUES(?1, ?2, ?3, ?4, ?5)");
    change_conversation = prepare(db,
        "INSERT INTO conversation VALUES(?1, ?2, ?3, ?4, ?5) ON CONFLICT(conversation) DO UPDATE SET"
        " events = events + ?2, messages = messages + ?3, last_hlc = max(last_hlc, ?5)");
    edit = prepare(db,
        "INSERT INTO message VALUES(?1, 1, ?2, ?3 ->> 'text', NULL) ON CONFLICT(message) DO UPDATE SET"
        " edits = edits + 1, edit_position = ?2, text = ?3 ->> 'text'");
    retract = prepare(db,
        "INSERT INTO message VALUES(?1, 0, NULL, NULL, ?2) ON CONFLICT(message) DO UPDATE SET retracted = ?2");
    progress = prepare(db, "INSERT OR REPLACE INTO progress(rowid, position) VALUES(1, ?1)");
}

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }
static int by_user(const void *a, const void *b) {
    const entry *x = a, *y = b;
    return x->user != y->user ? compare(x->user, y->user) : compare(x->position, y->position);
}
static int by_conversation(const void *a, const void *b) {
    const entry *x = a, *y = b;
    return x->conversation != y->conversation ? compare(x->conversation, y->conversation) : compare(x->position, y->position);
}
static void bind(sqlite3_stmt *statement, int count, const int64_t *values) {
    for (int i = 0; i < count; i++) check(db, sqlite3_bind_int64(statement, i + 1, values[i]));
    run(statement);
}

static void save_block(sqlite3_stmt *save, int64_t owner, const block *b) {
    int64_t key[] = {owner, b->first.time, b->first.hlc, b->first.position};
    for (int i = 0; i < 4; i++) check(db, sqlite3_bind_int64(save, i + 1, key[i]));
    check(db, sqlite3_bind_blob(save, 5, b->bytes, b->length, SQLITE_STATIC));
    run(save);
}

/* The entries are sorted by owner, and those of one come behind all that is there. */
static void merge_rows(sqlite3_stmt *last, sqlite3_stmt *save, const entry *entries, long count, int isUser) {
    for (long i = 0; i < count;) {
        int64_t owner = isUser ? entries[i].user : entries[i].conversation;
        int isBegun = 0;
        block b;
        check(db, sqlite3_bind_int64(last, 1, owner));
        if (sqlite3_step(last) == SQLITE_ROW) {
            block_load(&b, last);
            isBegun = 1;
        }
        check(db, sqlite3_reset(last));
        for (; i < count && (isUser ? entries[i].user : entries[i].conversation) == owner; i++) {
            int isSaid = !isUser && record_kind(entries[i].record) == 'P';
            row r = {entries[i].hlc >> 16, entries[i].hlc, entries[i].position, isSaid ? entries[i].user : 0};
            if (isBegun && block_append(&b, r)) continue;
            if (isBegun) save_block(save, owner, &b);
            block_begin(&b, r);
            isBegun = 1;
        }
        save_block(save, owner, &b);
    }
}

static void merge_conversations(const entry *entries, long count) {
    for (long i = 0, first = 0, messages = 0; i < count; i++) {
        messages += record_kind(entries[i].record) == 'P';
        if (i + 1 < count && entries[i + 1].conversation == entries[i].conversation) continue;
        bind(change_conversation, 5,
             (int64_t[]){entries[i].conversation, i + 1 - first, messages, entries[first].hlc, entries[i].hlc});
        first = i + 1;
        messages = 0;
    }
}

/* The targets are recent, so their ids are near each other without being sorted. */
static void merge_messages(const entry *entries, long count) {
    for (long i = 0; i < count; i++) {
        const char *target = record_target(entries[i].record);
        int isEdit = record_kind(entries[i].record) == 'E';
        unsigned char id[16];
        if (!target) continue;
        uuid_bytes(target, id);
        sqlite3_stmt *change = isEdit ? edit : retract;
        bind_blob(change, 1, id, 16);
        check(db, sqlite3_bind_int64(change, 2, isEdit ? entries[i].position : entries[i].hlc));
        if (isEdit)
            check(db, sqlite3_bind_text(change, 3, record_payload(entries[i].record), PAYLOAD, SQLITE_STATIC));
        run(change);
    }
}

void views_merge(entry *entries, long count) {
    if (count == 0) return;
    int64_t top = entries[count - 1].position;
    execute(db, "BEGIN IMMEDIATE");
    merge_messages(entries, count);
    qsort(entries, (size_t)count, sizeof *entries, by_user);
    merge_rows(last_of_user, save_history, entries, count, 1);
    qsort(entries, (size_t)count, sizeof *entries, by_conversation);
    merge_rows(last_of_conversation, save_timeline, entries, count, 0);
    merge_conversations(entries, count);
    bind(progress, 1, &top);
    execute(db, "COMMIT");
}
