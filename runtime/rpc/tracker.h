/* SPDX-License-Identifier: Apache-2.0 */
/* A server's place at a tracker of TVM's protocol: it says where it listens and offers itself, once
 * for each session, under a key that nobody can guess. */
#ifndef TENON_RUNTIME_RPC_TRACKER_H
#define TENON_RUNTIME_RPC_TRACKER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

enum
{
    kTenonMostKey = 128,
    kTenonMatchKeyCapacity = kTenonMostKey + 64
};

typedef struct
{
    const char* place; /* of the tracker, as text */
    struct sockaddr_in address;
    const char* key;                        /* what kind of board this is */
    int port;                               /* where this server listens */
    int fd;                                 /* -1: not connected */
    char match_key[kTenonMatchKeyCapacity]; /* what the next client must know; "": nobody can */
    bool is_spent;                          /* a client came with it */
    bool is_new;                            /* connected, but that was not said yet */
    bool is_offered;                        /* the tracker has the match key */
    bool knows_leases;                      /* it is a tracker of Tenon */
    bool has_failed;                        /* the last attempt did; said once */
    int missed;                             /* times the offer was gone though no client came */
    int wait_ms;                            /* between attempts to connect */
    int64_t next_ns;                        /* of the clock: when to do something again */
} tenon_tracker;

/** `address` is "ADDRESS:PORT" with a numeric address; -1 when it is not, or the key is impossible.
 */
int tenon_tracker_start(tenon_tracker* tracker, const char* address, const char* key);

/** While no session runs: connects, offers the server, and offers it anew when a client took the
 * offer and did not come. An unreachable tracker is tried again and again, ever more rarely and
 * never in step with others. Returns milliseconds until it should be called again. */
int tenon_tracker_offer(tenon_tracker* tracker);

/** While a session runs: false when the tracker says that its client is gone. */
bool tenon_tracker_holds(tenon_tracker* tracker);

/** The key that a client must know now; NULL: nobody can. */
const char* tenon_tracker_key(const tenon_tracker* tracker);
/** A client came with the key, which is worth nothing from now on. */
void tenon_tracker_spend(tenon_tracker* tracker);

/** The session is over: the next offer is due. */
void tenon_tracker_served(tenon_tracker* tracker);

#endif
