/* SPDX-License-Identifier: Apache-2.0 */
/* A server's place at a tracker of TVM's protocol. */
#define _GNU_SOURCE
#include "tracker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/clock.h"
#include "../common/error.h"
#include "../common/json.h"
#include "link.h"

enum
{
    kMagic = 0x2F271,
    kPeriodMs = 2000, /* of looking after the offer */
    kMostMissed = 4,  /* looks until an offer that nobody used is made anew */
    kFirstWaitMs = 500,
    kMostWaitMs = 8000,
    kPatienceS = 3, /* for a connection, and for a whole answer */
    kMostAnswer = 1 << 20,
    kMostRequest = 1024
};

static uint64_t random_bits(void)
{
    uint64_t bits = 0;
    while (getrandom(&bits, sizeof bits, 0) != sizeof bits) {} /* interrupted; so few bytes come */
    return bits;
}

int tenon_tracker_start(tenon_tracker* tracker, const char* address, const char* key)
{
    char host[INET_ADDRSTRLEN];
    const char* colon = strrchr(address, ':');
    size_t length = colon ? (size_t)(colon - address) : 0;
    char* end = NULL;
    long number = colon ? strtol(colon + 1, &end, 10) : 0;
    *tracker = (tenon_tracker){.place = address, .key = key, .fd = -1};
    if (length >= sizeof host || number < 1 || number > 65535 || *end)
        return tenon_fail("`%s` is no tracker; write ADDRESS:PORT", address);
    memcpy(host, address, length);
    host[length] = 0;
    tracker->address.sin_family = AF_INET;
    tracker->address.sin_port = htons((uint16_t)number);
    if (inet_pton(AF_INET, host, &tracker->address.sin_addr) != 1)
        return tenon_fail("`%s` is no numeric address of a tracker", host);
    size_t size = strlen(key);
    if (size == 0 || size > kTenonMostKey)
        return tenon_fail("a tracker wants a key of 1 to %d characters", kTenonMostKey);
    for (size_t i = 0; i < size; ++i)
        if (key[i] <= ' ' || key[i] > '~' || key[i] == '"' || key[i] == '\\')
            return tenon_fail("the key `%s` has blanks, quotes or other than ASCII characters",
                              key);
    return 0;
}

/* Half of `ms` to all of it: what failed together does not come back together. */
static int jittered(int ms) { return ms / 2 + (int)(random_bits() % (uint64_t)(ms / 2)); }

static void give_up(tenon_tracker* tracker)
{
    if (!tracker->has_failed)
        fprintf(stderr, "tenon-rpc-server: tracker %s: %s; trying again\n", tracker->place,
                TVMGetLastError());
    if (tracker->fd >= 0) close(tracker->fd);
    tracker->fd = -1;
    tracker->has_failed = true;
    tracker->is_offered = false;
    tracker->knows_leases = false;
    tracker->wait_ms = tracker->wait_ms * 2 < kMostWaitMs ? tracker->wait_ms * 2 : kMostWaitMs;
    if (tracker->wait_ms < kFirstWaitMs) tracker->wait_ms = kFirstWaitMs;
    tracker->next_ns = tenon_clock_ns() + jittered(tracker->wait_ms) * INT64_C(1000000);
}

static int64_t answer_end_ns(void) { return tenon_clock_ns() + kPatienceS * INT64_C(1000000000); }

/* One message and its answer, a text in the arena; NULL when the tracker does not answer. */
static char* ask(tenon_tracker* tracker, tenon_arena* arena, const char* message)
{
    uint8_t header[4];
    const int64_t end_ns = answer_end_ns();
    tenon_writer writer = tenon_writer_of(kMostRequest);
    tenon_write_i32(&writer, (int32_t)strlen(message));
    tenon_write_bytes(&writer, message, strlen(message));
    int status = writer.failed ? -1 : tenon_link_write(tracker->fd, writer.data, writer.size);
    tenon_writer_free(&writer);
    if (status != 0 || tenon_link_read_until(tracker->fd, header, sizeof header, end_ns) != 0)
        return NULL;
    tenon_reader reader = tenon_reader_of(header, sizeof header);
    int32_t size = tenon_read_i32(&reader);
    char* text =
        size < 0 || size > kMostAnswer ? NULL : tenon_arena_alloc(arena, (size_t)size + 1, 1);
    if (!text) {
        tenon_fail("its answer is of impossible length");
        return NULL;
    }
    text[size] = 0;
    return tenon_link_read_until(tracker->fd, text, (size_t)size, end_ns) == 0 ? text : NULL;
}

/* The whole number that the answer is; -1 for anything else. */
static int64_t ask_number(tenon_tracker* tracker, const char* message)
{
    tenon_arena arena = {NULL};
    const char* text = ask(tracker, &arena, message);
    int64_t number = -1;
    if (text) {
        tenon_json json = tenon_json_of(text, strlen(text), &arena);
        number = tenon_json_integer(&json);
        if (json.failed || !tenon_json_at_end(&json)) number = -1;
        if (number < 0) tenon_fail("it refuses this server: %.200s", text);
    }
    tenon_arena_free(&arena);
    return number;
}

static int exchange_magic(tenon_tracker* tracker)
{
    uint8_t bytes[4];
    tenon_writer writer = tenon_writer_of(sizeof bytes);
    tenon_write_i32(&writer, kMagic);
    int status = tenon_link_write(tracker->fd, writer.data, writer.size);
    tenon_writer_free(&writer);
    if (status != 0 ||
        tenon_link_read_until(tracker->fd, bytes, sizeof bytes, answer_end_ns()) != 0)
        return -1;
    tenon_reader reader = tenon_reader_of(bytes, sizeof bytes);
    return tenon_read_i32(&reader) == kMagic ? 0 : tenon_fail("what answers is no tracker");
}

