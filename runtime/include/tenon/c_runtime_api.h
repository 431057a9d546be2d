/* SPDX-License-Identifier: MIT-0 */
/* The embedder's C ABI: tensors, packed functions and modules. Every int function returns 0, or -1
 * after recording a text for TVMGetLastError. */
#ifndef TENON_C_RUNTIME_API_H
#define TENON_C_RUNTIME_API_H

#include "dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVM_VERSION "0.16.0"
#ifndef TVM_DLL
#define TVM_DLL __attribute__((visibility("default")))
#endif

typedef int64_t tvm_index_t;

/** Codes beside each TVMValue of a packed call. */
typedef enum
{
    kTVMArgInt = 0,
    kTVMArgFloat = 2,
    kTVMOpaqueHandle = 3,
    kTVMNullptr = 4,
    kTVMDataType = 5,
    kDLDevice = 6,
    kTVMDLTensorHandle = 7,
    kTVMObjectHandle = 8,
    kTVMModuleHandle = 9,
    kTVMPackedFuncHandle = 10,
    kTVMStr = 11,
    kTVMBytes = 12,
    kTVMNDArrayHandle = 13,
    kTVMObjectRValueRefArg = 14
} TVMArgTypeCode;

typedef union {
    int64_t v_int64;
    double v_float64;
    void* v_handle;
    const char* v_str;
    DLDataType v_type;
    DLDevice v_device;
} TVMValue;

typedef struct
{
    const char* data;
    size_t size;
} TVMByteArray;

typedef void* TVMModuleHandle;
typedef void* TVMFunctionHandle;
typedef void* TVMRetValueHandle;
typedef void* TVMStreamHandle;
typedef DLTensor* TVMArrayHandle;

/** A host function; returns its value through TVMCFuncSetReturn. */
typedef int (*TVMPackedCFunc)(TVMValue* args, int* type_codes, int num_args, TVMRetValueHandle ret,
                              void* resource_handle);
typedef void (*TVMPackedCFuncFinalizer)(void* resource_handle);

/** Error text is per thread and stays valid until the next failure on that thread. */
TVM_DLL void TVMAPISetLastError(const char* msg);
TVM_DLL const char* TVMGetLastError(void);

/** Modules. GetFunction yields NULL in *out, and 0, when there is no such function. */
TVM_DLL int TVMModLoadFromFile(const char* file_name, const char* format, TVMModuleHandle* out);
TVM_DLL int TVMModImport(TVMModuleHandle mod, TVMModuleHandle dep);
TVM_DLL int TVMModGetFunction(TVMModuleHandle mod, const char* func_name, int query_imports,
                              TVMFunctionHandle* out);
TVM_DLL int TVMModFree(TVMModuleHandle mod);

/** Functions. Strings and bytes in *ret_val live until the next call on the same thread; arrays,
 * modules and functions there belong to the caller. */
TVM_DLL int TVMFuncFree(TVMFunctionHandle func);
TVM_DLL int TVMFuncCall(TVMFunctionHandle func, TVMValue* arg_values, int* type_codes, int num_args,
                        TVMValue* ret_val, int* ret_type_code);
TVM_DLL int TVMCFuncSetReturn(TVMRetValueHandle ret, TVMValue* value, int* type_code, int num_ret);
TVM_DLL int TVMFuncCreateFromCFunc(TVMPackedCFunc func, void* resource_handle,
                                   TVMPackedCFuncFinalizer fin, TVMFunctionHandle* out);
TVM_DLL int TVMFuncRegisterGlobal(const char* name, TVMFunctionHandle f, int override);
TVM_DLL int TVMFuncGetGlobal(const char* name, TVMFunctionHandle* out);
TVM_DLL int TVMFuncListGlobalNames(int* out_size, const char*** out_array);
TVM_DLL int TVMFuncRemoveGlobal(const char* name);

/** Arrays: compact, 64-byte aligned, freed with TVMArrayFree. */
TVM_DLL int TVMArrayAlloc(const tvm_index_t* shape, int ndim, int dtype_code, int dtype_bits,
                          int dtype_lanes, int device_type, int device_id, TVMArrayHandle* out);
TVM_DLL int TVMArrayFree(TVMArrayHandle handle);
TVM_DLL int TVMArrayCopyFromBytes(TVMArrayHandle handle, void* data, size_t nbytes);
TVM_DLL int TVMArrayCopyToBytes(TVMArrayHandle handle, void* data, size_t nbytes);
TVM_DLL int TVMArrayCopyFromTo(TVMArrayHandle from, TVMArrayHandle to, TVMStreamHandle stream);
TVM_DLL int TVMArrayFromDLPack(DLManagedTensor* from, TVMArrayHandle* out);
TVM_DLL int TVMArrayToDLPack(TVMArrayHandle from, DLManagedTensor** out);
TVM_DLL void TVMDLManagedTensorCallDeleter(DLManagedTensor* dltensor);

/** Devices. Only the CPU exists here, so streams are accepted and do nothing. */
TVM_DLL int TVMStreamCreate(int device_type, int device_id, TVMStreamHandle* out);
TVM_DLL int TVMStreamFree(int device_type, int device_id, TVMStreamHandle stream);
TVM_DLL int TVMSetStream(int device_type, int device_id, TVMStreamHandle handle);
TVM_DLL int TVMSynchronize(int device_type, int device_id, TVMStreamHandle stream);
TVM_DLL int TVMStreamStreamSynchronize(int device_type, int device_id, TVMStreamHandle src,
                                       TVMStreamHandle dst);
TVM_DLL int TVMDeviceAllocDataSpace(DLDevice dev, size_t nbytes, size_t alignment,
                                    DLDataType type_hint, void** out_data);
TVM_DLL int TVMDeviceAllocDataSpaceWithScope(DLDevice dev, int ndim, const int64_t* shape,
                                             DLDataType dtype, const char* mem_scope,
                                             void** out_data);
TVM_DLL int TVMDeviceFreeDataSpace(DLDevice dev, void* ptr);
TVM_DLL int TVMDeviceCopyDataFromTo(DLTensor* from, DLTensor* to, TVMStreamHandle stream);

#ifdef __cplusplus
}
#endif

#endif
