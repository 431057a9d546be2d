/* SPDX-License-Identifier: Apache-2.0 */
/* A switch for tests of memory plans. */
#include "poison.h"

#include <stdatomic.h>
#include <string.h>

static atomic_bool s_enabled;

void tenon_poison_enable(bool enabled) { atomic_store(&s_enabled, enabled); }

bool tenon_poison_is_enabled(void)
{
    return atomic_load_explicit(&s_enabled, memory_order_relaxed);
}

void tenon_poison(void* memory, size_t bytes)
{
    if (memory && tenon_poison_is_enabled()) memset(memory, 0xff, bytes);
}
