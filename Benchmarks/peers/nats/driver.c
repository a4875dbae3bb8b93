/* NATS JetStream, file storage, through its C client.
 *
 *   driver create  URL                                   the stream
 *   driver clients URL SERVER DATA FROM COUNT CLIENTS    publish, one at a time, on as many connections
 *   driver batches URL SERVER DATA FROM COUNT BATCH      BATCH published without waiting, then all acknowledged
 *
 * SERVER is the server's pid. */
#include "../../common/bench.h"
#include <nats/nats.h>

enum { PACKED = 16 + 1 + 2 * NAME + PAYLOAD };

typedef struct { natsConnection *connection; jsCtx *stream; } client_of;

static void checked(natsStatus status) {
    if (status != NATS_OK) fail("nats: %s", natsStatus_GetText(status));
}

static client_of *connect_to(const char *url) {
    client_of *c = calloc(1, sizeof *c);
    jsOptions options;
    checked(natsConnection_ConnectTo(&c->connection, url));
    checked(jsOptions_Init(&options));
    options.PublishAsync.MaxPending = 20000;
    checked(natsConnection_JetStream(&c->stream, c->connection, &options));
    return c;
}

static void create(const char *url) {
    jsStreamConfig configuration;
    const char *subjects[] = {"events"};
    jsErrCode code = 0;
    checked(jsStreamConfig_Init(&configuration));
    configuration.Name = "EVENTS";
    configuration.Subjects = subjects;
    configuration.SubjectsLen = 1;
    configuration.Storage = js_FileStorage;
    checked(js_AddStream(NULL, connect_to(url)->stream, &configuration, NULL, &code));
}

static void pack(const char *record, char *packed) {
    uuid_bytes(record, (unsigned char *)packed);
    packed[16] = (char)record_kind(record);
    memcpy(packed + 17, record_user(record), NAME);
    memcpy(packed + 17 + NAME, record_conversation(record), NAME);
    memcpy(packed + 17 + 2 * NAME, record_payload(record), PAYLOAD);
}

static void publish(void *connection, const char *record, long number) {
    char packed[PACKED];
    jsErrCode code = 0;
    (void)number;
    pack(record, packed);
    checked(js_Publish(NULL, ((client_of *)connection)->stream, "events", packed, PACKED, NULL, &code));
}

static void clients(const char *url, pid_t server, const char *data, long from, long count, int number) {
    const char *records = map_records(data, from, count);
    void *connections[256];
    if (number > 256) fail("256 clients at most");
    for (int i = 0; i < number; i++) connections[i] = connect_to(url);
    run_clients(publish, connections, number, records, from, count, server);
}

static void batches(const char *url, pid_t server, const char *data, long from, long count, long batch) {
    const char *records = map_records(data, from, count);
    uint64_t *latencies = calloc((size_t)(count / batch + 1), sizeof *latencies);
    client_of *c = connect_to(url);
    char packed[PACKED];
    long calls = 0;
    stretch s = begin(server);
    for (long done = 0; done < count; calls++) {
        long size = count - done < batch ? count - done : batch;
        uint64_t start = now(CLOCK_MONOTONIC);
        for (long i = 0; i < size; i++) {
            pack(records + (done + i) * RECORD, packed);
            checked(js_PublishAsync(c->stream, "events", packed, PACKED, NULL));
        }
        checked(js_PublishAsyncComplete(c->stream, NULL));
        latencies[calls] = now(CLOCK_MONOTONIC) - start;
        done += size;
    }
    end(&s, count);
    report_latencies("", latencies, calls);
}

int main(int count, char **words) {
    if (count == 3 && strcmp(words[1], "create") == 0) create(words[2]);
    else if (count == 8 && strcmp(words[1], "clients") == 0)
        clients(words[2], atoi(words[3]), words[4], atol(words[5]), atol(words[6]), atoi(words[7]));
    else if (count == 8 && strcmp(words[1], "batches") == 0)
        batches(words[2], atoi(words[3]), words[4], atol(words[5]), atol(words[6]), atol(words[7]));
    else fail("nats driver: see the head of driver.c");
    fflush(stdout);
    _exit(0);  /* The connections end with the process. */
}
