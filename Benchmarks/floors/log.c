/* The log: the same tables, indexes, pragmas and columns as Sillok's, filled by a plain loop that checks, hashes and signs
 * nothing. Salts, leaves and Merkle nodes are random bytes of the right size. */
#include "floor.h"

/* As Sources/EventStore/Log/Schema.swift. */
static const char *tables =
    "CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS name(ref INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
    "CREATE TABLE IF NOT EXISTS origin(ref INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, node BLOB NOT NULL,"
    " key BLOB NOT NULL);"
    "CREATE TABLE IF NOT EXISTS event(position INTEGER PRIMARY KEY, user INTEGER NOT NULL, conversation INTEGER,"
    " time INTEGER, hlc INTEGER NOT NULL, origin INTEGER NOT NULL, seq INTEGER NOT NULL, type INTEGER NOT NULL,"
    " author INTEGER, id BLOB NOT NULL, cause BLOB, dependencies BLOB, version INTEGER, unknown BLOB, twin INTEGER,"
    " leaf INTEGER NOT NULL, salt BLOB, digest BLOB, payload TEXT);"
    "CREATE UNIQUE INDEX IF NOT EXISTS event_dot ON event(origin, seq);"
    "CREATE UNIQUE INDEX IF NOT EXISTS event_id ON event(id) WHERE twin IS NULL;"
    "CREATE INDEX IF NOT EXISTS event_twin ON event(twin) WHERE twin IS NOT NULL;"
    "CREATE TABLE IF NOT EXISTS node(origin INTEGER, level INTEGER, number INTEGER, hash BLOB NOT NULL,"
    " PRIMARY KEY(origin, level, number)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS head(origin INTEGER, size INTEGER, root BLOB NOT NULL, hlc INTEGER NOT NULL,"
    " signature BLOB NOT NULL, PRIMARY KEY(origin, size)) WITHOUT ROWID;";
static const char *pragmas =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000;"
    "PRAGMA cache_size = -32768; PRAGMA foreign_keys = OFF;";

static sqlite3 *db;
static sqlite3_stmt *insert_event, *insert_name, *insert_node, *insert_head;
static int64_t position, names, user_refs[USERS], conversation_refs[CONVERSATIONS], type_refs[4];
static uint64_t random_state = 7;

static void fill_random(void *bytes, size_t count) {
    for (size_t at = 0; at < count; at += 8) {
        uint64_t word = next_random(&random_state);
        memcpy((char *)bytes + at, &word, count - at < 8 ? count - at : 8);
    }
}

static int64_t intern(int64_t *ref, const char *text, int length) {
    if (*ref == 0) {
        *ref = ++names;
        check(db, sqlite3_bind_int64(insert_name, 1, *ref));
        check(db, sqlite3_bind_text(insert_name, 2, text, length, SQLITE_STATIC));
        run(insert_name);
    }
    return *ref;
}

static int64_t intern_type(const char *record) {
    const char *type = record_type(record);
    return intern(&type_refs[strchr("PERD", record_kind(record)) - "PERD"], type, (int)strlen(type));
}

static void insert_tree(int64_t hlc) {
    unsigned char noise[96];
    fill_random(noise, sizeof noise);
    if (position % LEVEL == 0) {
        check(db, sqlite3_bind_int64(insert_node, 1, position / LEVEL - 1));
        bind_blob(insert_node, 2, noise, 32);
        run(insert_node);
    }
    if (position % HEAD == 0) {
        check(db, sqlite3_bind_int64(insert_head, 1, position));
        bind_blob(insert_head, 2, noise, 32);
        check(db, sqlite3_bind_int64(insert_head, 3, hlc));
        bind_blob(insert_head, 4, noise + 32, 64);
        run(insert_head);
    }
}

static entry insert(const char *record) {
    unsigned char noise[24], id[16];
    int32_t leaf;
    position++;
    int64_t hlc = (int64_t)(now(CLOCK_REALTIME) / 1000000 << 16 | (uint64_t)(position & 0xffff));
    int64_t user = intern(&user_refs[name_number(record_user(record))], record_user(record), NAME);
    int64_t conversation =
        intern(&conversation_refs[name_number(record_conversation(record))], record_conversation(record), NAME);
    fill_random(noise, sizeof noise);
    memcpy(&leaf, noise + 16, sizeof leaf);
    uuid_bytes(record, id);
    check(db, sqlite3_bind_int64(insert_event, 1, position));
    check(db, sqlite3_bind_int64(insert_event, 2, user));
    check(db, sqlite3_bind_int64(insert_event, 3, conversation));
    check(db, sqlite3_bind_int64(insert_event, 5, hlc));
    check(db, sqlite3_bind_int64(insert_event, 6, 1));
    check(db, sqlite3_bind_int64(insert_event, 7, position));
    check(db, sqlite3_bind_int64(insert_event, 8, intern_type(record)));
    bind_blob(insert_event, 10, id, 16);
    check(db, sqlite3_bind_int64(insert_event, 16, leaf));
    bind_blob(insert_event, 17, noise, 16);
    check(db, sqlite3_bind_text(insert_event, 19, record_payload(record), PAYLOAD, SQLITE_STATIC));
    run(insert_event);
    insert_tree(hlc);
    return (entry){position, hlc, (int32_t)user, (int32_t)conversation, record};
}

void log_append(const char *records, long count, entry *entries) {
    execute(db, "BEGIN IMMEDIATE");
    for (long i = 0; i < count; i++) {
        entry stored = insert(records + i * RECORD);
        if (entries) entries[i] = stored;
    }
    execute(db, "COMMIT");
}

/* Where the log ends, and the numbers of the names it has. */
static void restore(void) {
    sqlite3_stmt *top = prepare(db, "SELECT coalesce(max(position), 0) FROM event");
    check(db, sqlite3_step(top));
    position = sqlite3_column_int64(top, 0);
    sqlite3_finalize(top);
    sqlite3_stmt *all = prepare(db, "SELECT ref, text FROM name");
    while (sqlite3_step(all) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(all, 1);
        names = sqlite3_column_int64(all, 0) > names ? sqlite3_column_int64(all, 0) : names;
        if (strncmp(text, "u-", 2) == 0) user_refs[name_number(text)] = sqlite3_column_int64(all, 0);
        else if (strncmp(text, "c-", 2) == 0) conversation_refs[name_number(text)] = sqlite3_column_int64(all, 0);
        for (int i = 0; i < 4; i++) {
            char kind[KIND_AT + 2] = {0};
            kind[KIND_AT] = "PERD"[i];
            if (strcmp(text, record_type(kind)) == 0) type_refs[i] = sqlite3_column_int64(all, 0);
        }
    }
    sqlite3_finalize(all);
}

void log_open(const char *path) {
    db = open_database(path, pragmas, tables);
    insert_event = prepare(db, "INSERT INTO event VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19)");
    insert_name = prepare(db, "INSERT INTO name VALUES(?1, ?2)");
    insert_node = prepare(db, "INSERT INTO node VALUES(1, 8, ?1, ?2)");
    insert_head = prepare(db, "INSERT INTO head VALUES(1, ?1, ?2, ?3, ?4)");
    restore();
}

void log_keep_wal(void) { execute(db, "PRAGMA wal_autocheckpoint = 0"); }

void log_copy_back(void) { execute(db, "PRAGMA wal_checkpoint(PASSIVE)"); }
