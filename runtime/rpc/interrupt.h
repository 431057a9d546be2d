/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting that SIGINT and SIGTERM end, so that a server cleans up before it goes. */
#ifndef TENON_RUNTIME_RPC_INTERRUPT_H
#define TENON_RUNTIME_RPC_INTERRUPT_H

#include <stdbool.h>

/** From now on these signals are felt in tenon_interrupt_wait() only. */
void tenon_interrupt_catch(void);
/** In a forked child: the signals end it again. */
void tenon_interrupt_release(void);
bool tenon_interrupt_came(void);

/** True when `fd` is readable or has ended, false after `timeout_ms` (negative: never) or an
 * interrupt. */
bool tenon_interrupt_wait(int fd, int timeout_ms);

#endif
