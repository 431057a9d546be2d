/* SPDX-License-Identifier: Apache-2.0 */
/* Packets over a file descriptor, and serving a session on it. */
#include "link.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/clock.h"
#include "../common/error.h"

enum
{
    kReadStep = 1 << 20
};

int tenon_link_read_until(int fd, void* data, size_t size, int64_t end_ns)
{
    char* at = data;
    while (size > 0) {
        struct pollfd entry = {.fd = fd, .events = POLLIN};
        const int64_t left_ms = (end_ns - tenon_clock_ns()) / 1000000;
        if (left_ms <= 0) return tenon_fail("it takes too long to answer");
        const int ready = poll(&entry, 1, left_ms < INT_MAX ? (int)left_ms : INT_MAX);
        if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
        const ssize_t got = recv(fd, at, size, MSG_DONTWAIT);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) return tenon_fail("the link ended");
        at += got;
        size -= (size_t)got;
    }
    return 0;
}

int tenon_link_write(int fd, const void* data, size_t size)
{
    const char* at = data;
    while (size > 0) {
        ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == ENOTSOCK) sent = write(fd, at, size);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return tenon_fail("the link broke");
        at += sent;
        size -= (size_t)sent;
    }
    return 0;
}

/* One deadline for a whole packet: to drip it, or not to take its answer, holds no session. What
 * moves earns time, or the link of a far board could carry no large library. */
typedef struct
{
    int64_t start_ns;
    int patience_ms; /* 0: for ever */
    int64_t moved;   /* bytes */
} pace;

enum
{
    kNsPerByte = 1000000000 / (1024 * 1024)
};

/* False when the link is not ready for so long. */
static bool has_turn(int fd, short events, const pace* now)
{
    const int64_t end =
        now->start_ns + now->patience_ms * INT64_C(1000000) + now->moved * kNsPerByte;
    while (now->patience_ms > 0) {
        struct pollfd entry = {.fd = fd, .events = events};
        const int64_t left = (end - tenon_clock_ns()) / 1000000;
        if (left <= 0) return false;
        const int ready = poll(&entry, 1, left < INT_MAX ? (int)left : INT_MAX);
        if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
    }
    return true;
}

static int too_slow(void) { return tenon_fail("the client is too slow"); }

static int read_at_pace(int fd, uint8_t* data, size_t size, pace* now)
{
    while (size > 0) {
        if (!has_turn(fd, POLLIN, now)) return too_slow();
        const ssize_t got = read(fd, data, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return tenon_fail("the link ended");
        data += got;
        size -= (size_t)got;
        now->moved += got;
    }
    return 0;
}

static int write_at_pace(int fd, const uint8_t* data, size_t size, int patience_ms)
{
    pace now = {tenon_clock_ns(), patience_ms, 0};
    if (patience_ms == 0) return tenon_link_write(fd, data, size);
    while (size > 0) {
        if (!has_turn(fd, POLLOUT, &now)) return too_slow();
        const ssize_t sent = send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (sent <= 0) return tenon_fail("the link broke");
        data += sent;
        size -= (size_t)sent;
        now.moved += sent;
    }
    return 0;
}

/* The buffer grows with what arrives: a large announced size alone costs nothing. */
static int read_packet(int fd, pace* now, uint8_t** buffer, size_t* capacity, size_t* size)
{
    uint8_t header[8];
    if (read_at_pace(fd, header, sizeof header, now) != 0) return -1;
    int64_t announced = tenon_packet_size(header, TENON_RPC_MAX_PACKET);
    if (announced < 0) return -1;
    *size = (size_t)announced;
    for (size_t at = 0; at < *size;) {
        size_t step = *size - at < kReadStep + at ? *size - at : kReadStep + at;
        if (at + step > *capacity) {
            uint8_t* grown = realloc(*buffer, at + step);
            if (!grown) return tenon_fail("out of memory for a packet");
            *buffer = grown;
            *capacity = at + step;
        }
        if (read_at_pace(fd, *buffer + at, step, now) != 0) return -1;
        at += step;
    }
    return 0;
}

/* Whoever holds a session and does nothing keeps others from it; it hears why when it comes back,
 * unless it has not even read what was said before. */
static void end_of_patience(int fd, int patience_ms)
{
    char text[96];
    tenon_writer reply = tenon_writer_of(256);
    snprintf(text, sizeof text, "RPCSessionTimeoutError: the session was idle for %.1f s",
             patience_ms / 1000.0);
    TVMValue value = {.v_str = text};
    int code = kTVMStr;
    const size_t start = tenon_packet_begin(&reply, kTenonRpcException);
    tenon_write_seq(&reply, &value, &code, 1);
    tenon_packet_end(&reply, start);
    fprintf(stderr, "tenon-rpc-server: %s\n", text);
    const ssize_t sent = send(fd, reply.data, reply.size, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent;
    tenon_writer_free(&reply);
}

/* Its time to open the session goes on whatever it says instead. */
static bool await_packet(int fd, const tenon_rpc_session* session,
                         const tenon_link_patience* patience, pace* now)
{
    const int64_t start_ns = session->is_open || !now->start_ns ? tenon_clock_ns() : now->start_ns;
    *now = (pace){start_ns, session->is_open ? patience->idle_ms : patience->first_ms, 0};
    if (!has_turn(fd, POLLIN, now)) {
        end_of_patience(fd, now->patience_ms);
        return false;
    }
    if (session->is_open) now->start_ns = tenon_clock_ns();
    return true;
}

void tenon_link_serve(int fd, tenon_rpc_session* session, const tenon_link_patience* patience)
{
    uint8_t* packet = NULL;
    size_t capacity = 0;
    size_t size;
    tenon_writer reply = tenon_writer_of(TENON_RPC_MAX_PACKET + 8);
    pace now = {.start_ns = 0};
    tenon_heart heart;
    tenon_heart_init(&heart, fd);
    session->heart = &heart;
    while (await_packet(fd, session, patience, &now)) {
        tenon_heart_work(&heart);
        reply.size = 0;
        const bool goes_on = read_packet(fd, &now, &packet, &capacity, &size) == 0 &&
                             tenon_rpc_session_handle(session, packet, size, &reply);
        tenon_heart_rest(&heart);
        if (!goes_on || write_at_pace(fd, reply.data, reply.size, now.patience_ms) != 0) break;
    }
    session->heart = NULL;
    tenon_heart_end(&heart);
    tenon_writer_free(&reply);
    free(packet);
}
