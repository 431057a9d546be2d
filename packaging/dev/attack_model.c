/* SPDX-License-Identifier: Apache-2.0 */
/* A model that means ill, for attack.py: system calls are all it needs. */
#include <signal.h>
#include <sys/syscall.h>

typedef union {
    long number;
    void* address;
} value;

static long ask(long number, long a, long b)
{
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(0L)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = 0;
    register long x8 __asm__("x8") = number;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x8) : "memory");
    return x0;
#endif
}

static long split(void) { return ask(SYS_clone, SIGCHLD, 0); }

static void wait_for_ever(void)
{
    for (;;) ask(SYS_ppoll, 0, 0);
}

static int done(value* result, int* code, long number)
{
    result->number = number;
    *code = 0;
    return 0;
}

/* Eight of them, in sessions of their own, holding whatever they inherit. */
int daemons(value* a, int* codes, int n, value* result, int* code, void* h)
{
    for (int i = 0; i < 8; ++i) {
        if (split() != 0) continue;
        ask(SYS_setsid, 0, 0);
        if (split() != 0) ask(SYS_exit_group, 0, 0);
        wait_for_ever();
    }
    return done(result, code, 0);
}

/* At most 200 processes in all. */
int bomb(value* a, int* codes, int n, value* result, int* code, void* h)
{
    for (int i = 0; i < 200; ++i)
        if (split() == 0) wait_for_ever();
    return done(result, code, 0);
}

/* The session ends at once, its children do not. */
int orphans(value* a, int* codes, int n, value* result, int* code, void* h)
{
    for (int i = 0; i < 8; ++i)
        if (split() == 0) wait_for_ever();
    ask(SYS_exit_group, 0, 0);
    return done(result, code, 0);
}

int spin(value* a, int* codes, int n, value* result, int* code, void* h)
{
    for (volatile int i = 0;;) ++i;
}

/* Not even the thread that watches the client goes on. */
int stop(value* a, int* codes, int n, value* result, int* code, void* h)
{
    ask(SYS_kill, ask(SYS_getpid, 0, 0), SIGSTOP);
    return done(result, code, 0);
}
