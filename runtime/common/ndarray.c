/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays: allocation, views, copies and DLPack exchange. */
#include <stdlib.h>
#include <string.h>

#include "dtype.h"
#include "error.h"
#include "object.h"

void* tenon_aligned_alloc(size_t size)
{
    if (size > SIZE_MAX / 2) return NULL;
    size_t rounded = (size + 63) & ~(size_t)63;
    return aligned_alloc(64, rounded ? rounded : 64);
}

tenon_array* tenon_array_view(const DLTensor* tensor, void (*release)(void*), void* context)
{
    size_t rank = (size_t)tensor->ndim;
    tenon_array* array = malloc(sizeof *array + rank * sizeof(int64_t));
    if (!array) {
        tenon_fail("out of memory for an array");
        return NULL;
    }
    array->tensor = *tensor;
    array->tensor.shape = array->shape;
    array->tensor.strides = NULL;
    if (rank) memcpy(array->shape, tensor->shape, rank * sizeof(int64_t));
    atomic_init(&array->refs, 1);
    array->release = release;
    array->context = context;
    return array;
}

tenon_array* tenon_array_new(const int64_t* shape, int32_t ndim, DLDataType dtype)
{
    size_t bytes;
    if (!tenon_tensor_bytes(shape, ndim, dtype, &bytes)) {
        tenon_fail("an array of this shape and type cannot exist");
        return NULL;
    }
    void* data = tenon_aligned_alloc(bytes);
    if (!data) {
        tenon_fail("out of memory for an array of %zu bytes", bytes);
        return NULL;
    }
    DLTensor tensor = {.data = data,
                       .device = {kDLCPU, 0},
                       .ndim = ndim,
                       .dtype = dtype,
                       .shape = (int64_t*)shape};
    tenon_array* array = tenon_array_view(&tensor, free, data);
    if (!array) free(data);
    return array;
}

tenon_array* tenon_array_ref(tenon_array* array)
{
    atomic_fetch_add(&array->refs, 1);
    return array;
}

void tenon_array_unref(tenon_array* array)
{
    if (!array || atomic_fetch_sub(&array->refs, 1) != 1) return;
    if (array->release) array->release(array->context);
    free(array);
}

int tenon_tensor_copy(const DLTensor* from, const DLTensor* to)
{
    size_t from_bytes;
    size_t to_bytes;
    if (!tenon_tensor_bytes(from->shape, from->ndim, from->dtype, &from_bytes) ||
        !tenon_tensor_bytes(to->shape, to->ndim, to->dtype, &to_bytes) || from_bytes != to_bytes)
        return tenon_fail("a tensor is copied onto one of another size");
    if (!tenon_tensor_is_compact(from) || !tenon_tensor_is_compact(to))
        return tenon_fail("only compact tensors can be copied");
    if (from->device.device_type != kDLCPU || to->device.device_type != kDLCPU)
        return tenon_fail("only tensors of the CPU can be copied");
    if (from_bytes) memmove(tenon_tensor_data(to), tenon_tensor_data(from), from_bytes);
    return 0;
}

int TVMArrayAlloc(const tvm_index_t* shape, int ndim, int dtype_code, int dtype_bits,
                  int dtype_lanes, int device_type, int device_id, TVMArrayHandle* out)
{
    if (device_type != kDLCPU || device_id != 0)
        return tenon_fail("there is no device type %d id %d; only CPU 0", device_type, device_id);
    DLDataType dtype = {(uint8_t)dtype_code, (uint8_t)dtype_bits, (uint16_t)dtype_lanes};
    tenon_array* array = tenon_array_new(shape, ndim, dtype);
    if (!array) return -1;
    *out = &array->tensor;
    return 0;
}

int TVMArrayFree(TVMArrayHandle handle)
{
    tenon_array_unref((tenon_array*)(void*)handle);
    return 0;
}

static int check_bytes(const DLTensor* tensor, size_t nbytes)
{
    size_t bytes;
    if (!tenon_tensor_bytes(tensor->shape, tensor->ndim, tensor->dtype, &bytes) || bytes != nbytes)
        return tenon_fail("%zu bytes do not fill the array", nbytes);
    return tenon_tensor_is_compact(tensor) ? 0 : tenon_fail("the array is not compact");
}

int TVMArrayCopyFromBytes(TVMArrayHandle handle, void* data, size_t nbytes)
{
    if (check_bytes(handle, nbytes) != 0) return -1;
    if (nbytes) memcpy(tenon_tensor_data(handle), data, nbytes);
    return 0;
}

int TVMArrayCopyToBytes(TVMArrayHandle handle, void* data, size_t nbytes)
{
    if (check_bytes(handle, nbytes) != 0) return -1;
    if (nbytes) memcpy(data, tenon_tensor_data(handle), nbytes);
    return 0;
}

int TVMArrayCopyFromTo(TVMArrayHandle from, TVMArrayHandle to, TVMStreamHandle stream)
{
    (void)stream;
    return tenon_tensor_copy(from, to);
}

static void release_managed(void* context)
{
    DLManagedTensor* managed = context;
    if (managed->deleter) managed->deleter(managed);
}

int TVMArrayFromDLPack(DLManagedTensor* from, TVMArrayHandle* out)
{
    size_t bytes;
    const DLTensor* tensor = &from->dl_tensor;
    if (!tenon_tensor_bytes(tensor->shape, tensor->ndim, tensor->dtype, &bytes) ||
        !tenon_tensor_is_compact(tensor))
        return tenon_fail("only compact tensors can be imported");
    tenon_array* array = tenon_array_view(tensor, release_managed, from);
    if (!array) return -1;
    *out = &array->tensor;
    return 0;
}

static void delete_managed(DLManagedTensor* managed)
{
    tenon_array_unref(managed->manager_ctx);
    free(managed);
}

int TVMArrayToDLPack(TVMArrayHandle from, DLManagedTensor** out)
{
    DLManagedTensor* managed = malloc(sizeof *managed);
    if (!managed) return tenon_fail("out of memory");
    tenon_array* array = tenon_array_ref((tenon_array*)(void*)from);
    *managed = (DLManagedTensor){array->tensor, array, delete_managed};
    *out = managed;
    return 0;
}

void TVMDLManagedTensorCallDeleter(DLManagedTensor* dltensor)
{
    if (dltensor && dltensor->deleter) dltensor->deleter(dltensor);
}
