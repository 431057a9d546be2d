/* SPDX-License-Identifier: Apache-2.0 */
/* A switch for tests of memory plans: memory that a run has not written holds NaN (0xff bytes). */
#ifndef TENON_RUNTIME_POISON_H
#define TENON_RUNTIME_POISON_H

#include <stdbool.h>
#include <stddef.h>

void tenon_poison_enable(bool enabled);
bool tenon_poison_is_enabled(void);
/** Fills the memory when the switch is on. */
void tenon_poison(void* memory, size_t bytes);

#endif