static int connect_to(tenon_tracker* tracker)
{
    int yes = 1;
    char message[kMostRequest];
    const struct timeval patience = {.tv_sec = kPatienceS};
    tracker->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (tracker->fd < 0) return tenon_fail("no socket: %s", strerror(errno));
    setsockopt(tracker->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    setsockopt(tracker->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(tracker->fd, (struct sockaddr*)&tracker->address, sizeof tracker->address) != 0)
        return tenon_fail("%s", strerror(errno));
    if (exchange_magic(tracker) != 0) return -1;
    snprintf(message, sizeof message, "[5, {\"key\": \"server:%s\", \"addr\": [null, %d]}]",
             tracker->key, tracker->port);
    if (ask_number(tracker, message) != 0) return -1;
    tracker->has_failed = false;
    tracker->is_new = true;
    tracker->wait_ms = 0;
    return 0;
}

/* The fifth element tells a tracker of Tenon that leases are understood, the sixth that this server
 * is the one that made the offer before; TVM's does not look. */
static int put_offer(tenon_tracker* tracker)
{
    char message[kMostRequest];
    char before[kTenonMatchKeyCapacity];
    memcpy(before, tracker->match_key, sizeof before);
    snprintf(tracker->match_key, sizeof tracker->match_key, "%s:0.%020llu%020llu", tracker->key,
             (unsigned long long)random_bits(), (unsigned long long)random_bits());
    snprintf(message, sizeof message, "[3, \"%s\", [%d, \"%s\"], null, \"leases\", \"%s\"]",
             tracker->key, tracker->port, tracker->match_key, before);
    int64_t answer = ask_number(tracker, message);
    if (answer < 0) return -1;
    tracker->knows_leases = answer == 1;
    tracker->is_offered = true;
    tracker->is_spent = false;
    tracker->missed = 0;
    return 0;
}

/* 1 when the tracker still has the offer, 0 when a client got it, -1 when it does not answer. */
static int is_pending(tenon_tracker* tracker)
{
    tenon_arena arena = {NULL};
    const char* text = ask(tracker, &arena, "[7]");
    int status = text ? 0 : -1;
    if (text) {
        tenon_json json = tenon_json_of(text, strlen(text), &arena);
        tenon_json_open_array(&json);
        while (tenon_json_next_item(&json)) {
            const char* key = tenon_json_string(&json);
            if (key && strcmp(key, tracker->match_key) == 0) status = 1;
        }
        if (json.failed) status = -1;
    }
    tenon_arena_free(&arena);
    return status;
}

/* 1 when the client that was given this server is gone, 0 when not, -1 without an answer. */
static int is_lease_over(tenon_tracker* tracker)
{
    char message[kMostRequest];
    if (!tracker->knows_leases) return 0;
    snprintf(message, sizeof message, "[100, \"%s\"]", tracker->match_key);
    int64_t answer = ask_number(tracker, message);
    return answer < 0 ? -1 : answer == 1;
}

static int look_after_offer(tenon_tracker* tracker)
{
    if (tracker->fd < 0 && connect_to(tracker) != 0) return -1;
    if (!tracker->is_offered) return put_offer(tracker);
    int pending = is_pending(tracker);
    if (pending < 0) return -1;
    tracker->missed = pending ? 0 : tracker->missed + 1;
    if (tracker->missed == 0) return 0;
    int is_over = is_lease_over(tracker);
    if (is_over < 0) return -1;
    return is_over || tracker->missed >= kMostMissed ? put_offer(tracker) : 0;
}

static int milliseconds_left(const tenon_tracker* tracker)
{
    int64_t left = tracker->next_ns - tenon_clock_ns();
    return left > 0 ? (int)(left / 1000000) + 1 : 0;
}

int tenon_tracker_offer(tenon_tracker* tracker)
{
    if (milliseconds_left(tracker) == 0) {
        tracker->next_ns = tenon_clock_ns() + kPeriodMs * INT64_C(1000000);
        if (look_after_offer(tracker) != 0) give_up(tracker);
    }
    if (tracker->is_offered && tracker->is_new) {
        tracker->is_new = false;
        printf("offered to %s as `%s`\n", tracker->place, tracker->key);
        fflush(stdout);
    }
    return milliseconds_left(tracker);
}

bool tenon_tracker_holds(tenon_tracker* tracker)
{
    if (milliseconds_left(tracker) > 0) return true;
    tracker->next_ns = tenon_clock_ns() + kPeriodMs * INT64_C(1000000);
    if (tracker->fd < 0 && connect_to(tracker) != 0) {
        give_up(tracker);
        return true; /* a tracker that is gone leaves the session alone */
    }
    int is_over = is_lease_over(tracker);
    if (is_over < 0) give_up(tracker);
    return is_over <= 0;
}

const char* tenon_tracker_key(const tenon_tracker* tracker)
{
    return tracker->match_key[0] && !tracker->is_spent ? tracker->match_key : NULL;
}

void tenon_tracker_spend(tenon_tracker* tracker) { tracker->is_spent = true; }

void tenon_tracker_served(tenon_tracker* tracker)
{
    tracker->is_offered = false;
    if (tracker->fd >= 0) tracker->next_ns = 0; /* the next offer is due at once */
}
