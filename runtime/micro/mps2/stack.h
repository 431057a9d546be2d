/* SPDX-License-Identifier: MIT-0 */
/* Runs a function; with MEASURE_STACK also says how many bytes of stack that took. */
#ifndef STACK_H
#define STACK_H

#if defined(MEASURE_STACK)
#include <stdint.h>

#include "semihost.h"

/* "name 0000abcd" as a line. */
static void report(const char* name, unsigned long value)
{
    char text[] = " 00000000\n";
    for (int i = 0; i < 8; ++i) text[8 - i] = "0123456789abcdef"[(value >> (4 * i)) & 15];
    semihost_write(name);
    semihost_write(text);
}

/* Paints 32 KB below the stack pointer, runs, and looks how far down the paint is gone. */
static __attribute__((noinline)) int stack_used_by(int (*function)(void))
{
    enum
    {
        kWords = 8192
    };
    volatile uint32_t* top;
#if defined(__riscv)
    __asm volatile("mv %0, sp" : "=r"(top));
#else
    __asm volatile("mov %0, sp" : "=r"(top));
#endif
    volatile uint32_t* low = top - kWords;
    for (int i = 0; i < kWords; ++i) low[i] = 0x5ac3f00du;
    int status = function();
    int untouched = 0;
    while (untouched < kWords && low[untouched] == 0x5ac3f00du) ++untouched;
    report("stack", (unsigned long)(kWords - untouched) * 4);
    return status;
}
#else
static inline void report(const char* name, unsigned long value)
{
    (void)name;
    (void)value;
}
static inline int stack_used_by(int (*function)(void)) { return function(); }
#endif

#endif
