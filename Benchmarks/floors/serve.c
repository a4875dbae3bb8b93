/* The log behind a Unix socket: one thread that reads a request of HTTP's form, commits the next record, and answers as syncd
 * does. It reads no more of a request than its length, and waits for the next one in poll(2), as those do who serve many (in read(2) it would
 * be woken later): what that costs beside the commit is what two processes cost that wake each other. */
#include "floor.h"
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { REQUEST = 1 << 16 };

/* Reads one request; 0 if the client has gone. */
static int read_request(int client) {
    static char request[REQUEST];
    size_t have = 0, whole = 0;
    while (!whole || have < whole) {
        struct pollfd coming = {.fd = client, .events = POLLIN};
        if (poll(&coming, 1, -1) < 0) fail("poll: %s", strerror(errno));
        ssize_t count = read(client, request + have, sizeof request - 1 - have);
        if (count <= 0) return 0;
        request[have += (size_t)count] = 0;
        char *body = strstr(request, "\r\n\r\n"), *field = strcasestr(request, "content-length:");
        if (body && field) whole = (size_t)(body + 4 - request) + strtoul(field + 15, NULL, 10);
    }
    return 1;
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

/* Serves one client after another, and never returns. */
void serve(const char *path, const char *records, long count) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (strlen(path) >= sizeof address.sun_path) fail("%s is too long for a socket", path);
    strcpy(address.sun_path, path);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 1) != 0)
        fail("%s: %s", path, strerror(errno));
    for (long done = 0;;) {
        int client = accept(listener, NULL, NULL);
        if (client < 0) fail("accept: %s", strerror(errno));
        for (; done < count && read_request(client); done++) {
            entry stored;
            log_append(records + done * RECORD, 1, &stored);
            answer(client, stored.record, &stored);
        }
        close(client);
    }
}
