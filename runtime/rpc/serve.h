/* SPDX-License-Identifier: Apache-2.0 */
/* One session, in a process of its own that can do little else. */
#ifndef TENON_RUNTIME_RPC_SERVE_H
#define TENON_RUNTIME_RPC_SERVE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "folder.h"
#include "options.h"
#include "sandbox.h"

/** A connected client. */
typedef struct
{
    int fd;
    int timeout_s; /* of the whole session; 0: none */
} tenon_client;

typedef struct
{
    pid_t child; /* 0: no session */
    int client;
    int64_t end_ns; /* of the clock: when it is killed; 0: not yet known */
    bool has_hung_up;
    tenon_folder folder;
} tenon_service;

/** Starts the session in a child, with a folder unless the client names files by path; owns the
 * client's descriptor from now on. -1 with an error. */
int tenon_service_start(tenon_service* service, const tenon_client* client,
                        const tenon_server_options* options, tenon_sandbox_abilities abilities);

/** The process of a session sees by itself that its client hung up or its time is over, unless its
 * model keeps it from that. What to poll() for; */
struct pollfd tenon_service_entry(const tenon_service* service);
/** true when it did not end a moment after it should have; */
bool tenon_service_is_overdue(tenon_service* service, struct pollfd entry);
/** nanoseconds until that may be so, -1: never. */
int64_t tenon_service_time_left(const tenon_service* service);

/** Ends everything that the session is or has left, and its folder. The status of its process as
 * waitpid() tells it; `status` when that is known already, else -1. */
int tenon_service_end(tenon_service* service, int status);

/** Before anything else: leaves no core files, closes what was inherited, but `kept` (-1: nothing),
 * and empties the environment, which holds what is none of a model's business. */
void tenon_service_leave_home(int kept);

#endif
