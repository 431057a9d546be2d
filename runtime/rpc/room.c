/* SPDX-License-Identifier: Apache-2.0 */
/* The waiting room of a listening server. */
#define _GNU_SOURCE
#include "room.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/clock.h"
#include "../common/error.h"
#include "../include/tenon/c_runtime_api.h"
#include "protocol.h"

enum
{
    kMostOfOneAddress = 32,
    kMostWaitingOfOneAddress = 16
};

void tenon_room_start(tenon_room* room, int patience_ms)
{
    memset(room, 0, sizeof *room);
    room->patience_ns = patience_ms * INT64_C(1000000);
}

static void forget(tenon_room* room, int index)
{
    --room->count;
    memmove(&room->guests[index], &room->guests[index + 1],
            (size_t)(room->count - index) * sizeof room->guests[0]);
}

static void see_off(tenon_room* room, int index)
{
    close(room->guests[index].fd);
    forget(room, index);
}

/* A flood must not fill the log as well: one line a second. */
static void tell(tenon_room* room, const char* why)
{
    const int64_t now = tenon_clock_ns();
    ++room->untold;
    if (room->told_ns && now - room->told_ns < INT64_C(1000000000)) return;
    fprintf(stderr, "tenon-rpc-server: %s", why);
    if (room->untold > 1) fprintf(stderr, " (and %d more)", room->untold - 1);
    fputc('\n', stderr);
    room->told_ns = now;
    room->untold = 0;
}

static int count_of(const tenon_room* room, uint32_t address, bool only_known)
{
    int count = 0;
    for (int i = 0; i < room->count; ++i)
        count += room->guests[i].address == address && (!only_known || room->guests[i].is_known);
    return count;
}

/* The first who still greets, of one address or (any) of that with the most guests. */
static int slowest(const tenon_room* room, uint32_t address, bool is_any)
{
    int found = -1, most = 0;
    for (int i = 0; i < room->count; ++i) {
        const tenon_guest* guest = &room->guests[i];
        if (guest->is_known) continue;
        if (!is_any && guest->address == address) return i;
        const int alike = is_any ? count_of(room, guest->address, false) : 0;
        if (alike <= most) continue;
        most = alike;
        found = i;
    }
    return found;
}

void tenon_room_admit(tenon_room* room, int fd, uint32_t address)
{
    const bool is_full = room->count == kTenonMostGuests;
    const bool are_many = count_of(room, address, false) >= kMostOfOneAddress;
    if (is_full || are_many) {
        const int leaving = slowest(room, address, !are_many);
        tell(room, "too many connections at once");
        if (leaving < 0) {
            close(fd);
            return;
        }
        see_off(room, leaving);
    }
    tenon_guest* guest = &room->guests[room->count++];
    guest->fd = fd;
    guest->address = address;
    guest->since_ns = tenon_clock_ns();
    guest->is_known = false;
    guest->timeout_s = 0;
    guest->size = 0;
}

void tenon_room_entries(const tenon_room* room, struct pollfd* entries)
{
    for (int i = 0; i < room->count; ++i)
        entries[i] = (struct pollfd){
            .fd = room->guests[i].fd,
            .events = room->guests[i].is_known ? POLLRDHUP : (short)(POLLIN | POLLRDHUP)};
}

/* 1 when the greeting is whole, 0 when more must come, -1 when the connection is gone or wrong. */
static int read_some(tenon_guest* guest)
{
    for (;;) {
        const int size = tenon_greeting_size(guest->said, guest->size);
        if (size < 0) return -1;
        if (guest->size == size) return 1;
        const ssize_t got =
            recv(guest->fd, guest->said + guest->size, (size_t)(size - guest->size), MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
        if (got <= 0) return tenon_fail("a client left in the middle of its greeting");
        guest->size = (uint16_t)(guest->size + got);
    }
}

/* False when the guest has to go. */
static bool hear(tenon_room* room, tenon_guest* guest, const char* expected)
{
    const int status = read_some(guest);
    if (status == 0) return true;
    if (status < 0) {
        tell(room, TVMGetLastError());
        return false;
    }
    if (tenon_greeting_check(guest->said, guest->size, expected, &guest->timeout_s) != 0) {
        tell(room, TVMGetLastError());
        tenon_greeting_answer(guest->fd, kTenonRpcMismatch, "");
        return false;
    }
    if (count_of(room, guest->address, true) >= kMostWaitingOfOneAddress) {
        tenon_greeting_answer(guest->fd, kTenonRpcDuplicate, "");
        return false;
    }
    guest->is_known = true;
    return true;
}

static bool may_stay(tenon_room* room, tenon_guest* guest, short events, const char* expected)
{
    if (guest->is_known) return (events & (POLLRDHUP | POLLHUP | POLLERR)) == 0;
    if (events && !hear(room, guest, expected)) return false;
    if (guest->is_known || tenon_clock_ns() - guest->since_ns < room->patience_ns) return true;
    tell(room, "a client took too long to greet");
    return false;
}

void tenon_room_attend(tenon_room* room, const struct pollfd* entries, const char* expected)
{
    /* Backwards: whoever leaves moves only those that were looked after. */
    for (int i = room->count; i-- > 0;)
        if (!may_stay(room, &room->guests[i], entries[i].revents, expected)) see_off(room, i);
}

int64_t tenon_room_time_left(const tenon_room* room)
{
    for (int i = 0; i < room->count; ++i) {
        if (room->guests[i].is_known) continue;
        const int64_t left = room->guests[i].since_ns + room->patience_ns - tenon_clock_ns();
        return left > 0 ? left : 0;
    }
    return -1;
}

bool tenon_room_take(tenon_room* room, tenon_guest* out)
{
    for (int i = 0; i < room->count; ++i) {
        if (!room->guests[i].is_known) continue;
        *out = room->guests[i];
        forget(room, i);
        return true;
    }
    return false;
}

void tenon_room_end(tenon_room* room)
{
    while (room->count > 0) see_off(room, room->count - 1);
}
