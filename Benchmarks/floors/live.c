/* The floor under live replication: two processes with a log each and a TCP connection over loopback between them, without
 * TLS, signatures and views. The one commits a record, then sends it; the other commits it, and is asked when. */
#include "floor.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* So many come before the clock starts: both logs have their room then, as those of daemons that have run for a while. After
 * so many both copy their WAL back, which no event waits for, and which may take so many microseconds. */
enum { EARLIER = 500, COPIED = 100, COPYING = 30000 };

static int listen_anywhere(struct sockaddr_in *address) {
    socklen_t length = sizeof *address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (listener < 0 || bind(listener, (struct sockaddr *)address, length) != 0 || listen(listener, 1) != 0
        || getsockname(listener, (struct sockaddr *)address, &length) != 0) fail("floor: %s", strerror(errno));
    return listener;
}

static void send_soon(int line) {
    int one = 1;
    setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static int receive(int line, void *bytes, size_t count) { return recv(line, bytes, count, MSG_WAITALL) == (ssize_t)count; }

static void transmit(int line, const void *bytes, size_t count) {
    if (send(line, bytes, count, MSG_NOSIGNAL) != (ssize_t)count) fail("floor: the other side is gone");
}

/* Commits what comes, and answers with the time when it had: both processes have one clock. */
static void follow(int line, const char *path) {
    char record[RECORD];
    log_open(path);
    log_keep_wal();
    for (long count = 1; receive(line, record, sizeof record); count++) {
        log_append(record, 1, NULL);
        uint64_t visible = now(CLOCK_MONOTONIC);
        transmit(line, &visible, sizeof visible);
        if (count % COPIED == 0) log_copy_back();
    }
}

/* Early: sent before it is committed here. Both may have it when this one says so; if the power goes first, only the other. */
static void lead(int line, const char *path, const char *records, long count, int early) {
    uint64_t *latencies = calloc((size_t)count, sizeof *latencies), *acknowledged = calloc((size_t)count, sizeof *latencies);
    log_open(path);
    log_keep_wal();
    for (long i = -EARLIER; i < count; i++) {
        const char *record = records + (EARLIER + i) * RECORD;
        uint64_t start = now(CLOCK_MONOTONIC), visible;
        if (early) transmit(line, record, RECORD);
        log_append(record, 1, NULL);
        uint64_t committed = now(CLOCK_MONOTONIC);
        if (!early) transmit(line, record, RECORD);
        if (!receive(line, &visible, sizeof visible)) fail("floor: event %ld never arrived", i);
        if (visible < committed) visible = committed;
        if (i >= 0) {
            acknowledged[i] = committed - start;
            latencies[i] = visible - start;
        }
        usleep(1000);
        if ((EARLIER + i + 1) % COPIED == 0) {
            log_copy_back();
            usleep(COPYING);
        }
    }
    report_latencies("ack_", acknowledged, count);
    report_latencies("", latencies, count);
}

void live(const char *path, const char *other, const char *data, long from, long count, int early) {
    const char *records = map_records(data, from, EARLIER + count);
    struct sockaddr_in address;
    int listener = listen_anywhere(&address), status = 0;
    /* Before a database is open: SQLite's handles do not outlive a fork. */
    pid_t child = fork();
    if (child < 0) fail("fork: %s", strerror(errno));
    int line = child ? accept(listener, NULL, NULL) : socket(AF_INET, SOCK_STREAM, 0);
    if (line < 0 || (!child && connect(line, (struct sockaddr *)&address, sizeof address) != 0))
        fail("floor: %s", strerror(errno));
    send_soon(line);
    if (!child) {
        follow(line, other);
        _exit(0);
    }
    lead(line, path, records, count, early);
    close(line);
    if (waitpid(child, &status, 0) != child || status != 0) fail("floor: the other side failed");
}
