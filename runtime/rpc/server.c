/* SPDX-License-Identifier: Apache-2.0 */
/* tenon-rpc-server: serves one session on an inherited socket, or one after another on a port. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../common/error.h"
#include "../common/processors.h"
#include "attend.h"
#include "child.h"
#include "interrupt.h"
#include "options.h"
#include "protocol.h"
#include "room.h"
#include "serve.h"
#include "sweep.h"
#include "tracker.h"

enum
{
    kAcceptedAtOnce = 16,
    kTrackerNs = 500000000
};

typedef struct
{
    const tenon_server_options* options;
    tenon_sandbox_abilities abilities;
    int listener;
    tenon_tracker* tracker; /* NULL: none */
    tenon_room room;
    tenon_service service;
    bool has_ended;
} server;

static const struct timespec kMoment = {.tv_nsec = 10000000};

static void say_error(void) { fprintf(stderr, "tenon-rpc-server: %s\n", TVMGetLastError()); }

static int give_up(const char* doing, const char* why)
{
    fprintf(stderr, "tenon-rpc-server: cannot %s: %s\n", doing, why);
    return 1;
}

/* Small answers go at once, and a client that is silently gone is noticed after half a minute. */
static void tune(int fd)
{
    static const struct
    {
        int level;
        int name;
        int value;
    } kOptions[] = {{IPPROTO_TCP, TCP_NODELAY, 1},   {SOL_SOCKET, SO_KEEPALIVE, 1},
                    {IPPROTO_TCP, TCP_KEEPIDLE, 10}, {IPPROTO_TCP, TCP_KEEPINTVL, 5},
                    {IPPROTO_TCP, TCP_KEEPCNT, 4},   {IPPROTO_TCP, TCP_USER_TIMEOUT, 30000}};
    for (size_t i = 0; i < sizeof kOptions / sizeof kOptions[0]; ++i)
        setsockopt(fd, kOptions[i].level, kOptions[i].name, &kOptions[i].value, sizeof(int));
}

/* *port becomes the one it got. */
static int open_listener(const char* host, int* port)
{
    int yes = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1) {
        errno = EINVAL;
        return -1;
    }
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(listener, (struct sockaddr*)&address, size) != 0 || listen(listener, SOMAXCONN) != 0 ||
        getsockname(listener, (struct sockaddr*)&address, &size) != 0)
        return -1;
    *port = ntohs(address.sin_port);
    return listener;
}

/* One line, which also says what sessions are held to here. */
static void announce(const server* self, int port)
{
    const char* means = tenon_sandbox_text(self->abilities);
    if (means[0])
        printf("listening on %s:%d (sessions are confined by %s)\n", self->options->host, port,
               means);
    else
        printf("listening on %s:%d (sessions are not confined)\n", self->options->host, port);
    fflush(stdout);
}

static const char* expected_key(const server* self)
{
    return self->tracker ? tenon_tracker_key(self->tracker) : self->options->key;
}

/* A few at a time: who greets at once is heard before others can crowd it out. */
static void admit(server* self)
{
    for (int i = 0; i < kAcceptedAtOnce; ++i) {
        struct sockaddr_in from;
        socklen_t size = sizeof from;
        const int fd = accept4(self->listener, (struct sockaddr*)&from, &size, SOCK_CLOEXEC);
        if (fd >= 0) {
            tune(fd);
            tenon_room_admit(&self->room, fd, from.sin_addr.s_addr);
            continue;
        }
        if (errno == EINTR || errno == ECONNABORTED) continue;
        self->has_ended = errno == EINVAL; /* the listener was shut down */
        /* Not to turn round and round while there are no descriptors left. */
        if (errno != EAGAIN) nanosleep(&kMoment, NULL);
        return;
    }
}

static void start_session(server* self)
{
    tenon_guest guest;
    if (self->service.child || !tenon_room_take(&self->room, &guest)) return;
    if (self->tracker) tenon_tracker_spend(self->tracker);
    const tenon_client client = {guest.fd, guest.timeout_s};
    if (tenon_service_start(&self->service, &client, self->options, self->abilities) != 0 ||
        tenon_greeting_answer(guest.fd, kTenonRpcMagic, self->options->key) != 0)
        say_error();
    if (!self->service.child && self->tracker) tenon_tracker_served(self->tracker);
}

static void end_session(server* self, int status)
{
    const bool is_killed = status < 0;
    status = tenon_service_end(&self->service, status);
    if (!is_killed && WIFSIGNALED(status))
        fprintf(stderr, "tenon-rpc-server: a session ended by signal %d\n", WTERMSIG(status));
    if (self->tracker) tenon_tracker_served(self->tracker);
}

