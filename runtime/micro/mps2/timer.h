/* SPDX-License-Identifier: MIT-0 */
/* Instants by the system timer, which every Cortex-M has: 24 bits that count down, an interrupt
 * when they are through. RISC-V counts cycles in 64 bits. TICK_PICOSECONDS says how long a tick or
 * a cycle is. For one source file of a program. */
#ifndef TIMER_H
#define TIMER_H

#include <stdint.h>

#ifndef TICK_PICOSECONDS
#define TICK_PICOSECONDS 40000
#endif

#if defined(__riscv)
static void start_timer(void) {}

static uint64_t nanoseconds(void)
{
    uint32_t high, low, again;
    do {
        __asm volatile(".option arch, +zicsr\n\tcsrr %0, mcycleh\n\tcsrr %1, mcycle\n\t"
                       "csrr %2, mcycleh"
                       : "=&r"(high), "=&r"(low), "=r"(again));
    } while (high != again);
    return (((uint64_t)high << 32) + low) * TICK_PICOSECONDS / 1000;
}
#else
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

#endif
