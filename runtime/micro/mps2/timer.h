/* SPDX-License-Identifier: MIT-0 */
/* Instants by the system timer, which every Cortex-M has: 24 bits that count down, an interrupt
 * when they are through. TICK_PICOSECONDS says how long a tick is. For one source file of a
 * program. */
#ifndef TIMER_H
#define TIMER_H

#include <stdint.h>

#ifndef TICK_PICOSECONDS
#define TICK_PICOSECONDS 40000
#endif

#define TIMER_CONTROL (*(volatile uint32_t*)0xE000E010u)
#define TIMER_RELOAD (*(volatile uint32_t*)0xE000E014u)
#define TIMER_VALUE (*(volatile uint32_t*)0xE000E018u)
#define TIMER_MOST 0xFFFFFFu

static volatile uint32_t rounds;

void SysTick_Handler(void);
void SysTick_Handler(void) { ++rounds; }

static void start_timer(void)
{
    TIMER_RELOAD = TIMER_MOST;
    TIMER_VALUE = 0;
    TIMER_CONTROL = 7; /* the core's clock, interrupt, on */
}

static uint64_t nanoseconds(void)
{
    uint32_t before, value;
    do {
        before = rounds;
        value = TIMER_VALUE;
    } while (before != rounds);
    const uint64_t ticks = ((uint64_t)before << 24) + (TIMER_MOST - value);
    return ticks * TICK_PICOSECONDS / 1000;
}

#endif
