/* SPDX-License-Identifier: Apache-2.0 */
/* Packets over a file descriptor, and serving a session on it. */
#ifndef TENON_RUNTIME_RPC_LINK_H
#define TENON_RUNTIME_RPC_LINK_H

#include "session.h"

/** All of `size` bytes; -1 with an error when the link breaks first. */
int tenon_link_write(int fd, const void* data, size_t size);

/** All of `size` bytes of a socket, not later than `end_ns` of the clock, however little comes at a
 * time. */
int tenon_link_read_until(int fd, void* data, size_t size, int64_t end_ns);

/** How long a client may say nothing; or take for a packet, or for reading its answer, beyond the
 * second for each MiB. 0: for ever. */
typedef struct
{
    int first_ms; /* before it has opened the session */
    int idle_ms;  /* between two packets */
} tenon_link_patience;

/** Serves packets until the client says goodbye, the link ends or it says nothing for too long. */
void tenon_link_serve(int fd, tenon_rpc_session* session, const tenon_link_patience* patience);

#endif
