/* SPDX-License-Identifier: Apache-2.0 */
/* Signs of life while a session works on a packet; a client that does not ask for them gets none.
 */
#ifndef TENON_RUNTIME_RPC_HEART_H
#define TENON_RUNTIME_RPC_HEART_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct
{
    int fd;
    int interval_ms;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool has_thread;
    bool is_over;
    bool is_working;
    uint64_t packets; /* worked on so far */
} tenon_heart;

void tenon_heart_init(tenon_heart* heart, int fd);
/** From now on a Heartbeat packet says every `interval_ms` that a packet is still being worked on.
 * A second call changes nothing. -1 with an error. */
int tenon_heart_start(tenon_heart* heart, int64_t interval_ms);
/** Around the work: between them nobody else writes to the link. */
void tenon_heart_work(tenon_heart* heart);
void tenon_heart_rest(tenon_heart* heart);
void tenon_heart_end(tenon_heart* heart);

#endif
