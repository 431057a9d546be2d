/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that a loaded object may name: the runtime's ABI, and the four that C compilers
 * assume of every program. */
#include <stdint.h>
#include <string.h>

#include "../include/tenon/c_backend_api.h"
#include "elf_image.h"

typedef void (*any_function)(void);

#define OFFER(name)                                                                                \
    {                                                                                              \
#name, (any_function)name                                                                  \
    }
static const struct
{
    const char* name;
    any_function function;
} kAbi[] = {
    OFFER(TVMAPISetLastError),
    OFFER(TVMArrayAlloc),
    OFFER(TVMArrayCopyFromBytes),
    OFFER(TVMArrayCopyFromTo),
    OFFER(TVMArrayCopyToBytes),
    OFFER(TVMArrayFree),
    OFFER(TVMArrayFromDLPack),
    OFFER(TVMArrayToDLPack),
    OFFER(TVMBackendAllocWorkspace),
    OFFER(TVMBackendFreeWorkspace),
    OFFER(TVMBackendGetFuncFromEnv),
    OFFER(TVMBackendParallelBarrier),
    OFFER(TVMBackendParallelLaunch),
    OFFER(TVMBackendRegisterEnvCAPI),
    OFFER(TVMBackendRegisterSystemLibSymbol),
    OFFER(TVMBackendRunOnce),
    OFFER(TVMCFuncSetReturn),
    OFFER(TVMDLManagedTensorCallDeleter),
    OFFER(TVMDeviceAllocDataSpace),
    OFFER(TVMDeviceAllocDataSpaceWithScope),
    OFFER(TVMDeviceCopyDataFromTo),
    OFFER(TVMDeviceFreeDataSpace),
    OFFER(TVMFuncCall),
    OFFER(TVMFuncCreateFromCFunc),
    OFFER(TVMFuncFree),
    OFFER(TVMFuncGetGlobal),
    OFFER(TVMFuncListGlobalNames),
    OFFER(TVMFuncRegisterGlobal),
    OFFER(TVMFuncRemoveGlobal),
    OFFER(TVMGetLastError),
    OFFER(TVMModFree),
    OFFER(TVMModGetFunction),
    OFFER(TVMModImport),
    OFFER(TVMModLoadFromFile),
    OFFER(TVMSetStream),
    OFFER(TVMStreamCreate),
    OFFER(TVMStreamFree),
    OFFER(TVMStreamStreamSynchronize),
    OFFER(TVMSynchronize),
    OFFER(memcmp),
    OFFER(memcpy),
    OFFER(memmove),
    OFFER(memset),
};

void* tenon_abi_symbol(const char* name)
{
    for (size_t i = 0; i < sizeof kAbi / sizeof kAbi[0]; ++i)
        if (strcmp(kAbi[i].name, name) == 0) return (void*)(uintptr_t)kAbi[i].function;
    return NULL;
}
