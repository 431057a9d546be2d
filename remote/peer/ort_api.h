// SPDX-License-Identifier: Apache-2.0
// The part of ONNX Runtime's C API that the peer calls, by slot of its function table.
#pragma once

#include "remote/peer/ort_slots.h"

#include <cstddef>
#include <cstdint>

namespace tenon::remote::ort {

// Opaque objects and the two-entry base that OrtGetApiBase() returns.
using Object = void*;
using Status = void*; ///< null on success

struct ApiBase
{
    void* const* (*getApi)(uint32_t version);
    const char* (*getVersionString)();
};

/// A function of the table: its slot and its type.
template <size_t kSlot, class Function>
struct Entry
{
    static Function* of(void* const* table) { return reinterpret_cast<Function*>(table[kSlot]); }
};

using GetErrorMessage = Entry<kOrtGetErrorMessage, const char*(Status)>;
using CreateEnv = Entry<kOrtCreateEnv, Status(int level, const char* id, Object* env)>;
using CreateSession =
    Entry<kOrtCreateSession, Status(Object env, const char* path, Object options, Object* session)>;
using CreateSessionOptions = Entry<kOrtCreateSessionOptions, Status(Object* options)>;
using SetGraphOptimizationLevel =
    Entry<kOrtSetGraphOptimizationLevel, Status(Object options, int level)>;
using SetIntraOpNumThreads = Entry<kOrtSetIntraOpNumThreads, Status(Object options, int threads)>;
using SetInterOpNumThreads = Entry<kOrtSetInterOpNumThreads, Status(Object options, int threads)>;
using SessionGetInputCount = Entry<kOrtSessionGetInputCount, Status(Object session, size_t* count)>;
using SessionGetOutputCount =
    Entry<kOrtSessionGetOutputCount, Status(Object session, size_t* count)>;
using SessionGetInputName = Entry<kOrtSessionGetInputName, Status(Object session, size_t index,
                                                                  Object allocator, char** name)>;
using SessionGetOutputName = Entry<kOrtSessionGetOutputName, Status(Object session, size_t index,
                                                                    Object allocator, char** name)>;
using CreateTensorWithData =
    Entry<kOrtCreateTensorWithData,
          Status(Object memory, void* data, size_t bytes, const int64_t* dims, size_t rank,
                 int elementType, Object* value)>;
using GetTensorMutableData = Entry<kOrtGetTensorMutableData, Status(Object value, void** data)>;
using GetTensorElementType =
    Entry<kOrtGetTensorElementType, Status(Object shape, int* elementType)>;
using GetDimensionsCount = Entry<kOrtGetDimensionsCount, Status(Object shape, size_t* rank)>;
using GetDimensions = Entry<kOrtGetDimensions, Status(Object shape, int64_t* dims, size_t rank)>;
using GetTensorTypeAndShape = Entry<kOrtGetTensorTypeAndShape, Status(Object value, Object* shape)>;
using CreateCpuMemoryInfo =
    Entry<kOrtCreateCpuMemoryInfo, Status(int allocator, int memory, Object* info)>;
using GetDefaultAllocator = Entry<kOrtGetDefaultAllocator, Status(Object* allocator)>;
using ReleaseStatus = Entry<kOrtReleaseStatus, void(Status)>;
using ReleaseSession = Entry<kOrtReleaseSession, void(Object session)>;
using ReleaseValue = Entry<kOrtReleaseValue, void(Object value)>;
using ReleaseTensorTypeAndShape = Entry<kOrtReleaseTensorTypeAndShape, void(Object shape)>;
using RunWithBinding =
    Entry<kOrtRunWithBinding, Status(Object session, Object runOptions, Object binding)>;
using CreateIoBinding = Entry<kOrtCreateIoBinding, Status(Object session, Object* binding)>;
using ReleaseIoBinding = Entry<kOrtReleaseIoBinding, void(Object binding)>;
using BindInput = Entry<kOrtBindInput, Status(Object binding, const char* name, Object value)>;
using BindOutput = Entry<kOrtBindOutput, Status(Object binding, const char* name, Object value)>;
using BindOutputToDevice =
    Entry<kOrtBindOutputToDevice, Status(Object binding, const char* name, Object memory)>;
using GetBoundOutputValues =
    Entry<kOrtGetBoundOutputValues,
          Status(Object binding, Object allocator, Object** values, size_t* count)>;

} // namespace tenon::remote::ort
