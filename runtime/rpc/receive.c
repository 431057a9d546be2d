/* SPDX-License-Identifier: Apache-2.0 */
/* Files that come by standard input: they are hashed as they arrive and take no memory. */
#include "receive.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/error.h"
#include "../include/tenon/c_runtime_api.h"
#include "files.h"
#include "patch.h"

enum
{
    kAnswerCapacity = 1024,
    kLineCapacity = 1024,
    kLargePiece = 4096
};

typedef struct
{
    int fd;
    int silence_s;
    size_t at;
    size_t end;
    uint8_t buffer[1 << 16];
} stream;

static ssize_t read_some(const stream* in, void* data, size_t size)
{
    for (;;) {
        struct pollfd entry = {.fd = in->fd, .events = POLLIN};
        int ready = in->silence_s > 0 ? poll(&entry, 1, in->silence_s * 1000) : 1;
        if (ready == 0) return 0; /* a cable pulled out says no goodbye */
        ssize_t got = ready > 0 ? read(in->fd, data, size) : -1;
        if (got >= 0 || errno != EINTR) return got;
    }
}

/* Large pieces go past the buffer. */
static int read_exactly(void* self, void* data, size_t size)
{
    stream* in = self;
    uint8_t* to = data;
    while (size > 0) {
        size_t part = in->end - in->at < size ? in->end - in->at : size;
        memcpy(to, in->buffer + in->at, part);
        in->at += part;
        to += part;
        size -= part;
        if (size == 0) break;
        int is_large = size >= kLargePiece;
        ssize_t got =
            is_large ? read_some(in, to, size) : read_some(in, in->buffer, sizeof in->buffer);
        if (got <= 0) return tenon_fail("the link ended");
        if (is_large) {
            to += got;
            size -= (size_t)got;
        } else {
            in->at = 0;
            in->end = (size_t)got;
        }
    }
    return 0;
}

static int read_line(stream* in, char* line, size_t capacity)
{
    for (size_t size = 0; size < capacity; ++size) {
        if (read_exactly(in, line + size, 1) != 0) return -1;
        if (line[size] != '\n') continue;
        line[size] = 0;
        return 0;
    }
    return tenon_fail("a line without end");
}

/* The name and the digest come last: who sends may still be computing them. */
static int finish(stream* in, const char* part, const char* digest)
{
    char line[kLineCapacity], name[256], expected[80], path[kTenonPathCapacity];
    if (read_line(in, line, sizeof line) != 0) return -1;
    if (sscanf(line, "%255s %79s", name, expected) != 2) return tenon_fail("a file without a name");
    if (tenon_file_path(".", name, path) != 0) return -1;
    if (strcmp(digest, expected) != 0) return tenon_fail("`%s` arrived damaged", name);
    return rename(part, path) == 0 ? 0 : tenon_fail("cannot rename: %s", strerror(errno));
}

static int put(stream* in, const char* line)
{
    char part[] = "incoming-XXXXXX.part"; /* a store may have several servers at a time */
    char base[256], old[kTenonPathCapacity], digest[TENON_SHA256_HEX];
    if (sscanf(line, "put %255s", base) != 1) return tenon_fail("an unknown command");
    old[0] = 0;
    if (strcmp(base, "-") != 0 && tenon_file_path(".", base, old) != 0) return -1;
    const tenon_patch_source source = {.read = read_exactly, .self = in};
    int fd = mkstemps(part, (int)strlen(".part"));
    if (fd < 0) return tenon_fail("cannot write: %s", strerror(errno));
    close(fd);
    if (tenon_patch_apply(old, part, source, digest) != 0) return -1;
    int status = finish(in, part, digest);
    if (status != 0) unlink(part);
    return status;
}

/* Past stdio: a session forked at this moment would inherit a full buffer and say it again. */
static void answer(int status)
{
    char text[kAnswerCapacity];
    int size = status == 0 ? snprintf(text, sizeof text, "stored\n")
                           : snprintf(text, sizeof text, "failed: %.*s\n", kAnswerCapacity - 16,
                                      TVMGetLastError());
    ssize_t sent = write(STDOUT_FILENO, text, (size_t)size);
    (void)sent; /* who does not hear it has gone */
}

void tenon_receive_files(int fd, int silence_s)
{
    stream in = {.fd = fd, .silence_s = silence_s};
    char line[kLineCapacity];
    while (read_line(&in, line, sizeof line) == 0) {
        if (!line[0]) continue;
        int status = put(&in, line);
        answer(status);
        if (status != 0) return;
    }
}
