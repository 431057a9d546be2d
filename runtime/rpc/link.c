/* SPDX-License-Identifier: Apache-2.0 */
/* Packets over a file descriptor, and serving a session on it. */
#include "link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "../common/error.h"

enum
{
    kReadStep = 1 << 20,
    kMaxKey = 4096,
    kGreetingS = 10
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

void tenon_link_serve(int fd, tenon_rpc_session* session)
{
    uint8_t* packet = NULL;
    size_t capacity = 0;
    size_t size;
    tenon_writer reply = tenon_writer_of(TENON_RPC_MAX_PACKET + 8);
    while (read_packet(fd, &packet, &capacity, &size) == 0) {
        reply.size = 0;
        if (!tenon_rpc_session_handle(session, packet, size, &reply) ||
            tenon_link_write(fd, reply.data, reply.size) != 0)
            break;
    }
    tenon_writer_free(&reply);
    free(packet);
}

static int answer(int fd, int32_t status, const char* key)
{
    tenon_writer writer = tenon_writer_of(kMaxKey + 64);
    tenon_write_i32(&writer, status);
    if (status == kTenonRpcMagic) {
        char text[kMaxKey];
        int length = snprintf(text, sizeof text, "server:%s", key);
        tenon_write_i32(&writer, length);
        tenon_write_bytes(&writer, text, (size_t)length);
    }
    int result = writer.failed ? -1 : tenon_link_write(fd, writer.data, writer.size);
    tenon_writer_free(&writer);
    return result;
}

/* "client:<key>" with options after a blank. */
static int check_key(char* text, const char* key, int* timeout_s)
{
    static const char kPrefix[] = "client:";
    static const char kTimeout[] = "-timeout=";
    char* options = strchr(text, ' ');
    if (options) *options++ = 0;
    const char* timeout = options ? strstr(options, kTimeout) : NULL;
    double seconds = timeout ? strtod(timeout + sizeof kTimeout - 1, NULL) : 0;
    *timeout_s = seconds > 0 && seconds < 1e6 ? (int)seconds + 1 : 0;
    return key && strncmp(text, kPrefix, sizeof kPrefix - 1) == 0 &&
                   strcmp(text + sizeof kPrefix - 1, key) == 0
               ? 0
               : -1;
}

static void set_patience(int fd, int seconds)
{
    struct timeval patience = {.tv_sec = seconds};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

int tenon_link_greet(int fd, const tenon_link_keys* keys, int* timeout_s)
{
    uint8_t header[8];
    char text[kMaxKey + 1];
    set_patience(fd, kGreetingS);
    if (tenon_link_read(fd, header, sizeof header) != 0) return -1;
    tenon_reader reader = tenon_reader_of(header, sizeof header);
    int32_t magic = tenon_read_i32(&reader);
    int32_t length = tenon_read_i32(&reader);
    if (magic != kTenonRpcMagic) return tenon_fail("the client speaks another protocol");
    if (length < 0 || length > kMaxKey) return tenon_fail("the client's key is too long");
    if (tenon_link_read(fd, text, (size_t)length) != 0) return -1;
    text[length] = 0;
    set_patience(fd, 0);
    if (check_key(text, keys->expected, timeout_s) == 0)
        return answer(fd, kTenonRpcMagic, keys->own);
    answer(fd, kTenonRpcMismatch, keys->own);
    return tenon_fail("the client asked for another key");
}
