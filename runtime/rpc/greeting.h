/* SPDX-License-Identifier: Apache-2.0 */
/* What a client of a listening server says first: its key. */
#ifndef TENON_RUNTIME_RPC_GREETING_H
#define TENON_RUNTIME_RPC_GREETING_H

#include <stddef.h>
#include <stdint.h>

enum
{
    kTenonMostKeyBytes = 256,
    kTenonGreetingHeader = 8,
    kTenonMostGreeting = kTenonGreetingHeader + kTenonMostKeyBytes + 256 /* prefix and options */
};

/** Bytes of a greeting of which the first `size` are known: never more than there are, so that what
 * follows stays unread. -1 when it is none. */
int tenon_greeting_size(const uint8_t* bytes, size_t size);

/** 0 when the whole greeting knows the key `expected` (NULL: nobody does). The client's wish for a
 * session timeout goes to *timeout_s (0: none). */
int tenon_greeting_check(const uint8_t* bytes, size_t size, const char* expected, int* timeout_s);

/** Answers it: kTenonRpcMagic with the server's own key, or another number alone. Never waits. */
int tenon_greeting_answer(int fd, int32_t status, const char* own);

#endif
