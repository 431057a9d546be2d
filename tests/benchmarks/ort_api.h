// SPDX-License-Identifier: Apache-2.0
// The part of ONNX Runtime's C API that the peer calls, by slot of its function table.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::bench::ort {

// Opaque objects and the two-entry base that OrtGetApiBase() returns. The function table only ever
// grows at its end, so these slots hold from API version 7 (the one asked for below) onwards;
// checked against onnxruntime_c_api.h of ONNX Runtime 1.14 and run against 1.30.
using Object = void*;
using Status = void*; ///< null on success

struct ApiBase
{
    void* const* (*getApi)(uint32_t version);
    const char* (*getVersionString)();
};

inline constexpr uint32_t kApiVersion = 7;
inline constexpr int kLogError = 3;
inline constexpr int kEnableAllOptimisations = 99;
inline constexpr int kArenaAllocator = 1;
inline constexpr int kDefaultMemory = 0;

/// A function of the table: its slot and its type.
template <size_t kSlot, class Function>
struct Entry
{
    static Function* of(void* const* table) { return reinterpret_cast<Function*>(table[kSlot]); }
};

using GetErrorMessage = Entry<2, const char*(Status)>;
using CreateEnv = Entry<3, Status(int level, const char* id, Object* env)>;
using CreateSession =
    Entry<7, Status(Object env, const char* path, Object options, Object* session)>;
using CreateSessionOptions = Entry<10, Status(Object* options)>;
using SetGraphOptimizationLevel = Entry<23, Status(Object options, int level)>;
using SetIntraOpNumThreads = Entry<24, Status(Object options, int threads)>;
using SetInterOpNumThreads = Entry<25, Status(Object options, int threads)>;
using SessionGetInputCount = Entry<30, Status(Object session, size_t* count)>;
using SessionGetOutputCount = Entry<31, Status(Object session, size_t* count)>;
using SessionGetInputName =
    Entry<36, Status(Object session, size_t index, Object allocator, char** name)>;
using SessionGetOutputName =
    Entry<37, Status(Object session, size_t index, Object allocator, char** name)>;
using CreateTensorWithData =
    Entry<49, Status(Object memory, void* data, size_t bytes, const int64_t* dims, size_t rank,
                     int elementType, Object* value)>;
using GetTensorMutableData = Entry<51, Status(Object value, void** data)>;
using GetTensorElementType = Entry<60, Status(Object shape, int* elementType)>;
using GetDimensionsCount = Entry<61, Status(Object shape, size_t* rank)>;
using GetDimensions = Entry<62, Status(Object shape, int64_t* dims, size_t rank)>;
using GetTensorTypeAndShape = Entry<65, Status(Object value, Object* shape)>;
using CreateCpuMemoryInfo = Entry<69, Status(int allocator, int memory, Object* info)>;
using GetDefaultAllocator = Entry<78, Status(Object* allocator)>;
using ReleaseStatus = Entry<93, void(Status)>;
using ReleaseSession = Entry<95, void(Object session)>;
using ReleaseValue = Entry<96, void(Object value)>;
using ReleaseTensorTypeAndShape = Entry<99, void(Object shape)>;
using RunWithBinding = Entry<133, Status(Object session, Object runOptions, Object binding)>;
using CreateIoBinding = Entry<134, Status(Object session, Object* binding)>;
using ReleaseIoBinding = Entry<135, void(Object binding)>;
using BindInput = Entry<136, Status(Object binding, const char* name, Object value)>;
using BindOutput = Entry<137, Status(Object binding, const char* name, Object value)>;
using BindOutputToDevice = Entry<138, Status(Object binding, const char* name, Object memory)>;
using GetBoundOutputValues =
    Entry<140, Status(Object binding, Object allocator, Object** values, size_t* count)>;

} // namespace tenon::bench::ort
