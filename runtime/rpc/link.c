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

int tenon_link_read(int fd, void* data, size_t size)
{
    char* at = data;
    while (size > 0) {
        ssize_t got = read(fd, at, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return tenon_fail("the link ended");
        at += got;
        size -= (size_t)got;
    }
    return 0;
}

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

/* The buffer grows with what arrives: a large announced size alone costs nothing. */
static int read_packet(int fd, uint8_t** buffer, size_t* capacity, size_t* size)
{
    uint8_t header[8];
    if (tenon_link_read(fd, header, sizeof header) != 0) return -1;
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
        if (tenon_link_read(fd, *buffer + at, step) != 0) return -1;
        at += step;
    }
    return 0;
}

/* False when nothing comes for so long (0: for ever). */
static bool await_packet(int fd, int patience_ms)
{
    struct pollfd entry = {.fd = fd, .events = POLLIN};
    const int64_t end = tenon_clock_ns() + patience_ms * INT64_C(1000000);
    for (;;) {
        const int64_t left = (end - tenon_clock_ns()) / 1000000;
        const int ready = poll(&entry, 1, patience_ms == 0 ? -1 : left > 0 ? (int)left : 0);
        if (ready >= 0 || errno != EINTR) return ready > 0;
    }
}

/* Whoever holds a session and does nothing keeps others from it; it hears why when it comes back.
 */
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
    tenon_link_write(fd, reply.data, reply.size);
    tenon_writer_free(&reply);
}

void tenon_link_serve(int fd, tenon_rpc_session* session, const tenon_link_patience* patience)
{
    uint8_t* packet = NULL;
    size_t capacity = 0;
    size_t size;
    tenon_writer reply = tenon_writer_of(TENON_RPC_MAX_PACKET + 8);
    for (;;) {
        const int limit_ms = session->is_open ? patience->idle_ms : patience->first_ms;
        if (!await_packet(fd, limit_ms)) {
            end_of_patience(fd, limit_ms);
            break;
        }
        if (read_packet(fd, &packet, &capacity, &size) != 0) break;
        reply.size = 0;
        if (!tenon_rpc_session_handle(session, packet, size, &reply) ||
            tenon_link_write(fd, reply.data, reply.size) != 0)
            break;
    }
    tenon_writer_free(&reply);
    free(packet);
}
