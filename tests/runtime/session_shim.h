/* SPDX-License-Identifier: Apache-2.0 */
/* The server's session and the blob reader behind plain types, for tests in C++. */
#ifndef TENON_TESTS_RUNTIME_SESSION_SHIM_H
#define TENON_TESTS_RUNTIME_SESSION_SHIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct shim_session;
struct shim_session* shim_session_new(const char* folder);
void shim_session_free(struct shim_session* session);
/** Handles one packet without its length; the reply (or NULL) and its size. 1 while it goes on. */
int shim_session_handle(struct shim_session* session, const void* packet, size_t size,
                        const uint8_t** reply, size_t* reply_size);

/** Reads a blob of modules over an empty library and drops the result; 0 or -1. */
int shim_blob_load(const void* stream, size_t size);

#ifdef __cplusplus
}
#endif

#endif
