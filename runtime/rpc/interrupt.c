/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting that SIGINT, SIGTERM and the end of a child end. */
#define _GNU_SOURCE
#include "interrupt.h"

#include <signal.h>
#include <time.h>

/* Signal handlers have no arguments of ours. */
static volatile sig_atomic_t s_came;

static void on_signal(int signal)
{
    if (signal != SIGCHLD) s_came = 1;
}

static void set_handlers(void (*handler)(int), int how)
{
    static const int kSignals[] = {SIGINT, SIGTERM, SIGCHLD};
    struct sigaction action = {.sa_handler = handler};
    sigset_t signals;
    sigemptyset(&action.sa_mask);
    sigemptyset(&signals);
    for (int i = 0; i < 3; ++i) {
        sigaddset(&signals, kSignals[i]);
        sigaction(kSignals[i], &action, NULL);
    }
    sigprocmask(how, &signals, NULL);
}

void tenon_interrupt_catch(void)
{
    signal(SIGPIPE, SIG_IGN); /* nobody may be reading what is printed */
    set_handlers(on_signal, SIG_BLOCK);
}

void tenon_interrupt_release(void) { set_handlers(SIG_DFL, SIG_UNBLOCK); }

bool tenon_interrupt_came(void) { return s_came != 0; }

bool tenon_interrupt_wait(struct pollfd* entries, int count, int64_t timeout_ns)
{
    const struct timespec limit = {(time_t)(timeout_ns / 1000000000),
                                   (long)(timeout_ns % 1000000000)};
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    sigdelset(&mask, SIGINT);
    sigdelset(&mask, SIGTERM);
    sigdelset(&mask, SIGCHLD);
    return ppoll(entries, (nfds_t)count, timeout_ns < 0 ? NULL : &limit, &mask) > 0;
}
