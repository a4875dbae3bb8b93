/* The log behind a Unix socket: requests of HTTP's form, each answered as syncd does when its record is committed. One thread waits in
 * poll(2), reads all that has come, commits it together, and answers: what that costs beside the commit is what processes cost that
 * wake each other. Of a request it reads no more than its length; the records are its own. It may compute for some microseconds before it commits
 * each, as those do who check what they are given. */
#include "floor.h"
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { REQUEST = 4096, CLIENTS = 256 };

typedef struct {
    char bytes[REQUEST];
    size_t have;
} connection;

/* Whether all of a request is there. */
static int is_whole(connection *c) {
    c->bytes[c->have] = 0;
    char *body = strstr(c->bytes, "\r\n\r\n"), *field = strcasestr(c->bytes, "content-length:");
    return body && field && c->have >= (size_t)(body + 4 - c->bytes) + strtoul(field + 15, NULL, 10);
}

static void answer(int client, const char *record, const entry *stored) {
    char body[512], whole[1024];
    int length = snprintf(body, sizeof body,
        "{\"type\":\"appended\",\"v\":1,\"line\":1,\"position\":\"%lld\",\"id\":\"%.*s\",\"origin\":\"%.*s\",\"sequence\":\"%lld\","
        "\"hlc\":\"%lld\"}\n", (long long)stored->position, ID, record, ID, record, (long long)stored->position,
        (long long)stored->hlc);
    int count = snprintf(whole, sizeof whole,
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nContent-Length: %d\r\n\r\n%s", length, body);
    if (send(client, whole, (size_t)count, MSG_NOSIGNAL) != count) fail("floor: the client does not read");
}

/* The places in `all` of those whose request has come; of all others nothing is whole. The first place is the listener. */
static int gather(struct pollfd *all, connection *of, int *places, int *open) {
    int count = 0;
    if (poll(all, (nfds_t)*open, -1) < 0) fail("poll: %s", strerror(errno));
    for (int i = *open - 1; i > 0; i--) {
        if (!all[i].revents) continue;
        ssize_t came = read(all[i].fd, of[i].bytes + of[i].have, REQUEST - 1 - of[i].have);
        if (came <= 0) {
            /* Its neighbour was looked at already, and is moved with what it has. */
            close(all[i].fd);
            for (int k = 0; k < count; k++) if (places[k] == *open - 1) places[k] = i;
            all[i] = all[--*open];
            of[i] = of[*open];
            continue;
        }
        of[i].have += (size_t)came;
        if (is_whole(&of[i])) places[count++] = i;
    }
    if (all[0].revents && *open <= CLIENTS) {
        all[*open] = (struct pollfd){.fd = accept(all[0].fd, NULL, NULL), .events = POLLIN};
        if (all[*open].fd < 0) fail("accept: %s", strerror(errno));
        of[(*open)++].have = 0;
    }
    return count;
}

static void compute(long nanoseconds) {
    uint64_t end = now(CLOCK_MONOTONIC) + (uint64_t)nanoseconds;
    while (now(CLOCK_MONOTONIC) < end) {}
}

/* Serves until there are no more records, and never returns. */
void serve(const char *path, const char *records, long count, long microseconds) {
    static struct pollfd all[CLIENTS + 1];
    static connection of[CLIENTS + 1];
    static entry stored[CLIENTS];
    int places[CLIENTS], open = 1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    all[0] = (struct pollfd){.fd = socket(AF_UNIX, SOCK_STREAM, 0), .events = POLLIN};
    if (strlen(path) >= sizeof address.sun_path) fail("%s is too long for a socket", path);
    strcpy(address.sun_path, path);
    if (bind(all[0].fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(all[0].fd, CLIENTS) != 0)
        fail("%s: %s", path, strerror(errno));
    for (long done = 0;;) {
        int ready = gather(all, of, places, &open);
        if (ready == 0) continue;
        if (done + ready > count) fail("floor: more requests than records");
        if (microseconds) compute(ready * microseconds * 1000);
        log_append(records + done * RECORD, ready, stored);
        done += ready;
        for (int i = 0; i < ready; i++) {
            of[places[i]].have = 0;
            answer(all[places[i]].fd, stored[i].record, &stored[i]);
        }
    }
}
