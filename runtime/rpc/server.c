/* SPDX-License-Identifier: Apache-2.0 */
/* tenon-rpc-server: serves one session on an inherited socket, or one after another on a port. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/error.h"
#include "attend.h"
#include "guard.h"
#include "link.h"

#if defined(__linux__)
#include <sys/prctl.h>
#endif

typedef struct
{
    int fd; /* -1: listen */
    int port;
    const char* host;
    const char* key;
    const char* digest; /* of this program's file; NULL: whatever it is */
    int memory_mib;     /* 0: no limit */
    int silence_s;      /* 0: no limit */
    bool may_open_paths;
    bool is_attended;
    bool is_tidy;
} options;

static const char kUsage[] =
    "usage: tenon-rpc-server --fd N [--trust-paths]\n"
    "       tenon-rpc-server [--host ADDRESS] [--port N] [--key TEXT | --attended [--tidy]]\n"
    "                        [--silence N] [--self SHA256] [--trust-paths]\n"
    "Serves the session on socket N and ends with it, or listens for one session after another.\n"
    "  --trust-paths  the client may load any file by absolute path, not only what it uploads\n"
    "  --memory N     MiB of data that a session may have (default 0: no limit)\n"
    "  --host ADDRESS to listen on (default 127.0.0.1: this computer only); who reaches it runs "
    "code\n"
    "  --port N       port to listen on (default 9090, 0: any free port)\n"
    "  --key TEXT     clients must ask for this key\n"
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

/* One connection in a child of its own; the folder is the parent's, so that it goes in any case. */
static void serve_connection(int listener, int fd, const options* chosen)
{
    char folder[kTenonPathCapacity];
    if (tenon_folder_make(folder) != 0) {
        fprintf(stderr, "tenon-rpc-server: %s\n", TVMGetLastError());
        close(fd);
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        int timeout_s;
        close(listener);
#if defined(__linux__)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
        if (tenon_link_greet(fd, chosen->key, &timeout_s) != 0) {
            fprintf(stderr, "tenon-rpc-server: %s\n", TVMGetLastError());
            _exit(1);
        }
        serve(fd, folder, chosen, timeout_s);
    }
    tenon_attend_session(child);
    close(fd);
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    tenon_attend_session(0);
    if (WIFSIGNALED(status))
        fprintf(stderr, "tenon-rpc-server: a session ended by signal %d\n", WTERMSIG(status));
    tenon_folder_remove(folder);
}

static int open_listener(const char* host, int port)
{
    int yes = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1) {
        errno = EINVAL;
        return -1;
    }
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(listener, (struct sockaddr*)&address, size) != 0 || listen(listener, 16) != 0 ||
        getsockname(listener, (struct sockaddr*)&address, &size) != 0)
        return -1;
    printf("listening on %s:%d\n", host, ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

/* Serves one client after the other; returns when an attended server shall end. */
static void serve_clients(int listener, const options* chosen)
{
    for (;;) {
        int yes = 1;
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0 && errno == EINVAL) return; /* the listener was shut down */
        if (fd < 0) continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        serve_connection(listener, fd, chosen);
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
    options chosen = read_options(argc, argv);
    if (chosen.fd >= 0) serve(chosen.fd, "", &chosen, 0);
    if (chosen.digest && tenon_attend_self(chosen.digest) != 0)
        return give_up("start", TVMGetLastError());
    if (chosen.is_attended) {
        if (tenon_attend_key(key, sizeof key) != 0) return give_up("start", TVMGetLastError());
        chosen.key = key;
    }
    int listener = open_listener(chosen.host, chosen.port);
    if (listener < 0) return give_up("listen", strerror(errno));
    if (chosen.is_attended && tenon_attend_watch(listener, chosen.silence_s) != 0)
        return give_up("start", TVMGetLastError());
    serve_clients(listener, &chosen);
    if (chosen.is_tidy) tenon_attend_tidy();
    return 0;
}
