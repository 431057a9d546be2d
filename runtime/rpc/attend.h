/* SPDX-License-Identifier: Apache-2.0 */
/* A server that somebody holds by its standard input: it never outlives him. */
#ifndef TENON_RUNTIME_RPC_ATTEND_H
#define TENON_RUNTIME_RPC_ATTEND_H

#include <stddef.h>

/** Reads the first line of standard input, the secret that clients must know: it is on no command
 * line and in no environment. -1 when there is none. */
int tenon_attend_key(char* key, size_t capacity);

/** -1 with an error unless the file of this very program has this SHA-256: it came by a link. */
int tenon_attend_self(const char* digest);

/** From now on files come by standard input (receive.h), whose end, or silence for so long, shuts
 * `listener` down: accept() fails, and the server ends. */
int tenon_attend_watch(int listener, int silence_s);

/** Removes the working folder, and the one above, too, when it is empty then. */
void tenon_attend_tidy(void);

#endif
