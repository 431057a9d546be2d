/* SPDX-License-Identifier: Apache-2.0 */
/* The device part of the ABI. The only device is the CPU, so streams do nothing. */
#include <stdlib.h>
#include <string.h>

#include "dtype.h"
#include "error.h"
#include "object.h"

static int check_cpu(int device_type)
{
    return device_type == kDLCPU ? 0 : tenon_fail("there is no device type %d here", device_type);
}

int TVMStreamCreate(int device_type, int device_id, TVMStreamHandle* out)
{
    (void)device_id;
    *out = NULL;
    return check_cpu(device_type);
}

int TVMStreamFree(int device_type, int device_id, TVMStreamHandle stream)
{
    (void)device_id;
    (void)stream;
    return check_cpu(device_type);
}

int TVMSetStream(int device_type, int device_id, TVMStreamHandle handle)
{
    return TVMStreamFree(device_type, device_id, handle);
}

int TVMSynchronize(int device_type, int device_id, TVMStreamHandle stream)
{
    return TVMStreamFree(device_type, device_id, stream);
}

int TVMStreamStreamSynchronize(int device_type, int device_id, TVMStreamHandle src,
                               TVMStreamHandle dst)
{
    (void)dst;
    return TVMStreamFree(device_type, device_id, src);
}

int TVMDeviceAllocDataSpace(DLDevice dev, size_t nbytes, size_t alignment, DLDataType type_hint,
                            void** out_data)
{
    (void)type_hint;
    if (check_cpu(dev.device_type) != 0) return -1;
    if (alignment > 64) return tenon_fail("alignment %zu is above 64", alignment);
    *out_data = tenon_aligned_alloc(nbytes);
    return *out_data ? 0 : tenon_fail("out of memory for %zu bytes", nbytes);
}

int TVMDeviceAllocDataSpaceWithScope(DLDevice dev, int ndim, const int64_t* shape, DLDataType dtype,
                                     const char* mem_scope, void** out_data)
{
    size_t bytes;
    if (mem_scope && mem_scope[0] != 0 && strcmp(mem_scope, "global") != 0)
        return tenon_fail("no memory scope `%s` here", mem_scope);
    if (!tenon_tensor_bytes(shape, ndim, dtype, &bytes))
        return tenon_fail("a tensor of this shape and type cannot exist");
    return TVMDeviceAllocDataSpace(dev, bytes, 64, dtype, out_data);
}

int TVMDeviceFreeDataSpace(DLDevice dev, void* ptr)
{
    if (check_cpu(dev.device_type) != 0) return -1;
    free(ptr);
    return 0;
}

int TVMDeviceCopyDataFromTo(DLTensor* from, DLTensor* to, TVMStreamHandle stream)
{
    (void)stream;
    return tenon_tensor_copy(from, to);
}
