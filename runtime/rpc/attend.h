/* SPDX-License-Identifier: Apache-2.0 */
/* A server that somebody holds by its standard input: it never outlives him. */
#ifndef TENON_RUNTIME_RPC_ATTEND_H
#define TENON_RUNTIME_RPC_ATTEND_H

#include <stddef.h>
#include <sys/types.h>

/** Reads the first line of standard input, the secret that clients must know: it is on no command
 * line and in no environment. -1 when there is none. */
int tenon_attend_key(char* key, size_t capacity);

/** From now on the end of standard input ends the server: sessions are killed, and accept() on
 * `listener` fails. */
int tenon_attend_watch(int listener);
/** The process that serves a session, 0 when none does. */
void tenon_attend_session(pid_t child);

/** Removes the working folder; from the one above what broken connections left there a day ago, and
 * that one, too, when it is empty then. Returns only when this cannot be started. */
int tenon_attend_tidy(void);

#endif
