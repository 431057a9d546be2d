/* SPDX-License-Identifier: Apache-2.0 */
/* The process of a session, and whatever its code may have started. */
#ifndef TENON_RUNTIME_RPC_CHILD_H
#define TENON_RUNTIME_RPC_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/** From now on what descendants leave behind becomes our child. Once, before the first of them. */
void tenon_child_adopt(void);

/** fork(): a process group of its own, which ends with us. */
pid_t tenon_child_fork(void);

/** True when the process itself has ended, whoever still holds what it had open; its status as
 * waitpid() tells it. */
bool tenon_child_has_ended(pid_t child, int* status);

/** Kills `child` and everything that came of it, also what hides in other groups and sessions, and
 * waits for a moment until it is gone. True when nothing is left. */
bool tenon_child_end_all(pid_t child, int* status);

#endif
