/* What the parts of the driver share: connections, and values in PostgreSQL's binary form. */
#ifndef POSTGRES_H
#define POSTGRES_H

#include "../../common/bench.h"
#include <endian.h>
#include <libpq-fe.h>

static inline PGconn *connect_to(const char *where) {
    PGconn *connection = PQconnectdb(where);
    if (PQstatus(connection) != CONNECTION_OK) fail("postgres: %s", PQerrorMessage(connection));
    return connection;
}

static inline PGresult *expect(PGconn *connection, PGresult *result, ExecStatusType status) {
    if (PQresultStatus(result) != status) fail("postgres: %s", PQerrorMessage(connection));
    return result;
}

static inline int type_number(const char *record) {
    switch (record_kind(record)) {
    case 'P': return 1;
    case 'E': return 2;
    case 'R': return 3;
    default: return 4;
    }
}

/* ---- values in binary form ---- */

typedef struct { char *bytes; size_t count, capacity; } buffer;

static inline void add(buffer *b, const void *bytes, size_t count) {
    if (b->count + count > b->capacity) {
        b->capacity = (b->count + count) * 2;
        b->bytes = realloc(b->bytes, b->capacity);
    }
    memcpy(b->bytes + b->count, bytes, count);
    b->count += count;
}
static inline void add16(buffer *b, int value) { uint16_t v = htobe16((uint16_t)value); add(b, &v, 2); }
static inline void add32(buffer *b, int64_t value) { uint32_t v = htobe32((uint32_t)value); add(b, &v, 4); }
static inline void add64(buffer *b, int64_t value) { uint64_t v = htobe64((uint64_t)value); add(b, &v, 8); }
static inline void field16(buffer *b, int value) { add32(b, 2); add16(b, value); }
static inline void field32(buffer *b, int value) { add32(b, 4); add32(b, value); }
static inline void field64(buffer *b, int64_t value) { add32(b, 8); add64(b, value); }
static inline void field_uuid(buffer *b, const char *text) {
    unsigned char bytes[16];
    if (!text) { add32(b, -1); return; }
    uuid_bytes(text, bytes);
    add32(b, 16);
    add(b, bytes, 16);
}

static inline int64_t milliseconds(void) { return (int64_t)(now(CLOCK_REALTIME) / 1000000); }
static inline int64_t hlc(int64_t time, long number) { return time << 16 | (number & 0xffff); }

/* `copy`, `insert` or `project` (batches.c). */
void batches(
    const char *how, const char *where, pid_t server, const char *data, long from, long count, long batch);

#endif
