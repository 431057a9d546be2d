/* SPDX-License-Identifier: Apache-2.0 */
/* One session, in a process of its own that can do little else. */
#define _GNU_SOURCE
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../common/clock.h"
#include "../common/error.h"
#include "child.h"
#include "guard.h"
#include "interrupt.h"
#include "link.h"

extern char** environ;

enum
{
    kCloseRange = 436, /* the number of all processors */
    kSessionFd = 3,
    kMostWords = 8
};

static const int64_t kSecondNs = 1000000000;
static const int64_t kGraceNs = 1000000000;

/* What the runtime and its parts ask the environment for. */
static const char* const kKeptWords[kMostWords] = {
    "OMP_NUM_THREADS", "TENON_MEMORY_LIMIT", "TENON_NUM_THREADS", "TMPDIR", "TVM_NUM_THREADS"};

static void close_from(int first)
{
    if (syscall(kCloseRange, (unsigned)first, ~0u, 0) == 0) return;
    const long most = sysconf(_SC_OPEN_MAX);
    for (int fd = first; fd < (most > 0 && most < 65536 ? most : 65536); ++fd) close(fd);
}

static void close_all_but(int kept)
{
    for (int fd = kSessionFd; fd < kept; ++fd) close(fd);
    close_from(kept < kSessionFd ? kSessionFd : kept + 1);
}

static void empty_environment(void)
{
    char* kept[kMostWords] = {NULL};
    for (int i = 0; i < kMostWords && kKeptWords[i]; ++i) {
        const char* value = getenv(kKeptWords[i]);
        kept[i] = value ? strdup(value) : NULL;
    }
    /* Not only forgotten: /proc tells what is in that memory, and a model may look there. */
    for (char** word = environ; word && *word; ++word) memset(*word, 0, strlen(*word));
    clearenv();
    for (int i = 0; i < kMostWords && kKeptWords[i]; ++i)
        if (kept[i]) setenv(kKeptWords[i], kept[i], 1);
}

void tenon_service_leave_home(int kept)
{
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    close_all_but(kept);
    empty_environment();
}

/* The only descriptors: nothing to read, what is printed goes where errors go, and the client. */
static int move_client(int fd)
{
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    if (fd != kSessionFd) dup2(fd, kSessionFd);
    close_from(kSessionFd + 1);
    return kSessionFd;
}

static void say_error(void) { fprintf(stderr, "tenon-rpc-server: %s\n", TVMGetLastError()); }

/* Runs until the client leaves; does not return. */
static void serve(const tenon_service* service, const tenon_client* client,
                  const tenon_server_options* options, tenon_sandbox_abilities abilities)
{
    static tenon_rpc_session session; /* the guards look at it while the process lives */
    const int fd = move_client(client->fd);
    const tenon_sandbox_openings openings = {service->folder.path, options->path};
    const tenon_link_patience patience = {options->fd >= 0 ? 0 : options->greeting_ms,
                                          options->idle_ms};
    tenon_guard_limits(options->memory_mib, options->file_mib);
    if (tenon_sandbox_enter(abilities, &openings) != 0) {
        say_error();
        _exit(1);
    }
    tenon_rpc_session_start(&session, service->folder.path);
    session.owns_folder = false;
    session.readable = options->path;
    session.abilities = tenon_sandbox_text(abilities);
    tenon_guard_crashes(fd);
    if (tenon_guard_link(client->timeout_s) != 0) say_error();
    tenon_link_serve(fd, &session, &patience);
    tenon_rpc_session_end(&session);
    /* Workers of the thread pool may still spin: end without waiting for them. */
    fflush(NULL);
    _exit(0);
}

static void forget(tenon_service* service)
{
    service->child = 0;
    tenon_folder_discard(&service->folder);
    if (service->client >= 0) close(service->client);
    service->client = -1;
}

int tenon_service_start(tenon_service* service, const tenon_client* client,
                        const tenon_server_options* options, tenon_sandbox_abilities abilities)
{
    const bool needs_folder = options->fd < 0 || !options->path;
    memset(service, 0, sizeof *service);
    service->folder.lock = -1;
    service->client = client->fd;
    if (client->timeout_s > 0)
        service->end_ns = tenon_clock_ns() + client->timeout_s * kSecondNs + kGraceNs;
    service->child =
        needs_folder && tenon_folder_make(&service->folder) != 0 ? -1 : tenon_child_fork();
    if (service->child == 0) {
        tenon_interrupt_release();
        serve(service, client, options, abilities);
    }
    if (service->child > 0) return 0;
    const bool has_folder = service->folder.path[0] || !needs_folder;
    forget(service);
    return has_folder ? tenon_fail("no process for a session: %s", strerror(errno)) : -1;
}

struct pollfd tenon_service_entry(const tenon_service* service)
{
    const bool is_open = service->child > 0 && !service->has_hung_up;
    return (struct pollfd){.fd = is_open ? service->client : -1, .events = POLLRDHUP};
}

bool tenon_service_is_overdue(tenon_service* service, struct pollfd entry)
{
    const int64_t now = tenon_clock_ns();
    if (entry.fd >= 0 && entry.revents && !service->has_hung_up) {
        service->has_hung_up = true;
        if (!service->end_ns || service->end_ns > now + kGraceNs) service->end_ns = now + kGraceNs;
    }
    return service->end_ns && now >= service->end_ns;
}

int64_t tenon_service_time_left(const tenon_service* service)
{
    if (!service->child || !service->end_ns) return -1;
    const int64_t left = service->end_ns - tenon_clock_ns();
    return left > 0 ? left : 0;
}

int tenon_service_end(tenon_service* service, int status)
{
    if (!tenon_child_end_all(service->child, &status))
        fprintf(stderr, "tenon-rpc-server: processes of a session do not end\n");
    forget(service);
    return status;
}