static void look_after_session(server* self, struct pollfd entry)
{
    int status = -1;
    if (!self->service.child) return;
    if (tenon_child_has_ended(self->service.child, &status)) {
        end_session(self, status);
    } else if (tenon_service_is_overdue(&self->service, entry)) {
        fprintf(stderr, "tenon-rpc-server: a session did not end by itself\n");
        end_session(self, -1);
    } else if (self->tracker && !tenon_tracker_holds(self->tracker)) {
        fprintf(stderr, "tenon-rpc-server: the client of the session is gone\n");
        end_session(self, -1);
    }
}

static int64_t sooner(int64_t one, int64_t other)
{
    return one < 0 || (other >= 0 && other < one) ? other : one;
}

/* Looks after the offer; nanoseconds until something is due, -1: never. */
static int64_t time_left(server* self)
{
    const int64_t left =
        sooner(tenon_room_time_left(&self->room), tenon_service_time_left(&self->service));
    if (!self->tracker) return left;
    if (self->service.child) return sooner(left, kTrackerNs);
    return sooner(left, tenon_tracker_offer(self->tracker) * INT64_C(1000000));
}

/* Serves one client after the other until it is interrupted or an attended server shall end. */
static void serve_clients(server* self)
{
    struct pollfd entries[2 + kTenonMostGuests];
    tenon_room_start(&self->room, self->options->greeting_ms);
    while (!tenon_interrupt_came() && !self->has_ended) {
        const int64_t left = time_left(self);
        entries[0] = (struct pollfd){.fd = self->listener, .events = POLLIN};
        entries[1] = tenon_service_entry(&self->service);
        tenon_room_entries(&self->room, entries + 2);
        const int count = 2 + self->room.count;
        if (!tenon_interrupt_wait(entries, count, left))
            for (int i = 0; i < count; ++i) entries[i].revents = 0;
        tenon_room_attend(&self->room, entries + 2, expected_key(self));
        if (entries[0].revents) admit(self);
        look_after_session(self, entries[1]);
        start_session(self);
    }
    tenon_room_end(&self->room);
    if (self->service.child) end_session(self, -1);
}

/* The session of an inherited socket; ends as its process does. */
static int serve_one(server* self)
{
    int status = -1;
    const tenon_client client = {.fd = self->options->fd};
    tenon_interrupt_catch();
    if (tenon_service_start(&self->service, &client, self->options, self->abilities) != 0)
        return give_up("start", TVMGetLastError());
    while (!tenon_interrupt_came() && !tenon_child_has_ended(self->service.child, &status)) {
        struct pollfd entry = tenon_service_entry(&self->service);
        if (!tenon_interrupt_wait(&entry, 1, tenon_service_time_left(&self->service)))
            entry.revents = 0;
        if (tenon_service_is_overdue(&self->service, entry)) break;
    }
    status = tenon_service_end(&self->service, status);
    tenon_interrupt_release();
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    const int signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : SIGTERM;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
    return 1;
}

static int listen_and_serve(server* self, tenon_tracker* tracker)
{
    const tenon_server_options* options = self->options;
    int port = options->port;
    self->listener = open_listener(options->host, &port);
    if (self->listener < 0) return give_up("listen", strerror(errno));
    announce(self, port);
    tracker->port = port;
    self->tracker = options->tracker ? tracker : NULL;
    tenon_interrupt_catch();
    if (options->is_attended && tenon_attend_watch(self->listener, options->silence_s) != 0)
        return give_up("start", TVMGetLastError());
    serve_clients(self);
    if (options->is_tidy) tenon_attend_tidy();
    return 0;
}

int main(int argc, char** argv)
{
    static server self; /* large */
    char key[kTenonMostKeyBytes + 1];
    tenon_tracker tracker = {.fd = -1};
    tenon_server_options options = tenon_server_options_read(argc, argv);
    self.options = &options;
    tenon_usable_processors(); /* asked here: sessions may not read the system's files */
    tenon_service_leave_home(options.fd);
    tenon_child_adopt();
    if (options.is_confined) self.abilities = tenon_sandbox_look();
    if (options.digest && tenon_attend_self(options.digest) != 0)
        return give_up("start", TVMGetLastError());
    if (options.fd >= 0) return serve_one(&self);
    tenon_sweep_folders();
    if (options.is_attended) {
        tenon_sweep_board();
        if (tenon_attend_key(key, sizeof key) != 0) return give_up("start", TVMGetLastError());
        options.key = key;
    }
    if (options.tracker && tenon_tracker_start(&tracker, options.tracker, options.key) != 0)
        return give_up("start", TVMGetLastError());
    return listen_and_serve(&self, &tracker);
}
