/* SPDX-License-Identifier: Apache-2.0 */
/* One session, in a process of its own that can do little else. */
#ifndef TENON_RUNTIME_RPC_SERVE_H
#define TENON_RUNTIME_RPC_SERVE_H

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
    tenon_folder folder;
} tenon_service;

/** Starts the session in a child, with a folder unless the client names files by path; the caller
 * still owns the client's descriptor. -1 with an error. */
int tenon_service_start(tenon_service* service, const tenon_client* client,
                        const tenon_server_options* options, tenon_sandbox_abilities abilities);

/** Ends everything that the session is or has left, and its folder. The status of its process as
 * waitpid() tells it; `status` when that is known already, else -1. */
int tenon_service_end(tenon_service* service, int status);

/** Before anything else: leaves no core files, closes what was inherited, but `kept` (-1: nothing),
 * and empties the environment, which holds what is none of a model's business. */
void tenon_service_leave_home(int kept);

#endif
