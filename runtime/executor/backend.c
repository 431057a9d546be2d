/* SPDX-License-Identifier: Apache-2.0 */
/* The rest of what generated code may call: run-once, and symbols of system libraries. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../common/error.h"
#include "../include/tenon/c_backend_api.h"

int TVMBackendRunOnce(void** handle, int (*f)(void*), void* cdata, int nbytes)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (__atomic_load_n(handle, __ATOMIC_ACQUIRE)) return 0;
    int status = 0;
    pthread_mutex_lock(&lock);
    if (!*handle) {
        status = f(cdata);
        /* `cdata` belongs to the caller's frame; the handle only says that f has run. */
        (void)nbytes;
        if (status == 0) __atomic_store_n(handle, (void*)handle, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* Code that is linked into the program itself registers by constructors. This runtime loads files;
 * the system library belongs to the bare-metal runtime. */
int TVMBackendRegisterSystemLibSymbol(const char* name, void* ptr)
{
    (void)ptr;
    return tenon_fail("`%s`: this runtime has no system library", name);
}

/* Stock lets an embedder replace the functions that libraries are given; ours are fixed. */
int TVMBackendRegisterEnvCAPI(const char* name, void* ptr)
{
    (void)ptr;
    return tenon_fail("`%s`: entry points cannot be replaced", name);
}
