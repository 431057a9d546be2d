/* SPDX-License-Identifier: Apache-2.0 */
/* What ends a session that cannot end itself: crashes, a silent link, time. */
#define _GNU_SOURCE
#include "guard.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/sysinfo.h>
#endif

#include "../common/error.h"
#include "../executor/profile.h"
#include "protocol.h"

enum
{
    kTextCapacity = 256,
    kStackBytes = 64 * 1024
};

/* Signal handlers have no arguments of ours; a process serves one session. */
static int s_fd = -1;
static char s_handler_stack[kStackBytes];

static const struct
{
    int signal;
    const char* name;
} kFatal[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGILL, "SIGILL"},
    {SIGFPE, "SIGFPE"},   {SIGABRT, "SIGABRT"}, {SIGTRAP, "SIGTRAP"},
};
enum
{
    kFatalCount = sizeof kFatal / sizeof kFatal[0]
};

/* The few text operations that are safe in a signal handler. */
typedef struct
{
    char data[kTextCapacity];
    size_t size;
} text;

static void put(text* out, const char* part)
{
    while (*part && out->size < sizeof out->data) out->data[out->size++] = *part++;
}

static void put_number(text* out, uint64_t value, unsigned base)
{
    char digits[24];
    size_t count = 0;
    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    while (count > 0 && out->size < sizeof out->data) out->data[out->size++] = digits[--count];
}

static size_t put_integer(uint8_t* at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; ++i) at[i] = (uint8_t)(value >> (8 * i));
    return size;
}

/* An Exception packet with one string, written without allocating. */
static void send_exception(const text* message)
{
    uint8_t packet[kTextCapacity + 64];
    size_t at = put_integer(packet, 4 + 4 + 4 + 8 + message->size, 8);
    at += put_integer(packet + at, kTenonRpcException, 4);
    at += put_integer(packet + at, 1, 4);
    at += put_integer(packet + at, kTVMStr, 4);
    at += put_integer(packet + at, message->size, 8);
    memcpy(packet + at, message->data, message->size);
    at += message->size;
    ssize_t sent = send(s_fd, packet, at, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent; /* nothing can be done about it here */
}

static void on_fatal_signal(int signal, siginfo_t* info, void* context)
{
    (void)context;
    text message = {.size = 0};
    put(&message, "crashed: signal ");
    put_number(&message, (uint64_t)signal, 10);
    for (size_t i = 0; i < kFatalCount; ++i) {
        if (kFatal[i].signal != signal) continue;
        put(&message, " (");
        put(&message, kFatal[i].name);
        put(&message, ")");
    }
    if (tenon_profile_current_call() >= 0) {
        put(&message, " in call ");
        put_number(&message, (uint64_t)tenon_profile_current_call(), 10);
    }
    if (signal == SIGSEGV || signal == SIGBUS) {
        put(&message, " at address 0x");
        put_number(&message, (uint64_t)(uintptr_t)info->si_addr, 16);
    }
    send_exception(&message);
    /* SA_RESETHAND restored the default action: raising again dies of the signal. */
    raise(signal);
}

void tenon_guard_crashes(int fd)
{
    s_fd = fd;
    stack_t stack = {.ss_sp = s_handler_stack, .ss_size = sizeof s_handler_stack};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_sigaction = on_fatal_signal,
                               .sa_flags =
                                   (int)(SA_SIGINFO | SA_RESETHAND | SA_ONSTACK | SA_NODEFER)};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < kFatalCount; ++i) sigaction(kFatal[i].signal, &action, NULL);
}

static void* watch(void* argument)
{
    int timeout_s = (int)(intptr_t)argument;
    struct pollfd link = {.fd = s_fd, .events = POLLRDHUP};
    int ready;
    do {
        ready = poll(&link, 1, timeout_s ? timeout_s * 1000 : -1);
    } while (ready < 0);
    if (ready == 0) {
        text message = {.size = 0};
        put(&message, "RPCSessionTimeoutError: the session took longer than ");
        put_number(&message, (uint64_t)timeout_s, 10);
        put(&message, " s");
        send_exception(&message);
    }
    _exit(ready == 0 ? 3 : 0);
}

int tenon_guard_link(int timeout_s)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch, (void*)(intptr_t)timeout_s) != 0)
        return tenon_fail("cannot watch the link");
    pthread_detach(thread);
    return 0;
}

static void limit(int what, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(what, &now) == 0 && now.rlim_max < most) most = now.rlim_max;
    const struct rlimit wanted = {most, most};
    setrlimit(what, &wanted);
}

/* All memory of the machine, but enough for a start; 0 when that is not known. */
static rlim_t memory_of_machine(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0; /* sanitizers reserve far more than there is */
#endif
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || size <= 0) return 0;
    const rlim_t least = (rlim_t)256 << 20;
    const rlim_t all = (rlim_t)pages * (rlim_t)size;
    return all > least ? all : least;
}

void tenon_guard_limits(int memory_mib, int file_mib)
{
    /* Of data, not of addresses: weights are mapped from files. */
    const rlim_t data = memory_mib < 0 ? memory_of_machine() : (rlim_t)memory_mib << 20;
    if (data > 0) limit(RLIMIT_DATA, data);
    if (file_mib > 0) limit(RLIMIT_FSIZE, (rlim_t)file_mib << 20);
    signal(SIGXFSZ, SIG_IGN); /* the write fails instead */
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NOFILE, 256);
#if defined(__linux__)
    /* Where nothing forbids new processes, a bomb of them stays small; root is above that. */
    struct sysinfo now;
    if (sysinfo(&now) == 0) limit(RLIMIT_NPROC, (rlim_t)now.procs + 512);
#endif
}
