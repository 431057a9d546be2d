/* SPDX-License-Identifier: MIT-0 */
/* What generated code may call, and the structures it hands to the runtime. */
#ifndef TENON_C_BACKEND_API_H
#define TENON_C_BACKEND_API_H

#include "c_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The signature of every exported kernel; resource_handle is NULL for ordinary calls. */
typedef int (*TVMBackendPackedCFunc)(TVMValue* args, int* type_codes, int num_args,
                                     TVMValue* out_ret_value, int* out_ret_tcode,
                                     void* resource_handle);

enum
{
    /** What a kernel returns when its data divided an integer by zero: the fault of the data, told
     * with the node's name. Other kernels of the artifact return 0, or -1 after recording a text.
     */
    kTenonDividedByZero = 1
};

/** Finds a function among the imports of `mod_node`, then among the globals; owned by the module.
 */
TVM_DLL int TVMBackendGetFuncFromEnv(void* mod_node, const char* func_name, TVMFunctionHandle* out);

/** Temporary memory, 64-byte aligned: a stack per thread, freed in reverse order. */
TVM_DLL void* TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes,
                                       int dtype_code_hint, int dtype_bits_hint);
TVM_DLL int TVMBackendFreeWorkspace(int device_type, int device_id, void* ptr);

typedef struct
{
    void* sync_handle;
    int32_t num_task;
} TVMParallelGroupEnv;

typedef int (*FTVMParallelLambda)(int task_id, TVMParallelGroupEnv* penv, void* cdata);

/** Runs task_id 0..num_task-1; num_task 0 leaves their number to the pool, which takes several for
 * each of its threads. Tasks that meet in barriers say how many they are. */
TVM_DLL int TVMBackendParallelLaunch(FTVMParallelLambda flambda, void* cdata, int num_task);
/** Waits for all tasks of the launch; -1 when they do not all run at the same time. */
TVM_DLL int TVMBackendParallelBarrier(int task_id, TVMParallelGroupEnv* penv);

/** Runs f(copy of cdata) once for *handle, which must start out NULL. */
TVM_DLL int TVMBackendRunOnce(void** handle, int (*f)(void*), void* cdata, int nbytes);

TVM_DLL int TVMBackendRegisterSystemLibSymbol(const char* name, void* ptr);
TVM_DLL int TVMBackendRegisterEnvCAPI(const char* name, void* ptr);

/** What get_c_metadata of an AOT library returns a pointer to (version 1). */
typedef struct
{
    const char* name;
    const int64_t* shape;
    int64_t num_shape;
    DLDataType dtype;
} TVMTensorInfo;

typedef struct
{
    const char* name_hint;
    int64_t byte_offset;
    int64_t data_len;
    const void* data_bytes; /**< a serialised NDArray */
} TVMConstantInfo;

typedef struct
{
    int64_t version;
    const TVMTensorInfo* inputs;
    int64_t num_inputs;
    const TVMTensorInfo* outputs;
    int64_t num_outputs;
    const TVMTensorInfo* workspace_pools;
    int64_t num_workspace_pools;
    const TVMConstantInfo* constant_pools;
    int64_t num_constant_pools;
    const char* mod_name;
} TVMMetadata;

/* Inputs, outputs and pools that an executor takes of each; more is damage. */
#define TENON_MOST_TENSORS 65536
/* Dimensions of each. */
#define TENON_MOST_DIMS 32

/** Type of the variable __TenonProfileMark that an instrumented library exports: called with i
 * before its call i, and with the number of calls after the last one. */
typedef void (*TenonProfileMarkFunc)(int32_t call_index);

#ifdef __cplusplus
}
#endif

#endif
