/* SPDX-License-Identifier: Apache-2.0 */
/* tenon-rpc-server: serves one session on an inherited socket, or one after another on a port. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/error.h"
#include "../common/processors.h"
#include "attend.h"
#include "guard.h"
#include "interrupt.h"
#include "link.h"
#include "tracker.h"

#if defined(__linux__)
#include <sys/prctl.h>
#endif

enum
{
    kRefused = 1, /* exit status of a child whose client did not know the key */
    kTrackerMs = 500
};

typedef struct
{
    int fd; /* -1: listen */
    int port;
    const char* host;
    const char* key;
    const char* tracker; /* NULL: none */
    const char* digest;  /* of this program's file; NULL: whatever it is */
    int memory_mib;      /* 0: no limit */
    int silence_s;       /* 0: no limit */
    bool may_open_paths;
    bool is_attended;
    bool is_tidy;
} options;

static const char kUsage[] =
    "usage: tenon-rpc-server --fd N [--trust-paths]\n"
    "       tenon-rpc-server [--host ADDRESS] [--port N] [--key TEXT [--tracker ADDRESS:PORT] |\n"
    "                        --attended [--tidy] [--silence N] [--trust-paths]] [--self SHA256]\n"
    "Serves the session on socket N and ends with it, or listens for one session after another.\n"
    "  --trust-paths  the client may load any file by absolute path, not only what it uploads\n"
    "  --memory N     MiB of data that a session may have (default 0: no limit)\n"
    "  --host ADDRESS to listen on (default 127.0.0.1: this computer only); who reaches it runs "
    "code\n"
    "  --port N       port to listen on (default 9090, 0: any free port)\n"
    "  --key TEXT     clients must ask for this key\n"
    "  --tracker A:P  offer this server there as TEXT; clients must ask the tracker for it\n"
    "  --attended     the key is the first line of standard input, whose end ends the server\n"
    "  --silence N    so does N seconds without a line of it (default 0: no limit)\n"
    "  --self SHA256  of this program's file; starts only when that is so\n"
    "  --tidy         removes the working folder at that end\n";

static int number_after(int argc, char** argv, int* at, int most)
{
    char* end = NULL;
    long value = *at + 1 < argc ? strtol(argv[++*at], &end, 10) : -1;
    if (!end || *end || value < 0 || value > most) {
        fputs(kUsage, stderr);
        exit(2);
    }
    return (int)value;
}

static options read_options(int argc, char** argv)
{
    options chosen = {.fd = -1, .port = 9090, .host = "127.0.0.1", .key = ""};
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--fd") == 0) {
            chosen.fd = number_after(argc, argv, &i, 65535);
        } else if (strcmp(argv[i], "--port") == 0) {
            chosen.port = number_after(argc, argv, &i, 65535);
        } else if (strcmp(argv[i], "--memory") == 0) {
            chosen.memory_mib = number_after(argc, argv, &i, 1 << 24);
        } else if (strcmp(argv[i], "--silence") == 0) {
            chosen.silence_s = number_after(argc, argv, &i, 1 << 20);
        } else if (strcmp(argv[i], "--host") == 0 && i + 1 < argc) {
            chosen.host = argv[++i];
        } else if (strcmp(argv[i], "--key") == 0 && i + 1 < argc) {
            chosen.key = argv[++i];
        } else if (strcmp(argv[i], "--tracker") == 0 && i + 1 < argc) {
            chosen.tracker = argv[++i];
        } else if (strcmp(argv[i], "--trust-paths") == 0) {
            chosen.may_open_paths = true;
        } else if (strcmp(argv[i], "--self") == 0 && i + 1 < argc) {
            chosen.digest = argv[++i];
        } else if (strcmp(argv[i], "--attended") == 0) {
            chosen.is_attended = true;
        } else if (strcmp(argv[i], "--tidy") == 0) {
            chosen.is_tidy = true;
        } else {
            bool is_help = strcmp(argv[i], "--help") == 0;
            fputs(kUsage, is_help ? stdout : stderr);
            exit(is_help ? 0 : 2);
        }
    }
    return chosen;
}

/* Runs until the client leaves; does not return. */
static void serve(int fd, const char* folder, const options* chosen, int timeout_s)
{
    static tenon_rpc_session session; /* the guards look at it while the process lives */
    tenon_rpc_session_start(&session, folder);
    bool is_own_user = chosen->fd >= 0 || chosen->is_attended;
    session.may_open_paths = chosen->may_open_paths && is_own_user;
    tenon_guard_limits((size_t)chosen->memory_mib);
    tenon_guard_crashes(fd, session.folder);
    if (tenon_guard_link(timeout_s) != 0)
        fprintf(stderr, "tenon-rpc-server: %s\n", TVMGetLastError());
    tenon_link_serve(fd, &session);
    tenon_rpc_session_end(&session);
    /* Workers of the thread pool may still spin: end without waiting for them. */
    fflush(NULL);
    _exit(0);
}

