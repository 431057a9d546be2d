/* SPDX-License-Identifier: Apache-2.0 */
/* Signs of life while a session works on a packet. */
#define _GNU_SOURCE
#include "heart.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <time.h>

#include "../common/error.h"
#include "protocol.h"

enum
{
    kLeastMs = 10,
    kMostMs = 10000
};

void tenon_heart_init(tenon_heart* heart, int fd)
{
    pthread_condattr_t attributes;
    *heart = (tenon_heart){.fd = fd};
    pthread_mutex_init(&heart->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&heart->over, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Only into an empty buffer: a part of a packet, because the client reads nothing at the moment,
 * could not be taken back. */
static void beat(const tenon_heart* heart)
{
    uint8_t packet[12] = {4};
    for (int i = 0; i < 4; ++i) packet[8 + i] = (uint8_t)(kTenonRpcHeartbeat >> (8 * i));
    int waiting = 0;
    if (ioctl(heart->fd, TIOCOUTQ, &waiting) != 0 || waiting != 0) return;
    const ssize_t sent = send(heart->fd, packet, sizeof packet, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent; /* who is gone is noticed elsewhere */
}

static struct timespec next_beat(int interval_ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += interval_ms / 1000;
    at.tv_nsec += interval_ms % 1000 * 1000000L;
    if (at.tv_nsec >= 1000000000L) {
        at.tv_nsec -= 1000000000L;
        ++at.tv_sec;
    }
    return at;
}

/* What is done within an interval is its own sign of life: nothing disturbs short calls. */
static void* live(void* argument)
{
    tenon_heart* heart = argument;
    pthread_mutex_lock(&heart->lock);
    while (!heart->is_over) {
        const uint64_t packets = heart->packets;
        const struct timespec until = next_beat(heart->interval_ms);
        while (!heart->is_over &&
               pthread_cond_timedwait(&heart->over, &heart->lock, &until) != ETIMEDOUT) {}
        if (!heart->is_over && heart->is_working && heart->packets == packets) beat(heart);
    }
    pthread_mutex_unlock(&heart->lock);
    return NULL;
}

int tenon_heart_start(tenon_heart* heart, int64_t interval_ms)
{
    if (interval_ms < kLeastMs || interval_ms > kMostMs)
        return tenon_fail("a heartbeat comes every %d to %d ms", kLeastMs, kMostMs);
    if (heart->has_thread) return 0;
    heart->interval_ms = (int)interval_ms;
    if (pthread_create(&heart->thread, NULL, live, heart) != 0)
        return tenon_fail("no thread for a heartbeat");
    heart->has_thread = true;
    return 0;
}

static void set_working(tenon_heart* heart, bool is_working)
{
    if (!heart->has_thread) return;
    pthread_mutex_lock(&heart->lock);
    heart->is_working = is_working;
    if (is_working) ++heart->packets;
    pthread_mutex_unlock(&heart->lock);
}

void tenon_heart_work(tenon_heart* heart) { set_working(heart, true); }
void tenon_heart_rest(tenon_heart* heart) { set_working(heart, false); }

void tenon_heart_end(tenon_heart* heart)
{
    if (heart->has_thread) {
        pthread_mutex_lock(&heart->lock);
        heart->is_over = true;
        pthread_cond_signal(&heart->over);
        pthread_mutex_unlock(&heart->lock);
        pthread_join(heart->thread, NULL);
    }
    pthread_cond_destroy(&heart->over);
    pthread_mutex_destroy(&heart->lock);
}
