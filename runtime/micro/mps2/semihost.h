/* SPDX-License-Identifier: MIT-0 */
/* Text and exit status by way of the debugger or emulator (Arm semihosting). */
#ifndef SEMIHOST_H
#define SEMIHOST_H

#include <stdint.h>

static inline void semihost_call(uint32_t operation, const void* argument)
{
    register uint32_t r0 __asm("r0") = operation;
    register const void* r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static inline void semihost_write(const char* text) { semihost_call(4, text); /* SYS_WRITE0 */ }

static inline void semihost_exit(int status)
{
    uint32_t block[2] = {0x20026u, (uint32_t)status}; /* ADP_Stopped_ApplicationExit */
    semihost_call(0x20, block);                       /* SYS_EXIT_EXTENDED */
    for (;;) {}
}

#endif
