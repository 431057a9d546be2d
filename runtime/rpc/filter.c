/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of system calls (seccomp): a session computes, with the memory, threads and files it
 * has. It starts no process, opens no socket and reaches into no other process. What is newer than
 * this list does not exist for it, so that C libraries fall back to what does. */
#define _GNU_SOURCE
#include "sandbox.h"

#if defined(__linux__)
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../common/error.h"
#include "filter_calls.h"

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#elif defined(__arm__)
#define OUR_ARCH AUDIT_ARCH_ARM
#elif defined(__riscv) && __riscv_xlen == 64
#define OUR_ARCH AUDIT_ARCH_RISCV64
#endif
#endif

#if defined(OUR_ARCH) && defined(SYS_seccomp)

enum
{
    kMostCode = 512,
    kNewestCall = 462,        /* mseal: the numbers of all processors go on together there */
    kFirstArmCall = 0x0f0001, /* cacheflush and others of its own */
    kLastArmCall = 0x0f0006,
    kOtherNumbers = 0x40000000 /* x32, the other table of x86-64 */
};

/* A filter that is being written. Offsets are those of struct seccomp_data; all processors here are
 * little-endian, so that the low half of an argument comes first. */
typedef struct
{
    struct sock_filter code[kMostCode];
    unsigned short size;
} program;

static void put(program* out, unsigned short code, uint32_t k, uint8_t then, uint8_t otherwise)
{
    if (out->size < kMostCode)
        out->code[out->size++] = (struct sock_filter){code, then, otherwise, k};
}

static void answer(program* out, uint32_t what) { put(out, BPF_RET | BPF_K, what, 0, 0); }

static void refuse(program* out, int reason)
{
    answer(out, SECCOMP_RET_ERRNO | ((uint32_t)reason & SECCOMP_RET_DATA));
}