/* The child's part of serve_connection(). Who does not know the key gets status 1. */
static void serve_in_child(int fd, const char* folder, const options* chosen,
                           const tenon_link_keys* keys)
{
    int timeout_s;
    tenon_interrupt_release();
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (tenon_link_greet(fd, keys, &timeout_s) != 0) {
        fprintf(stderr, "tenon-rpc-server: %s\n", TVMGetLastError());
        _exit(kRefused);
    }
    serve(fd, folder, chosen, timeout_s);
}

/* Waits for the child, whose end closes `done`; kills it when it must not go on. The status. */
static int await_session(pid_t child, int done, tenon_tracker* tracker)
{
    int status = 0;
    bool is_killed = false;
    while (!tenon_interrupt_wait(done, tracker ? kTrackerMs : -1)) {
        bool is_lost = tracker && !tenon_tracker_holds(tracker);
        if (is_lost) fprintf(stderr, "tenon-rpc-server: the client of the session is gone\n");
        if (!is_lost && !tenon_interrupt_came()) continue;
        is_killed = kill(child, SIGKILL) == 0;
        break;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (WIFSIGNALED(status) && !is_killed)
        fprintf(stderr, "tenon-rpc-server: a session ended by signal %d\n", WTERMSIG(status));
    return status;
}

/* One connection in a child of its own; the folder is the parent's, so that it goes in any case. */
static void serve_connection(int listener, int fd, const options* chosen, tenon_tracker* tracker)
{
    char folder[kTenonPathCapacity];
    int done[2];
    tenon_link_keys keys = {chosen->key, chosen->key};
    if (tracker) keys.expected = tracker->match_key[0] ? tracker->match_key : NULL;
    if (pipe2(done, O_CLOEXEC) != 0) return;
    pid_t child = tenon_folder_make(folder) == 0 ? fork() : -1;
    if (child == 0) {
        close(listener);
        close(done[0]);
        if (tracker && tracker->fd >= 0) close(tracker->fd);
        serve_in_child(fd, folder, chosen, &keys);
    }
    close(done[1]);
    if (child > 0) {
        tenon_attend_session(child);
        int status = await_session(child, done[0], tracker);
        tenon_attend_session(0);
        bool was_served = !WIFEXITED(status) || WEXITSTATUS(status) != kRefused;
        if (tracker && was_served) tenon_tracker_served(tracker);
    } else {
        fprintf(stderr, "tenon-rpc-server: %s\n", TVMGetLastError());
    }
    close(done[0]);
    tenon_folder_remove(folder);
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
        bind(listener, (struct sockaddr*)&address, size) != 0 || listen(listener, 16) != 0 ||
        getsockname(listener, (struct sockaddr*)&address, &size) != 0)
        return -1;
    *port = ntohs(address.sin_port);
    printf("listening on %s:%d\n", host, *port);
    fflush(stdout);
    return listener;
}

/* Serves one client after the other until it is interrupted or an attended server shall end. */
static void serve_clients(int listener, const options* chosen, tenon_tracker* tracker)
{
    while (!tenon_interrupt_came()) {
        int yes = 1;
        if (!tenon_interrupt_wait(listener, tracker ? tenon_tracker_offer(tracker) : -1)) continue;
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0 && errno == EINVAL) return; /* the listener was shut down */
        if (fd < 0) continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        serve_connection(listener, fd, chosen, tracker);
        close(fd);
    }
}

static int give_up(const char* doing, const char* why)
{
    fprintf(stderr, "tenon-rpc-server: cannot %s: %s\n", doing, why);
    return 1;
}

int main(int argc, char** argv)
{
    char key[256];
    tenon_tracker tracker = {.fd = -1};
    options chosen = read_options(argc, argv);
    tenon_usable_processors(); /* asked here: sessions may not read the system's files */
    if (chosen.fd >= 0) serve(chosen.fd, "", &chosen, 0);
    if (chosen.digest && tenon_attend_self(chosen.digest) != 0)
        return give_up("start", TVMGetLastError());
    if (chosen.is_attended && chosen.tracker)
        return give_up("start", "--attended and --tracker exclude each other");
    if (chosen.is_attended) {
        if (tenon_attend_key(key, sizeof key) != 0) return give_up("start", TVMGetLastError());
        chosen.key = key;
    }
    if (chosen.tracker && tenon_tracker_start(&tracker, chosen.tracker, chosen.key) != 0)
        return give_up("start", TVMGetLastError());
    int listener = open_listener(chosen.host, &chosen.port);
    if (listener < 0) return give_up("listen", strerror(errno));
    tracker.port = chosen.port;
    tenon_interrupt_catch();
    if (chosen.is_attended && tenon_attend_watch(listener, chosen.silence_s) != 0)
        return give_up("start", TVMGetLastError());
    serve_clients(listener, &chosen, chosen.tracker ? &tracker : NULL);
    if (chosen.is_tidy) tenon_attend_tidy();
    return 0;
}
