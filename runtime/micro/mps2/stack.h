/* SPDX-License-Identifier: MIT-0 */
/* Runs a function; with MEASURE_STACK also says how many bytes of stack that took. */
#ifndef STACK_H
#define STACK_H

#if defined(MEASURE_STACK)
#include <stdint.h>

#include "semihost.h"

/* Paints 32 KB below this frame, runs, and looks how far down the paint is gone. */
static __attribute__((noinline)) int stack_used_by(int (*function)(void))
{
    enum
    {
        kWords = 8192
    };
    volatile uint32_t here = 0;
    volatile uint32_t* low = &here - kWords - 64;
    for (int i = 0; i < kWords; ++i) low[i] = 0x5ac3f00du;
    int status = function();
    int untouched = 0;
    while (untouched < kWords && low[untouched] == 0x5ac3f00du) ++untouched;
    char text[] = "stack 00000000\n";
    unsigned long bytes = (unsigned long)(&here - low - untouched) * 4;
    for (int i = 0; i < 8; ++i) text[13 - i] = "0123456789abcdef"[(bytes >> (4 * i)) & 15];
    semihost_write(text);
    return status;
}
#else
static inline int stack_used_by(int (*function)(void)) { return function(); }
#endif

#endif
