/* Many events in one commit: COPY, INSERT, and INSERT with the views. */
#include "postgres.h"

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
    " t AS (INSERT INTO timeline SELECT conversation, time, hlc, position, CASE WHEN type = 1 THEN \"user\" END FROM e),"
    " c AS (INSERT INTO conversation AS c"
    "  SELECT conversation, count(*), count(*) FILTER (WHERE type = 1), min(time), max(time) FROM e"
    "  GROUP BY conversation ON CONFLICT (conversation) DO UPDATE SET events = c.events + excluded.events,"
    "  messages = c.messages + excluded.messages, first_time = least(c.first_time, excluded.first_time),"
    "  last_time = greatest(c.last_time, excluded.last_time)),"
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

void batches(const char *how, const char *where, pid_t server, const char *data, long from, long count, long batch) {
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
