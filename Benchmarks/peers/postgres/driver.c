/* PostgreSQL through libpq.
 *
 *   driver clients CONNECTION SERVER DATA FROM COUNT CLIENTS    one INSERT, one commit, on as many connections
 *   driver copy    CONNECTION SERVER DATA FROM COUNT BATCH      COPY, BATCH rows in one commit
 *   driver insert  CONNECTION SERVER DATA FROM COUNT BATCH      one INSERT of BATCH rows in one commit
 *   driver project CONNECTION SERVER DATA FROM COUNT BATCH      the same, and the views in the same commit
 *   driver history CONNECTION SERVER QUERIES                    the last fifty events of a user with their payloads
 *   driver scan    CONNECTION SERVER                            every event in order, as binary COPY
 *   driver live    CONNECTION CONNECTION DATA FROM COUNT        commit on the one until visible on the other
 *
 * CONNECTION is libpq's string, SERVER the postmaster's pid. */
#include "../../common/bench.h"
#include <endian.h>
#include <libpq-fe.h>

static PGconn *connect_to(const char *where) {
    PGconn *connection = PQconnectdb(where);
    if (PQstatus(connection) != CONNECTION_OK) fail("postgres: %s", PQerrorMessage(connection));
    return connection;
}

static PGresult *expect(PGconn *connection, PGresult *result, ExecStatusType status) {
    if (PQresultStatus(result) != status) fail("postgres: %s", PQerrorMessage(connection));
    return result;
}

static void execute(PGconn *connection, const char *sql) {
    PQclear(expect(connection, PQexec(connection, sql), PGRES_COMMAND_OK));
}

static int type_number(const char *record) {
    switch (record_kind(record)) {
    case 'P': return 1;
    case 'E': return 2;
    case 'R': return 3;
    default: return 4;
    }
}

/* ---- values in binary form ---- */

typedef struct { char *bytes; size_t count, capacity; } buffer;

static void add(buffer *b, const void *bytes, size_t count) {
    if (b->count + count > b->capacity) {
        b->capacity = (b->count + count) * 2;
        b->bytes = realloc(b->bytes, b->capacity);
    }
    memcpy(b->bytes + b->count, bytes, count);
    b->count += count;
}
static void add16(buffer *b, int value) { uint16_t v = htobe16((uint16_t)value); add(b, &v, 2); }
static void add32(buffer *b, int64_t value) { uint32_t v = htobe32((uint32_t)value); add(b, &v, 4); }
static void add64(buffer *b, int64_t value) { uint64_t v = htobe64((uint64_t)value); add(b, &v, 8); }
static void field16(buffer *b, int value) { add32(b, 2); add16(b, value); }
static void field32(buffer *b, int value) { add32(b, 4); add32(b, value); }
static void field64(buffer *b, int64_t value) { add32(b, 8); add64(b, value); }
static void field_uuid(buffer *b, const char *text) {
    unsigned char bytes[16];
    if (!text) { add32(b, -1); return; }
    uuid_bytes(text, bytes);
    add32(b, 16);
    add(b, bytes, 16);
}

static int64_t milliseconds(void) { return (int64_t)(now(CLOCK_REALTIME) / 1000000); }
static int64_t hlc(int64_t time, long number) { return time << 16 | (number & 0xffff); }

/* ---- one event, one commit ---- */

static const char *insert_one =
    "INSERT INTO event(origin, seq, hlc, time, id, type, \"user\", conversation, payload)"
    " VALUES(1, $1::bigint, $2::bigint, $3::bigint, $4::uuid, $5::smallint, $6::integer, $7::integer, $8::text)";

static void send_insert(void *connection, const char *record, long number) {
    int64_t time = milliseconds();
    uint64_t seq = htobe64((uint64_t)number + 1), stamp = htobe64((uint64_t)hlc(time, number)), at = htobe64((uint64_t)time);
    unsigned char id[16];
    uint16_t type = htobe16((uint16_t)type_number(record));
    uint32_t user = htobe32((uint32_t)name_number(record_user(record)));
    uint32_t conversation = htobe32((uint32_t)name_number(record_conversation(record)));
    uuid_bytes(record, id);
    const char *values[] = {(char *)&seq, (char *)&stamp, (char *)&at, (char *)id, (char *)&type, (char *)&user,
                            (char *)&conversation, record_payload(record)};
    const int lengths[] = {8, 8, 8, 16, 2, 4, 4, PAYLOAD}, formats[] = {1, 1, 1, 1, 1, 1, 1, 1};
    PQclear(expect(connection, PQexecPrepared(connection, "one", 8, values, lengths, formats, 1), PGRES_COMMAND_OK));
}

