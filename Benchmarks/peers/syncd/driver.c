/* syncd through its HTTP API on the Unix socket: HTTP/1.1 with keep-alive, one native line in a request.
 *
 *   driver clients SOCKET SERVER DATA FROM COUNT CLIENTS    one event in a request, on as many connections
 *   driver batches SOCKET SERVER DATA FROM COUNT BATCH      BATCH events in a request, one client
 *
 * SERVER is the daemon's pid. The answer's first line must say that the event was appended. */
#include "../../common/bench.h"
#include <sys/socket.h>
#include <sys/un.h>

typedef struct { int socket; char *request, *body, *answer; size_t capacity; } connection;

static void *connect_to(const char *path, long batch) {
    connection *c = calloc(1, sizeof *c);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) fail("%s is too long for a socket", path);
    strcpy(address.sun_path, path);
    c->socket = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(c->socket, (struct sockaddr *)&address, sizeof address) != 0) fail("%s: %s", path, strerror(errno));
    c->capacity = (size_t)batch * 1024 + 4096;
    c->request = malloc(c->capacity);
    c->body = malloc(c->capacity);
    c->answer = malloc(c->capacity);
    return c;
}

static size_t native_line(char *out, const char *record) {
    return (size_t)sprintf(out,
        "{\"id\":\"%.*s\",\"type\":\"%s\",\"user\":\"%.*s\",\"subject\":\"conversation/%.*s\",\"data\":%.*s}\n", ID, record,
        record_type(record), NAME, record_user(record), NAME, record_conversation(record), PAYLOAD, record_payload(record));
}

static void write_all(int socket, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(socket, bytes, count);
        if (written <= 0) fail("syncd: %s", strerror(errno));
        bytes += written;
        count -= (size_t)written;
    }
}

/* Reads one answer and returns how many events it says were appended. */
static long read_answer(connection *c) {
    size_t have = 0;
    char *body = NULL;
    size_t length = 0;
    while (!body || have < (size_t)(body - c->answer) + length) {
        ssize_t count = read(c->socket, c->answer + have, c->capacity - 1 - have);
        if (count <= 0) fail("syncd hung up");
        have += (size_t)count;
        c->answer[have] = 0;
        if (body || !(body = strstr(c->answer, "\r\n\r\n"))) continue;
        body += 4;
        if (strncmp(c->answer, "HTTP/1.1 200", 12) != 0) fail("syncd: %s", c->answer);
        char *field = strcasestr(c->answer, "content-length:");
        if (!field || field > body) fail("syncd: no length in %s", c->answer);
        length = strtoul(field + 15, NULL, 10);
        if ((size_t)(body - c->answer) + length >= c->capacity) fail("syncd: the answer is too long");
    }
    long appended = 0;
    for (char *at = body; (at = strstr(at, "\"type\":\"appended\"")); at++) appended++;
    return appended;
}

static void send_lines(connection *c, const char *records, long count) {
    size_t body = 0;
    for (long i = 0; i < count; i++) body += native_line(c->body + body, records + i * RECORD);
    size_t head = (size_t)sprintf(c->request, "POST /v1/events HTTP/1.1\r\nHost: syncd\r\nContent-Length: %zu\r\n\r\n", body);
    memcpy(c->request + head, c->body, body);
    write_all(c->socket, c->request, head + body);
    if (read_answer(c) != count) fail("syncd: not all appended: %.300s", c->answer);
}

static void send_line(void *connection, const char *record, long number) {
    (void)number;
    send_lines(connection, record, 1);
}

static void clients(const char *where, pid_t server, const char *data, long from, long count, int number) {
    const char *records = map_records(data, from, count);
    void *connections[256];
    if (number > 256) fail("256 clients at most");
    for (int i = 0; i < number; i++) connections[i] = connect_to(where, 1);
    run_clients(send_line, connections, number, records, from, count, server);
}

static void batches(const char *where, pid_t server, const char *data, long from, long count, long batch) {
    const char *records = map_records(data, from, count);
    uint64_t *latencies = calloc((size_t)(count / batch + 1), sizeof *latencies);
    connection *c = connect_to(where, batch);
    long calls = 0;
    stretch s = begin(server);
    for (long done = 0; done < count; calls++) {
        long size = count - done < batch ? count - done : batch;
        uint64_t start = now(CLOCK_MONOTONIC);
        send_lines(c, records + done * RECORD, size);
        latencies[calls] = now(CLOCK_MONOTONIC) - start;
        done += size;
    }
    end(&s, count);
    report_latencies("", latencies, calls);
}

int main(int count, char **words) {
    if (count == 8 && strcmp(words[1], "clients") == 0)
        clients(words[2], atoi(words[3]), words[4], atol(words[5]), atol(words[6]), atoi(words[7]));
    else if (count == 8 && strcmp(words[1], "batches") == 0)
        batches(words[2], atoi(words[3]), words[4], atol(words[5]), atol(words[6]), atol(words[7]));
    else fail("syncd driver: see the head of driver.c");
    return 0;
}
