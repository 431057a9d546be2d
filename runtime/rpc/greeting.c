/* SPDX-License-Identifier: Apache-2.0 */
/* What a client of a listening server says first. */
#include "greeting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../common/error.h"
#include "protocol.h"

int tenon_greeting_size(const uint8_t* bytes, size_t size)
{
    if (size < kTenonGreetingHeader) return kTenonGreetingHeader;
    tenon_reader reader = tenon_reader_of(bytes, kTenonGreetingHeader);
    const int32_t magic = tenon_read_i32(&reader);
    const int32_t length = tenon_read_i32(&reader);
    if (magic != kTenonRpcMagic) return tenon_fail("the client speaks another protocol");
    if (length < 0 || length > kTenonMostGreeting - kTenonGreetingHeader)
        return tenon_fail("the client's key is too long");
    return kTenonGreetingHeader + length;
}

/* "client:<key>" with options after a blank. */
int tenon_greeting_check(const uint8_t* bytes, size_t size, const char* expected, int* timeout_s)
{
    static const char kPrefix[] = "client:";
    static const char kTimeout[] = "-timeout=";
    char text[kTenonMostGreeting + 1];
    memcpy(text, bytes + kTenonGreetingHeader, size - kTenonGreetingHeader);
    text[size - kTenonGreetingHeader] = 0;
    char* options = strchr(text, ' ');
    if (options) *options++ = 0;
    const char* timeout = options ? strstr(options, kTimeout) : NULL;
    const double seconds = timeout ? strtod(timeout + sizeof kTimeout - 1, NULL) : 0;
    *timeout_s = seconds > 0 && seconds < 1e6 ? (int)seconds + 1 : 0;
    if (expected && strncmp(text, kPrefix, sizeof kPrefix - 1) == 0 &&
        strcmp(text + sizeof kPrefix - 1, expected) == 0)
        return 0;
    return tenon_fail("the client asked for another key");
}

int tenon_greeting_answer(int fd, int32_t status, const char* own)
{
    char text[kTenonMostKeyBytes + 64];
    tenon_writer writer = tenon_writer_of(sizeof text + 64);
    tenon_write_i32(&writer, status);
    if (status == kTenonRpcMagic) {
        const int length = snprintf(text, sizeof text, "server:%s", own);
        tenon_write_i32(&writer, length);
        tenon_write_bytes(&writer, text, (size_t)length);
    }
    const ssize_t sent =
        writer.failed ? -1 : send(fd, writer.data, writer.size, MSG_NOSIGNAL | MSG_DONTWAIT);
    const bool is_whole = sent == (ssize_t)writer.size;
    tenon_writer_free(&writer);
    return is_whole ? 0 : tenon_fail("the client does not listen");
}
