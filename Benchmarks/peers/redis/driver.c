/* Redis Streams through hiredis: an event is one entry with one field, its header packed before the payload (twenty fields
 * would halve Redis' rate).
 *
 *   driver clients SOCKET SERVER DATA FROM COUNT CLIENTS    XADD, one at a time, on as many connections
 *   driver batches SOCKET SERVER DATA FROM COUNT BATCH      XADD, BATCH in one pipeline, one client
 *   driver scan    SOCKET SERVER                            every entry in order, XRANGE of 1,000
 *   driver live    SOCKET SOCKET DATA FROM COUNT            XADD on the one until XREAD returns it on the other
 *
 * SOCKET is the path of the Unix socket, SERVER the server's pid. */
#include "../../common/bench.h"
#include <endian.h>
#include <hiredis/hiredis.h>

enum { PACKED = 16 + 1 + 4 + 4 + PAYLOAD };

static redisContext *connect_to(const char *path) {
    redisContext *c = redisConnectUnix(path);
    if (!c || c->err) fail("redis: %s", c ? c->errstr : "no memory");
    return c;
}

static redisReply *checked(redisContext *c, void *answer) {
    redisReply *reply = answer;
    if (!reply) fail("redis: %s", c->errstr);
    if (reply->type == REDIS_REPLY_ERROR) fail("redis: %s", reply->str);
    return reply;
}

static void pack(const char *record, char *packed) {
    uint32_t user = htobe32((uint32_t)name_number(record_user(record)));
    uint32_t conversation = htobe32((uint32_t)name_number(record_conversation(record)));
    uuid_bytes(record, (unsigned char *)packed);
    packed[16] = (char)record_kind(record);
    memcpy(packed + 17, &user, 4);
    memcpy(packed + 21, &conversation, 4);
    memcpy(packed + 25, record_payload(record), PAYLOAD);
}

static void append_command(redisContext *c, const char *record) {
    char packed[PACKED];
    pack(record, packed);
    const char *words[] = {"XADD", "events", "*", "e", packed};
    const size_t lengths[] = {4, 6, 1, 1, PACKED};
    if (redisAppendCommandArgv(c, 5, words, lengths) != REDIS_OK) fail("redis: %s", c->errstr);
}

static void take_reply(redisContext *c) {
    void *reply = NULL;
    if (redisGetReply(c, &reply) != REDIS_OK) fail("redis: %s", c->errstr);
    freeReplyObject(checked(c, reply));
}

static void send_entry(void *connection, const char *record, long number) {
    (void)number;
    append_command(connection, record);
    take_reply(connection);
}

static void clients(const char *where, pid_t server, const char *data, long from, long count, int number) {
    const char *records = map_records(data, from, count);
    void *connections[256];
    if (number > 256) fail("256 clients at most");
    for (int i = 0; i < number; i++) connections[i] = connect_to(where);
    run_clients(send_entry, connections, number, records, from, count, server);
}

static void batches(const char *where, pid_t server, const char *data, long from, long count, long batch) {
    const char *records = map_records(data, from, count);
    uint64_t *latencies = calloc((size_t)(count / batch + 1), sizeof *latencies);
    redisContext *c = connect_to(where);
    long calls = 0;
    stretch s = begin(server);
    for (long done = 0; done < count; calls++) {
        long size = count - done < batch ? count - done : batch;
        uint64_t start = now(CLOCK_MONOTONIC);
        for (long i = 0; i < size; i++) append_command(c, records + (done + i) * RECORD);
        for (long i = 0; i < size; i++) take_reply(c);
        latencies[calls] = now(CLOCK_MONOTONIC) - start;
        done += size;
    }
    end(&s, count);
    report_latencies("", latencies, calls);
}

static void scan(const char *where, pid_t server) {
    redisContext *c = connect_to(where);
    char next[64] = "-";
    long rows = 0, bytes = 0;
    stretch s = begin(server);
    for (;;) {
        redisReply *page = checked(c, redisCommand(c, "XRANGE events %s + COUNT 1000", next));
        if (page->elements == 0) break;
        rows += (long)page->elements;
        for (size_t i = 0; i < page->elements; i++) bytes += page->element[i]->element[1]->element[1]->len;
        snprintf(next, sizeof next, "(%s", page->element[page->elements - 1]->element[0]->str);
        freeReplyObject(page);
    }
    end(&s, rows);
    report("rows", (double)rows);
    if (bytes != rows * PACKED) fail("redis: %ld bytes of %ld entries", bytes, rows);
}

static void live(const char *from_where, const char *to_where, const char *data, long from, long count) {
    const char *records = map_records(data, from, count);
    uint64_t *latencies = calloc((size_t)count, sizeof *latencies), *acknowledged = calloc((size_t)count, sizeof *latencies);
    redisContext *writer = connect_to(from_where), *reader = connect_to(to_where);
    for (long i = 0; i < count; i++) {
        /* The reader waits before the writer writes. */
        if (redisAppendCommand(reader, "XREAD BLOCK 20000 STREAMS events $") != REDIS_OK) fail("redis: %s", reader->errstr);
        for (int done = 0; !done;) redisBufferWrite(reader, &done);
        usleep(1000);
        uint64_t start = now(CLOCK_MONOTONIC);
        send_entry(writer, records + i * RECORD, from + i);
        acknowledged[i] = now(CLOCK_MONOTONIC) - start;
        void *reply = NULL;
        if (redisGetReply(reader, &reply) != REDIS_OK) fail("redis: %s", reader->errstr);
        latencies[i] = now(CLOCK_MONOTONIC) - start;
        if (checked(reader, reply)->type != REDIS_REPLY_ARRAY) fail("redis: event %ld never arrived", i);
        freeReplyObject(reply);
    }
    report_latencies("ack_", acknowledged, count);
    report_latencies("", latencies, count);
}

int main(int count, char **words) {
    if (count == 8 && strcmp(words[1], "clients") == 0)
        clients(words[2], atoi(words[3]), words[4], atol(words[5]), atol(words[6]), atoi(words[7]));
    else if (count == 8 && strcmp(words[1], "batches") == 0)
        batches(words[2], atoi(words[3]), words[4], atol(words[5]), atol(words[6]), atol(words[7]));
    else if (count == 4 && strcmp(words[1], "scan") == 0) scan(words[2], atoi(words[3]));
    else if (count == 7 && strcmp(words[1], "live") == 0) live(words[2], words[3], words[4], atol(words[5]), atol(words[6]));
    else fail("redis driver: see the head of driver.c");
    return 0;
}
