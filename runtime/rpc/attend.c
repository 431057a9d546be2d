/* SPDX-License-Identifier: Apache-2.0 */
/* A server that somebody holds by its standard input. */
#include "attend.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/error.h"
#include "files.h"

/* A process has one standard input. */
static pthread_mutex_t s_lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t s_child;
static bool s_has_ended;

int tenon_attend_key(char* key, size_t capacity)
{
    /* A link that breaks may hang up or close the log first; the end of standard input still has to
     * be seen, or the folder would stay. */
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    for (size_t size = 0; size < capacity;) {
        ssize_t got = read(STDIN_FILENO, key + size, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (key[size] != '\n') {
            ++size;
            continue;
        }
        key[size] = 0;
        return size ? 0 : tenon_fail("the key is empty");
    }
    return tenon_fail("standard input holds no line with a key");
}

static void* watch(void* argument)
{
    char byte;
    ssize_t got;
    do {
        got = read(STDIN_FILENO, &byte, 1);
    } while (got > 0 || (got < 0 && errno == EINTR));
    pthread_mutex_lock(&s_lock);
    s_has_ended = true;
    if (s_child > 0) kill(s_child, SIGKILL);
    pthread_mutex_unlock(&s_lock);
    shutdown((int)(intptr_t)argument, SHUT_RDWR);
    return NULL;
}

int tenon_attend_watch(int listener)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch, (void*)(intptr_t)listener) != 0)
        return tenon_fail("cannot watch standard input");
    pthread_detach(thread);
    return 0;
}

void tenon_attend_session(pid_t child)
{
    pthread_mutex_lock(&s_lock);
    s_child = child;
    if (s_has_ended && child > 0) kill(child, SIGKILL);
    pthread_mutex_unlock(&s_lock);
}

int tenon_attend_tidy(void)
{
    static const char kScript[] =
        "cd / && rm -rf -- \"$0\"; cd \"${0%/*}\" && "
        "find . -maxdepth 1 -name 'run-*' -mtime +0 -exec rm -rf {} + ; cd /; "
        "rmdir -- \"${0%/*}\" 2>/dev/null; true";
    char folder[kTenonPathCapacity];
    if (!getcwd(folder, sizeof folder)) return 1;
    execl("/bin/sh", "sh", "-c", kScript, folder, (char*)NULL);
    return 1;
}
