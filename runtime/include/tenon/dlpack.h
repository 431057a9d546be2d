/* SPDX-License-Identifier: MIT-0 */
/* The DLPack tensor structures, binary compatible with DLPack ABI version 1 (interface 70). */
#ifndef TENON_DLPACK_H
#define TENON_DLPACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DLPACK_VERSION 70
#define DLPACK_ABI_VERSION 1

typedef enum
{
    kDLCPU = 1,
    kDLCUDA = 2,
    kDLCUDAHost = 3,
    kDLOpenCL = 4,
    kDLVulkan = 7,
    kDLMetal = 8,
    kDLVPI = 9,
    kDLROCM = 10,
    kDLROCMHost = 11,
    kDLExtDev = 12,
    kDLCUDAManaged = 13,
    kDLOneAPI = 14,
    kDLWebGPU = 15,
    kDLHexagon = 16
} DLDeviceType;

typedef enum
{
    kDLInt = 0,
    kDLUInt = 1,
    kDLFloat = 2,
    kDLOpaqueHandle = 3,
    kDLBfloat = 4,
    kDLComplex = 5
} DLDataTypeCode;

typedef struct
{
    int32_t device_type; /**< a DLDeviceType */
    int32_t device_id;
} DLDevice;

typedef struct
{
    uint8_t code; /**< a DLDataTypeCode */
    uint8_t bits;
    uint16_t lanes;
} DLDataType;

/** A borrowed view of a tensor; elements start at data + byte_offset. */
typedef struct
{
    void* data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t* shape;
    int64_t* strides; /**< in elements; NULL means compact row-major */
    uint64_t byte_offset;
} DLTensor;

/** A tensor together with the means to give it back: call deleter(self) exactly once. */
typedef struct DLManagedTensor
{
    DLTensor dl_tensor;
    void* manager_ctx;
    void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;

#ifdef __cplusplus
}
#endif

#endif
