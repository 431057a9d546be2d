/* SPDX-License-Identifier: Apache-2.0 */
/* The server's side of one session: a packet goes in, the reply comes out; no input or output. */
#ifndef TENON_RUNTIME_RPC_SESSION_H
#define TENON_RUNTIME_RPC_SESSION_H

#include <stdbool.h>

#include "files.h"
#include "handles.h"
#include "heart.h"
#include "protocol.h"

typedef struct
{
    tenon_handles handles;
    tenon_folder folder;   /* of uploads; its path is "" until there is one */
    const char* readable;  /* what load_module takes by absolute path, beside uploads; or NULL */
    const char* abilities; /* what the session is held to (sandbox.h), for the probe; or NULL */
    tenon_heart* heart;    /* of the link; NULL: there is none */
    size_t memory_limit;   /* of data the client allocates */
    size_t memory_used;
    bool is_open; /* InitServer was accepted */
    bool owns_folder;
} tenon_rpc_session;

/** Starts a session without a client; uploads go to `folder`, or, when it is "", to a temporary one
 * made when it is needed and removed at the end. */
void tenon_rpc_session_start(tenon_rpc_session* session, const char* folder);
void tenon_rpc_session_end(tenon_rpc_session* session);

/** Handles `size` bytes of packet (code and body) and appends the reply packet, if there is one.
 * False when the session is over. */
bool tenon_rpc_session_handle(tenon_rpc_session* session, const uint8_t* packet, size_t size,
                              tenon_writer* reply);

/** Replies of one value; for the handlers in syscalls.c. */
void tenon_reply(tenon_writer* reply, TVMValue value, int code);
void tenon_reply_none(tenon_writer* reply);

/** Handles the device and copy packets; -1 with an error for an Exception reply, and for codes it
 * does not know. */
int tenon_rpc_syscall(tenon_rpc_session* session, tenon_rpc_code code, tenon_reader* body,
                      tenon_arena* arena, tenon_writer* reply);
/** Turns the handle in tensor->data into an address after checking that the tensor lies inside. */
int tenon_rpc_resolve_tensor(const tenon_rpc_session* session, DLTensor* tensor);

/** The session's own global functions, tvm.rpc.server.*; NULL when `name` is none of them. */
TVMBackendPackedCFunc tenon_rpc_server_function(const char* name);

#endif
