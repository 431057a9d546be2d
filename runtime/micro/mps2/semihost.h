/* SPDX-License-Identifier: MIT-0 */
/* Text and exit status by way of the debugger or emulator (Arm semihosting, which RISC-V has by
 * other instructions). */
#ifndef SEMIHOST_H
#define SEMIHOST_H

#include <stdint.h>

#if defined(__riscv)
/* The three instructions have to lie in one page, none of them compressed. */
static inline int32_t semihost_call(uint32_t operation, const void* argument)
{
    register uint32_t a0 __asm("a0") = operation;
    register const void* a1 __asm("a1") = argument;
    __asm volatile(".balign 16\n\t.option push\n\t.option norvc\n\tslli x0, x0, 0x1f\n\t"
                   "ebreak\n\tsrai x0, x0, 7\n\t.option pop"
                   : "+r"(a0)
                   : "r"(a1)
                   : "memory");
    return (int32_t)a0;
}
#else
static inline int32_t semihost_call(uint32_t operation, const void* argument)
{
    register uint32_t r0 __asm("r0") = operation;
    register const void* r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return (int32_t)r0;
}
#endif

static inline void semihost_write(const char* text) { semihost_call(4, text); /* SYS_WRITE0 */ }

/* Mode of fopen's: 1 is "rb", 5 is "wb". The handle, or -1. */
static inline int32_t semihost_open(const char* path, uint32_t mode)
{
    uint32_t length = 0;
    while (path[length]) ++length;
    const uintptr_t block[3] = {(uintptr_t)path, mode, length};
    return semihost_call(1, block); /* SYS_OPEN */
}

static inline void semihost_close(int32_t file)
{
    const uint32_t block[1] = {(uint32_t)file};
    semihost_call(2, block); /* SYS_CLOSE */
}

/* 0 when all bytes were moved. */
static inline int32_t semihost_read(int32_t file, void* bytes, uint32_t size)
{
    const uintptr_t block[3] = {(uintptr_t)file, (uintptr_t)bytes, size};
    return size ? semihost_call(6, block) : 0; /* SYS_READ */
}

static inline int32_t semihost_write_to(int32_t file, const void* bytes, uint32_t size)
{
    const uintptr_t block[3] = {(uintptr_t)file, (uintptr_t)bytes, size};
    return size ? semihost_call(5, block) : 0; /* SYS_WRITE */
}

static inline void semihost_exit(int status)
{
    uint32_t block[2] = {0x20026u, (uint32_t)status}; /* ADP_Stopped_ApplicationExit */
    semihost_call(0x20, block);                       /* SYS_EXIT_EXTENDED */
    for (;;) {}
}

#endif
