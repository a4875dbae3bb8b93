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
#include "postgres.h"

static void execute(PGconn *connection, const char *sql) {
    PQclear(expect(connection, PQexec(connection, sql), PGRES_COMMAND_OK));
}

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
