/* SPDX-License-Identifier: MIT-0 */
/* Instants by micros(), whose 32 bits are through after 71 minutes. For one source file of a
 * program. */
#ifndef TIMER_H
#define TIMER_H

#include <stdint.h>

unsigned long micros(void);

static void start_timer(void) {}

/* Called at least once in 71 minutes: a server is asked more often. */
static uint64_t nanoseconds(void)
{
    static uint32_t last;
    static uint64_t before;
    const uint32_t now = (uint32_t)micros();
    if (now < last) before += (uint64_t)1 << 32;
    last = now;
    return (before + now) * 1000u;
}

#endif
