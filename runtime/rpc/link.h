/* SPDX-License-Identifier: Apache-2.0 */
/* Packets over a file descriptor, and serving a session on it. */
#ifndef TENON_RUNTIME_RPC_LINK_H
#define TENON_RUNTIME_RPC_LINK_H

#include "session.h"

/** All of `size` bytes; -1 with an error when the link ends or breaks first. */
int tenon_link_read(int fd, void* data, size_t size);
int tenon_link_write(int fd, const void* data, size_t size);

/** Serves packets until the client says goodbye or the link ends. */
void tenon_link_serve(int fd, tenon_rpc_session* session);

/** What a listening server and its clients call each other. */
typedef struct
{
    const char* expected; /* the key that clients must know; "": they have none to know, NULL:
                             nobody does */
    const char* own;      /* the server's own key, which it tells them */
} tenon_link_keys;

/** The server's side of the handshake of a listening server: 0 when the client may go on. The
 * client's wish for a session timeout goes to *timeout_s (0: none). Who takes long to greet is
 * refused. */
int tenon_link_greet(int fd, const tenon_link_keys* keys, int* timeout_s);

#endif
