/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting that SIGINT and SIGTERM end. */
#define _GNU_SOURCE
#include "interrupt.h"

#include <poll.h>
#include <signal.h>
#include <time.h>

/* Signal handlers have no arguments of ours. */
static volatile sig_atomic_t s_came;

static void on_signal(int signal)
{
    (void)signal;
    s_came = 1;
}

static void set_handlers(void (*handler)(int), int how)
{
    struct sigaction action = {.sa_handler = handler};
    sigset_t signals;
    sigemptyset(&action.sa_mask);
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigprocmask(how, &signals, NULL);
}

void tenon_interrupt_catch(void)
{
    signal(SIGPIPE, SIG_IGN); /* nobody may be reading what is printed */
    set_handlers(on_signal, SIG_BLOCK);
}

void tenon_interrupt_release(void) { set_handlers(SIG_DFL, SIG_UNBLOCK); }

bool tenon_interrupt_came(void) { return s_came != 0; }

bool tenon_interrupt_wait(int fd, int timeout_ms)
{
    struct pollfd entry = {.fd = fd, .events = POLLIN};
    struct timespec limit = {timeout_ms / 1000, (timeout_ms % 1000) * 1000000L};
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    sigdelset(&mask, SIGINT);
    sigdelset(&mask, SIGTERM);
    return ppoll(&entry, 1, timeout_ms < 0 ? NULL : &limit, &mask) > 0 && !s_came;
}
