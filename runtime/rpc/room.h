/* SPDX-License-Identifier: Apache-2.0 */
/* The waiting room of a listening server: connections that greet, or wait for the session before
 * them to end. Nothing here ever waits for one of them. */
#ifndef TENON_RUNTIME_RPC_ROOM_H
#define TENON_RUNTIME_RPC_ROOM_H

#include <poll.h>
#include <stdbool.h>

#include "greeting.h"

enum
{
    kTenonMostGuests = 128
};

typedef struct
{
    int fd;
    uint32_t address; /* where it comes from */
    int64_t since_ns; /* of the clock */
    bool is_known;    /* it told the key, and waits */
    int timeout_s;    /* that it wishes for its session; 0: none */
    uint16_t size;    /* of what it said */
    uint8_t said[kTenonMostGreeting];
} tenon_guest;

typedef struct
{
    tenon_guest guests[kTenonMostGuests]; /* in the order in which they came */
    int count;
    int64_t patience_ns; /* for a whole greeting */
    int64_t told_ns;     /* when a refusal was last told of */
    int untold;          /* refusals since */
} tenon_room;

void tenon_room_start(tenon_room* room, int patience_ms);
/** Takes over the connection. When there are too many, of one address or in all, the one that has
 * taken longest over its greeting makes room; those who know the key stay. */
void tenon_room_admit(tenon_room* room, int fd, uint32_t address);
/** What to poll() for, one entry for each guest. */
void tenon_room_entries(const tenon_room* room, struct pollfd* entries);
/** Reads what came and sees off who is gone, wrong or late. `expected` is the key (NULL: nobody
 * knows it). */
void tenon_room_attend(tenon_room* room, const struct pollfd* entries, const char* expected);
/** Nanoseconds until somebody is late; -1: nobody ever. */
int64_t tenon_room_time_left(const tenon_room* room);
/** The next who may have a session; false when there is none. The caller owns its descriptor. */
bool tenon_room_take(tenon_room* room, tenon_guest* out);
void tenon_room_end(tenon_room* room);

#endif
