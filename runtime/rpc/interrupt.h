/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting that SIGINT and SIGTERM end, so that a server cleans up before it goes. */
#ifndef TENON_RUNTIME_RPC_INTERRUPT_H
#define TENON_RUNTIME_RPC_INTERRUPT_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

/** From now on these signals, and SIGCHLD, are felt in tenon_interrupt_wait() only. */
void tenon_interrupt_catch(void);
/** In a forked child: the signals end it again. */
void tenon_interrupt_release(void);
bool tenon_interrupt_came(void);

/** poll() until one of the entries is ready (true), `timeout_ns` are over (negative: never), an
 * interrupt came or a child ended, which may have been a moment ago. */
bool tenon_interrupt_wait(struct pollfd* entries, int count, int64_t timeout_ns);

#endif
