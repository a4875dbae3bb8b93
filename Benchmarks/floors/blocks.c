/* Rows of one owner in display order, packed as Sillok's views have them: the first row is the key, its speaker the first varint, and
 * each further one is the differences of time, of hlc - time * 65536, and of position to the row before, and its speaker if it has one. */
#include "floor.h"

enum { LIMIT = 480 };

static int put(unsigned char *to, uint64_t value) {
    int length = 0;
    for (; value >= 128; value >>= 7) to[length++] = (unsigned char)(value | 128);
    to[length++] = (unsigned char)value;
    return length;
}

static uint64_t get(const unsigned char **from) {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        unsigned char byte = *(*from)++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
}

static uint64_t zigzag(int64_t value) { return (uint64_t)value << 1 ^ (uint64_t)(value >> 63); }
static int64_t unzigzag(uint64_t value) { return (int64_t)(value >> 1) ^ -(int64_t)(value & 1); }
static int64_t ahead(row r) { return r.hlc - (r.time << 16); }

void block_begin(block *b, row first) {
    b->first = b->last = first;
    b->length = put(b->bytes, (uint64_t)first.speaker);
}

int block_append(block *b, row r) {
    unsigned char bytes[40];
    int length = put(bytes, (uint64_t)(r.time - b->last.time));
    length += put(bytes + length, zigzag(ahead(r) - ahead(b->last)));
    length += put(bytes + length, zigzag(r.position - b->last.position) << 1 | (r.speaker != 0));
    if (r.speaker) length += put(bytes + length, (uint64_t)r.speaker);
    if (b->length + length > LIMIT) return 0;
    memcpy(b->bytes + b->length, bytes, (size_t)length);
    b->length += length;
    b->last = r;
    return 1;
}

int block_rows(const block *b, row *rows) {
    const unsigned char *at = b->bytes, *end = b->bytes + b->length;
    row r = b->first;
    int count = 1;
    r.speaker = (int64_t)get(&at);
    rows[0] = r;
    while (at < end) {
        int64_t before = ahead(r);
        r.time += (int64_t)get(&at);
        r.hlc = before + unzigzag(get(&at)) + (r.time << 16);
        uint64_t distance = get(&at);
        r.position += unzigzag(distance >> 1);
        r.speaker = distance & 1 ? (int64_t)get(&at) : 0;
        rows[count++] = r;
    }
    return count;
}

void block_load(block *b, sqlite3_stmt *select) {
    row rows[ROWS];
    b->first = (row){sqlite3_column_int64(select, 0), sqlite3_column_int64(select, 1), sqlite3_column_int64(select, 2), 0};
    b->length = sqlite3_column_bytes(select, 3);
    memcpy(b->bytes, sqlite3_column_blob(select, 3), (size_t)b->length);
    b->last = rows[block_rows(b, rows) - 1];
}
