/* SPDX-License-Identifier: Apache-2.0 */
/* A server that somebody holds by its standard input. */
#include "attend.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/error.h"
#include "files.h"
#include "receive.h"
#include "sha256.h"

/* A process has one standard input. */
static int s_silence_s;

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
    tenon_receive_files(STDIN_FILENO, s_silence_s);
    shutdown((int)(intptr_t)argument, SHUT_RDWR);
    return NULL;
}

int tenon_attend_watch(int listener, int silence_s)
{
    pthread_t thread;
    s_silence_s = silence_s;
    if (pthread_create(&thread, NULL, watch, (void*)(intptr_t)listener) != 0)
        return tenon_fail("cannot watch standard input");
    pthread_detach(thread);
    return 0;
}

int tenon_attend_self(const char* digest)
{
    uint8_t block[1 << 15];
    char found[TENON_SHA256_HEX];
    ssize_t got;
    tenon_sha256 hash;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return tenon_fail("cannot read the program: %s", strerror(errno));
    tenon_sha256_start(&hash);
    while ((got = read(fd, block, sizeof block)) > 0) tenon_sha256_add(&hash, block, (size_t)got);
    close(fd);
    tenon_sha256_finish(&hash, found);
    return strcmp(found, digest) == 0 ? 0 : tenon_fail("the program arrived damaged");
}

void tenon_attend_tidy(void)
{
    char folder[kTenonPathCapacity];
    char* end = getcwd(folder, sizeof folder) ? strrchr(folder, '/') : NULL;
    if (!end || end == folder || chdir("/") != 0) return;
    tenon_folder_remove_at(AT_FDCWD, folder);
    *end = 0;
    rmdir(folder);
}