static void load(program* out, size_t offset)
{
    put(out, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static size_t argument(int index)
{
    return offsetof(struct seccomp_data, args) + (size_t)index * sizeof(uint64_t);
}

/* What follows up to `count` instructions is for this call only. */
static void only_for(program* out, long call, uint8_t count)
{
    put(out, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, count);
}

/* The low half of the argument must be one of two values. */
static void allow_values(program* out, long call, int index, uint32_t first, uint32_t second)
{
    only_for(out, call, 5);
    load(out, argument(index));
    put(out, BPF_JMP | BPF_JEQ | BPF_K, first, 2, 0);
    put(out, BPF_JMP | BPF_JEQ | BPF_K, second, 1, 0);
    refuse(out, EPERM);
    answer(out, SECCOMP_RET_ALLOW);
}

static void refuse_values(program* out, long call, int index, const uint32_t* values, size_t count)
{
    only_for(out, call, (uint8_t)(count + 3));
    load(out, argument(index));
    for (size_t i = 0; i < count; ++i)
        put(out, BPF_JMP | BPF_JEQ | BPF_K, values[i], (uint8_t)(count - i), 0);
    answer(out, SECCOMP_RET_ALLOW);
    refuse(out, EPERM);
}

/* Only to what is connected: both halves of the address are 0. */
static void refuse_addresses(program* out)
{
    only_for(out, SYS_sendto, 6);
    load(out, argument(4));
    put(out, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2);
    load(out, argument(4) + sizeof(uint32_t));
    put(out, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
    refuse(out, EPERM);
    answer(out, SECCOMP_RET_ALLOW);
}

/* Memory that the limit of data does not count: shared by nobody, or growing like a stack. */
static void refuse_uncounted_memory(program* out, long call)
{
    enum
    {
        kShared = 0x01,
        kShareKind = 0x03,
        kAnonymous = 0x20,
        kGrowsDown = 0x100
    };
    only_for(out, call, 7);
    load(out, argument(3));
    put(out, BPF_JMP | BPF_JSET | BPF_K, kGrowsDown, 3, 0);
    put(out, BPF_ALU | BPF_AND | BPF_K, kShareKind | kAnonymous, 0, 0);
    put(out, BPF_JMP | BPF_JEQ | BPF_K, kShared | kAnonymous, 1, 0);
    put(out, BPF_JMP | BPF_JEQ | BPF_K, kShareKind | kAnonymous, 0, 1);
    refuse(out, EPERM);
    answer(out, SECCOMP_RET_ALLOW);
}

/* The calls of another processor's table, or of another table, are none. */
static void check_table(program* out)
{
    load(out, offsetof(struct seccomp_data, arch));
    put(out, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
    refuse(out, ENOSYS);
    load(out, offsetof(struct seccomp_data, nr));
#if defined(__arm__)
    put(out, BPF_JMP | BPF_JGE | BPF_K, kFirstArmCall, 0, 2);
    put(out, BPF_JMP | BPF_JGT | BPF_K, kLastArmCall, 1, 0);
    answer(out, SECCOMP_RET_ALLOW);
#endif
    /* Also those of x32, which are far above. */
    put(out, BPF_JMP | BPF_JGT | BPF_K, kNewestCall, 0, 1);
    refuse(out, ENOSYS);
}

static void write_filter(program* out)
{
    const uint32_t self = (uint32_t)getpid();
    /* Typing for the user's terminal, and signals to others by the back door. */
    const uint32_t requests[] = {0x5412, 0x541C, 0x8901, 0x8902};
    const uint32_t commands[] = {8 /* F_SETOWN */, 10 /* F_SETSIG */, 15 /* F_SETOWN_EX */};
    const uint32_t options[] = {1 /* PR_SET_PDEATHSIG: it ends with its server */};
    check_table(out);
    only_for(out, SYS_clone, 4); /* threads only */
    load(out, argument(0));
    put(out, BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
    refuse(out, EPERM);
    answer(out, SECCOMP_RET_ALLOW);
    only_for(out, TENON_SYS_clone3, 1); /* its flags are in memory: C libraries fall back */
    refuse(out, ENOSYS);
    for (size_t i = 0; i < sizeof kRefusedCalls / sizeof kRefusedCalls[0]; ++i) {
        only_for(out, kRefusedCalls[i], 1);
        refuse(out, EPERM);
    }
    allow_values(out, SYS_kill, 0, self, self);
    allow_values(out, SYS_tgkill, 0, self, self);
    allow_values(out, SYS_prlimit64, 0, 0, self);
    refuse_addresses(out);
    refuse_values(out, SYS_ioctl, 1, requests, sizeof requests / sizeof requests[0]);
    refuse_values(out, SYS_fcntl, 1, commands, sizeof commands / sizeof commands[0]);
    refuse_values(out, SYS_prctl, 0, options, sizeof options / sizeof options[0]);
#ifdef SYS_mmap
    refuse_uncounted_memory(out, SYS_mmap);
#endif
#ifdef SYS_mmap2
    refuse_uncounted_memory(out, SYS_mmap2);
#endif
#ifdef SYS_fcntl64
    refuse_values(out, SYS_fcntl64, 1, commands, sizeof commands / sizeof commands[0]);
#endif
    answer(out, SECCOMP_RET_ALLOW);
}

bool tenon_filter_exists(void)
{
    const uint32_t action = SECCOMP_RET_ERRNO;
    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0) return true;
    /* Linux before 4.14 has no such question; a filter without code is a mistake it would tell of.
     */
    return errno == EINVAL && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) != 0 &&
           errno == EFAULT;
}

int tenon_filter_enter(void)
{
    static program filter; /* too large for small stacks */
    filter.size = 0;
    write_filter(&filter);
    struct sock_fprog given = {.len = filter.size, .filter = filter.code};
    if (filter.size == kMostCode) return tenon_fail("the filter of system calls is too long");
    /* Without the flag some kernels slow the whole process down against side channels. */
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &given) ==
            0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &given) == 0)
        return 0;
    return tenon_fail("the filter of system calls does not hold: %s", strerror(errno));
}

#else

bool tenon_filter_exists(void) { return false; }

int tenon_filter_enter(void) { return 0; }

#endif