static PGconn *prepare_one(const char *where) {
    PGconn *connection = connect_to(where);
    PQclear(expect(connection, PQprepare(connection, "one", insert_one, 8, NULL), PGRES_COMMAND_OK));
    return connection;
}

static void clients(const char *where, pid_t server, const char *data, long from, long count, int number) {
    const char *records = map_records(data, from, count);
    void *connections[256];
    if (number > 256) fail("256 clients at most");
    for (int i = 0; i < number; i++) connections[i] = prepare_one(where);
    run_clients(send_insert, connections, number, records, from, count, server);
}

/* ---- batches ---- */

static void copy_batch(PGconn *connection, const char *records, long from, long count, buffer *b) {
    b->count = 0;
    add(b, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
    int64_t time = milliseconds();
    for (long i = 0; i < count; i++) {
        const char *record = records + i * RECORD;
        add16(b, 9);
        field16(b, 1);
        field64(b, from + i + 1);
        field64(b, hlc(time, from + i));
        field64(b, time);
        field_uuid(b, record);
        field16(b, type_number(record));
        field32(b, name_number(record_user(record)));
        field32(b, name_number(record_conversation(record)));
        add32(b, PAYLOAD);
        add(b, record_payload(record), PAYLOAD);
    }
    add16(b, -1);
    PQclear(expect(connection, PQexec(connection,
        "COPY event(origin, seq, hlc, time, id, type, \"user\", conversation, payload) FROM STDIN (FORMAT binary)"),
        PGRES_COPY_IN));
    if (PQputCopyData(connection, b->bytes, (int)b->count) != 1 || PQputCopyEnd(connection, NULL) != 1)
        fail("postgres: %s", PQerrorMessage(connection));
    PQclear(expect(connection, PQgetResult(connection), PGRES_COMMAND_OK));
    PQclear(PQgetResult(connection));
}

static const char *insert_many =
    "INSERT INTO event(origin, seq, hlc, time, id, type, \"user\", conversation, payload)"
    " SELECT 1, * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::uuid[], $5::smallint[], $6::integer[],"
    " $7::integer[], $8::text[])";

/* Edits and retractions find their message by its id; of several edits in a batch the last counts. */
static const char *insert_and_project =
    "WITH e AS (INSERT INTO event(origin, seq, hlc, time, id, type, \"user\", conversation, payload)"
    "  SELECT 1, * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::uuid[], $5::smallint[], $6::integer[],"
    "  $7::integer[], $8::text[])"
    "  RETURNING position, seq, hlc, time, type, \"user\", conversation, payload),"
    " h AS (INSERT INTO history SELECT \"user\", time, hlc, position FROM e),"
    " t AS (INSERT INTO timeline SELECT conversation, time, hlc, position FROM e),"
    " c AS (INSERT INTO conversation AS c"
    "  SELECT conversation, count(*), count(*) FILTER (WHERE type = 1), min(time), max(time) FROM e"
    "  GROUP BY conversation ON CONFLICT (conversation) DO UPDATE SET events = c.events + excluded.events,"
    "  messages = c.messages + excluded.messages, first_time = least(c.first_time, excluded.first_time),"
    "  last_time = greatest(c.last_time, excluded.last_time)),"
    " p AS (INSERT INTO participant AS p SELECT conversation, \"user\", count(*) FROM e WHERE type = 1"
    "  GROUP BY conversation, \"user\" ON CONFLICT (conversation, \"user\")"
    "  DO UPDATE SET messages = p.messages + excluded.messages),"
    " changed AS (SELECT target, e.* FROM e JOIN unnest($1::bigint[], $9::uuid[]) AS a(seq, target) USING (seq)"
    "  WHERE type IN (2, 3)),"
    " m AS (INSERT INTO message AS m"
    "  SELECT target, count(*) FILTER (WHERE type = 2), max(position) FILTER (WHERE type = 2),"
    "  (array_agg(payload::json->>'text' ORDER BY position DESC) FILTER (WHERE type = 2))[1],"
    "  min(hlc) FILTER (WHERE type = 3) FROM changed GROUP BY target"
    "  ON CONFLICT (message) DO UPDATE SET edits = m.edits + excluded.edits,"
    "  edit_position = coalesce(excluded.edit_position, m.edit_position), text = coalesce(excluded.text, m.text),"
    "  retracted = least(m.retracted, excluded.retracted))"
    " SELECT 1 WHERE false";

enum { INT2 = 21, INT4 = 23, INT8 = 20, TEXT = 25, UUID = 2950 };

static void begin_array(buffer *b, int type, long count) {
    b->count = 0;
    add32(b, 1);
    add32(b, 1);
    add32(b, type);
    add32(b, count);
    add32(b, 1);
}

static void insert_batch(PGconn *connection, const char *records, long from, long count, buffer *arrays, int columns) {
    static const int types[9] = {INT8, INT8, INT8, UUID, INT2, INT4, INT4, TEXT, UUID};
    const char *values[9];
    int lengths[9], formats[9];
    int64_t time = milliseconds();
    for (int i = 0; i < columns; i++) begin_array(&arrays[i], types[i], count);
    for (long i = 0; i < count; i++) {
        const char *record = records + i * RECORD;
        field64(&arrays[0], from + i + 1);
        field64(&arrays[1], hlc(time, from + i));
        field64(&arrays[2], time);
        field_uuid(&arrays[3], record);
        field16(&arrays[4], type_number(record));
        field32(&arrays[5], name_number(record_user(record)));
        field32(&arrays[6], name_number(record_conversation(record)));
        add32(&arrays[7], PAYLOAD);
        add(&arrays[7], record_payload(record), PAYLOAD);
        if (columns == 9) field_uuid(&arrays[8], record_target(record));
    }
    for (int i = 0; i < columns; i++) {
        values[i] = arrays[i].bytes;
        lengths[i] = (int)arrays[i].count;
        formats[i] = 1;
    }
    PQclear(expect(connection, PQexecPrepared(connection, "many", columns, values, lengths, formats, 1),
                   columns == 9 ? PGRES_TUPLES_OK : PGRES_COMMAND_OK));
}

static void batches(const char *how, const char *where, pid_t server, const char *data, long from, long count, long batch) {
    const char *records = map_records(data, from, count);
    uint64_t *latencies = calloc((size_t)(count / batch + 1), sizeof *latencies);
    buffer buffers[9] = {0};
    int columns = strcmp(how, "project") == 0 ? 9 : 8;
    long done = 0, calls = 0;
    PGconn *connection = connect_to(where);
    if (strcmp(how, "copy") != 0)
        PQclear(expect(connection, PQprepare(connection, "many", columns == 9 ? insert_and_project : insert_many, columns, NULL),
                       PGRES_COMMAND_OK));
    stretch s = begin(server);
    for (; done < count; calls++) {
        long size = count - done < batch ? count - done : batch;
        uint64_t start = now(CLOCK_MONOTONIC);
        if (strcmp(how, "copy") == 0) copy_batch(connection, records + done * RECORD, from + done, size, buffers);
        else insert_batch(connection, records + done * RECORD, from + done, size, buffers, columns);
        latencies[calls] = now(CLOCK_MONOTONIC) - start;
        done += size;
    }
    end(&s, count);
    report_latencies("", latencies, calls);
}

/* ---- reading ---- */

static void history(const char *where, pid_t server, long queries) {
    PGconn *connection = connect_to(where);
    uint64_t *latencies = calloc((size_t)queries, sizeof *latencies), random = 6;
    long rows = 0;
    stretch s = begin(server);
    PQclear(expect(connection, PQprepare(connection, "history",
        "SELECT * FROM event WHERE \"user\" = $1::integer ORDER BY time DESC, position DESC LIMIT 50", 1, NULL),
        PGRES_COMMAND_OK));
    /* Once more before the clock starts: caches are warm for everyone. */
    for (long i = -queries; i < queries; i++) {
        if (i == 0) {
            s = begin(server);
            random = 5;
            rows = 0;
        }
        uint32_t user = htobe32((uint32_t)(next_random(&random) % ACTIVE_USERS));
        const char *values[] = {(char *)&user};
        const int lengths[] = {4}, formats[] = {1};
        uint64_t start = now(CLOCK_MONOTONIC);
        PGresult *result = PQexecPrepared(connection, "history", 1, values, lengths, formats, 1);
        latencies[i < 0 ? 0 : i] = now(CLOCK_MONOTONIC) - start;
        rows += PQntuples(expect(connection, result, PGRES_TUPLES_OK));
        PQclear(result);
    }
    end(&s, queries);
    report("rows", (double)rows / (double)queries);
    report_latencies("", latencies, queries);
}

static void scan(const char *where, pid_t server) {
    PGconn *connection = connect_to(where);
    long rows = -1;  /* the trailer */
    char *bytes;
    int length;
    stretch s = begin(server);
    PQclear(expect(connection, PQexec(connection,
        "COPY (SELECT * FROM event ORDER BY position) TO STDOUT (FORMAT binary)"), PGRES_COPY_OUT));
    while ((length = PQgetCopyData(connection, &bytes, 0)) > 0) {
        rows++;
        PQfreemem(bytes);
    }
    if (length != -1) fail("postgres: %s", PQerrorMessage(connection));
    end(&s, rows);
    report("rows", (double)rows);
}

/* ---- two servers ---- */

/* A trigger on the subscriber tells of the commit that made the row visible: nobody has to poll. */
static void live(const char *from_where, const char *to_where, const char *data, long from, long count) {
    const char *records = map_records(data, from, count);
    uint64_t *latencies = calloc((size_t)count, sizeof *latencies), *acknowledged = calloc((size_t)count, sizeof *latencies);
    PGconn *writer = prepare_one(from_where), *reader = connect_to(to_where);
    execute(reader, "LISTEN arrived");
    for (long i = 0; i < count; i++) {
        uint64_t start = now(CLOCK_MONOTONIC);
        send_insert(writer, records + i * RECORD, from + i);
        acknowledged[i] = now(CLOCK_MONOTONIC) - start;
        for (int seen = 0; !seen;) {
            for (PGnotify *n; (n = PQnotifies(reader)); PQfreemem(n)) seen |= atol(n->extra) == from + i + 1;
            if (seen) break;
            fd_set set;
            FD_ZERO(&set);
            FD_SET(PQsocket(reader), &set);
            struct timeval patience = {20, 0};
            if (select(PQsocket(reader) + 1, &set, NULL, NULL, &patience) <= 0) fail("postgres: event %ld never arrived", i);
            if (!PQconsumeInput(reader)) fail("postgres: %s", PQerrorMessage(reader));
        }
        latencies[i] = now(CLOCK_MONOTONIC) - start;
        usleep(1000);
    }
    report_latencies("ack_", acknowledged, count);
    report_latencies("", latencies, count);
}

int main(int count, char **words) {
    if (count == 8 && strcmp(words[1], "clients") == 0)
        clients(words[2], atoi(words[3]), words[4], atol(words[5]), atol(words[6]), atoi(words[7]));
    else if (count == 8 && (strcmp(words[1], "copy") == 0 || strcmp(words[1], "insert") == 0 || strcmp(words[1], "project") == 0))
        batches(words[1], words[2], atoi(words[3]), words[4], atol(words[5]), atol(words[6]), atol(words[7]));
    else if (count == 5 && strcmp(words[1], "history") == 0) history(words[2], atoi(words[3]), atol(words[4]));
    else if (count == 4 && strcmp(words[1], "scan") == 0) scan(words[2], atoi(words[3]));
    else if (count == 7 && strcmp(words[1], "live") == 0) live(words[2], words[3], words[4], atol(words[5]), atol(words[6]));
    else fail("postgres driver: see the head of driver.c");
    return 0;
}
