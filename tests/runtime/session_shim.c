/* SPDX-License-Identifier: Apache-2.0 */
/* The server's session and the blob reader behind plain types. */
#include "session_shim.h"

#include "runtime/executor/blob.h"
#include "runtime/rpc/session.h"

#include <stdlib.h>

struct shim_session
{
    tenon_rpc_session session;
    tenon_writer reply;
};

struct shim_session* shim_session_new(const char* folder)
{
    struct shim_session* shim = calloc(1, sizeof *shim);
    tenon_rpc_session_start(&shim->session, folder);
    shim->reply = tenon_writer_of(1 << 20);
    return shim;
}

void shim_session_free(struct shim_session* shim)
{
    tenon_rpc_session_end(&shim->session);
    tenon_writer_free(&shim->reply);
    free(shim);
}

int shim_session_handle(struct shim_session* shim, const void* packet, size_t size,
                        const uint8_t** reply, size_t* reply_size)
{
    shim->reply.size = 0;
    bool goes_on = tenon_rpc_session_handle(&shim->session, packet, size, &shim->reply);
    *reply = shim->reply.data;
    *reply_size = shim->reply.size;
    return goes_on;
}

static int find_nothing(tenon_module* module, const char* name, tenon_func** out)
{
    (void)module;
    (void)name;
    (void)out;
    return 0;
}

static void destroy(tenon_module* module)
{
    tenon_module_clear(module);
    free(module);
}

static const tenon_module_type kEmptyType = {"library", find_nothing, destroy};

int shim_blob_load(const void* stream, size_t size)
{
    tenon_module* root = NULL;
    tenon_module* library = calloc(1, sizeof *library);
    tenon_module_init(library, &kEmptyType);
    int status = tenon_blob_load(stream, size, library, &root);
    if (status == 0) tenon_module_unref(root);
    tenon_module_unref(library);
    return status;
}
