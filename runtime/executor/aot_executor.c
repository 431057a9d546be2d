/* SPDX-License-Identifier: Apache-2.0 */
/* The AOT executor: finding the entry points, and memory for inputs, outputs and pools. */
#include "aot_executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/dtype.h"
#include "../common/error.h"
#include "../common/poison.h"
#include "aot_module.h"
#include "params.h"

static int check_list(const void* items, int64_t count, const char* what)
{
    if (count >= 0 && count <= TENON_MOST_TENSORS && (items || count == 0)) return 0;
    return tenon_fail("the metadata lists %lld %s, of which there may be %d", (long long)count,
                      what, TENON_MOST_TENSORS);
}

static int check_metadata(const TVMMetadata* metadata)
{
    if (metadata->version != 1)
        return tenon_fail("metadata of version %lld", (long long)metadata->version);
    if (!metadata->mod_name) return tenon_fail("the metadata has no module name");
    if (check_list(metadata->inputs, metadata->num_inputs, "inputs") != 0 ||
        check_list(metadata->outputs, metadata->num_outputs, "outputs") != 0 ||
        check_list(metadata->workspace_pools, metadata->num_workspace_pools, "pools") != 0 ||
        check_list(metadata->constant_pools, metadata->num_constant_pools, "constants") != 0)
        return -1;
    return 0;
}

static int read_metadata(tenon_aot_executor* self, tenon_module* root)
{
    tenon_func* accessor = NULL;
    if (tenon_module_find(root, "get_c_metadata", 1, &accessor) != 0) return -1;
    if (!accessor) return tenon_fail("the library has no get_c_metadata");
    TVMValue value = {.v_handle = NULL};
    int code = kTVMNullptr;
    int status = TVMFuncCall(accessor, NULL, NULL, 0, &value, &code);
    tenon_func_unref(accessor);
    if (status != 0) return -1;
    if (code != kTVMOpaqueHandle || !value.v_handle)
        return tenon_fail("get_c_metadata returned nothing");
    self->metadata = value.v_handle;
    return check_metadata(self->metadata);
}

/* <mod_name>_<suffix>; *out stays NULL when the library does not export it. */
static int find_entry(tenon_module* root, const char* mod_name, const char* suffix,
                      tenon_func** out)
{
    char name[512];
    if (snprintf(name, sizeof name, "%s_%s", mod_name, suffix) >= (int)sizeof name)
        return tenon_fail("the module name is too long");
    return tenon_module_find(root, name, 1, out);
}

static int add_tensor(tenon_aot_executor* self, const int64_t* shape, int64_t rank,
                      DLDataType dtype)
{
    if (rank < 0 || rank > kTenonMaxRank)
        return tenon_fail("a tensor of rank %lld", (long long)rank);
    tenon_array* array = tenon_array_new(shape, (int32_t)rank, dtype);
    if (!array) return -1;
    size_t bytes = 0;
    tenon_tensor_bytes(shape, (int32_t)rank, dtype, &bytes);
    memset(array->tensor.data, 0, bytes);
    self->arrays[self->array_count] = array;
    self->tensors[self->array_count++] = array->tensor;
    return 0;
}

static int add_tensors(tenon_aot_executor* self, const TVMTensorInfo* infos, int64_t count)
{
    for (int64_t i = 0; i < count; ++i)
        if (add_tensor(self, infos[i].shape, infos[i].num_shape, infos[i].dtype) != 0)
            return tenon_fail_within(infos[i].name ? infos[i].name : "a tensor");
    return 0;
}

static int read_constant(const TVMConstantInfo* info, tenon_arena* arena, DLTensor* out)
{
    if (info->data_len < 0 || info->byte_offset < 0 || !info->data_bytes)
        return tenon_fail("a constant of the metadata has no data");
    tenon_reader reader = tenon_reader_of(info->data_bytes, (size_t)info->data_len);
    return tenon_read_ndarray(&reader, arena, out);
}

/* All constants merged into one array of bytes, each at its offset. */
static int add_constants(tenon_aot_executor* self, tenon_arena* arena)
{
    const TVMMetadata* metadata = self->metadata;
    int64_t total = 0;
    size_t bytes = 0;
    for (int64_t i = 0; i < metadata->num_constant_pools; ++i) {
        DLTensor constant;
        if (read_constant(&metadata->constant_pools[i], arena, &constant) != 0) return -1;
        tenon_tensor_bytes(constant.shape, constant.ndim, constant.dtype, &bytes);
        int64_t end = metadata->constant_pools[i].byte_offset + (int64_t)bytes;
        if (end > total) total = end;
    }
    if (add_tensor(self, &total, 1, (DLDataType){kDLUInt, 8, 1}) != 0) return -1;
    char* blob = self->tensors[self->array_count - 1].data;
    for (int64_t i = 0; i < metadata->num_constant_pools; ++i) {
        DLTensor constant;
        if (read_constant(&metadata->constant_pools[i], arena, &constant) != 0) return -1;
        tenon_tensor_bytes(constant.shape, constant.ndim, constant.dtype, &bytes);
        if (bytes) memcpy(blob + metadata->constant_pools[i].byte_offset, constant.data, bytes);
    }
    return 0;
}

/* With pools the arguments are inputs, outputs, one blob of constants, then each pool as bytes. */
static int add_pools(tenon_aot_executor* self)
{
    const TVMMetadata* metadata = self->metadata;
    if (metadata->num_workspace_pools == 0) return 0;
    tenon_arena scratch = {NULL};
    int status = add_constants(self, &scratch);
    tenon_arena_free(&scratch);
    for (int64_t i = 0; status == 0 && i < metadata->num_workspace_pools; ++i) {
        const TVMTensorInfo* pool = &metadata->workspace_pools[i];
        size_t bytes;
        if (pool->num_shape < 0 || pool->num_shape > kTenonMaxRank ||
            !tenon_tensor_bytes(pool->shape, (int32_t)pool->num_shape, pool->dtype, &bytes))
            return tenon_fail("a workspace pool has an impossible shape");
        int64_t length = (int64_t)bytes;
        status = add_tensor(self, &length, 1, (DLDataType){kDLUInt, 8, 1});
    }
    return status;
}

static int build(tenon_aot_executor* self, tenon_module* root)
{
    if (read_metadata(self, root) != 0) return -1;
    const TVMMetadata* metadata = self->metadata;
    const char* name = metadata->mod_name;
    if (find_entry(root, name, "__tvm_main__", &self->main) != 0 ||
        find_entry(root, name, "__tenon_profile__", &self->instrumented) != 0)
        return -1;
    if (!self->main) return tenon_fail("the library has no `%s___tvm_main__`", name);
    self->input_count = (size_t)metadata->num_inputs;
    self->output_count = (size_t)metadata->num_outputs;
    size_t most =
        self->input_count + self->output_count + 1 + (size_t)metadata->num_workspace_pools;
    self->arrays = tenon_arena_alloc(&self->arena, most, sizeof(tenon_array*));
    self->tensors = tenon_arena_alloc(&self->arena, most, sizeof *self->tensors);
    self->values = tenon_arena_alloc(&self->arena, most, sizeof *self->values);
    self->codes = tenon_arena_alloc(&self->arena, most, sizeof *self->codes);
    if (!self->arrays || !self->tensors || !self->values || !self->codes) return -1;
    if (add_tensors(self, metadata->inputs, metadata->num_inputs) != 0 ||
        add_tensors(self, metadata->outputs, metadata->num_outputs) != 0 || add_pools(self) != 0)
        return -1;
    for (size_t i = 0; i < self->array_count; ++i) {
        self->values[i].v_handle = &self->tensors[i];
        self->codes[i] = kTVMDLTensorHandle;
    }
    return 0;
}

int tenon_aot_executor_new(tenon_module* root, tenon_module** out)
{
    tenon_aot_executor* self = calloc(1, sizeof *self);
    if (!self) return tenon_fail("out of memory for an executor");
    tenon_module_init(&self->base, &tenon_aot_executor_type.type);
    self->root = tenon_module_ref(root);
    if (build(self, root) != 0) {
        tenon_module_unref(&self->base);
        return -1;
    }
    *out = &self->base;
    return 0;
}

int tenon_aot_executor_run(tenon_aot_executor* self, tenon_func* entry)
{
    TVMValue value;
    int code;
    for (size_t i = self->input_count; i < self->input_count + self->output_count; ++i) {
        size_t bytes = 0;
        const DLTensor* output = &self->tensors[i];
        tenon_tensor_bytes(output->shape, output->ndim, output->dtype, &bytes);
        tenon_poison(output->data, bytes);
    }
    return TVMFuncCall(entry, self->values, self->codes, (int)self->array_count, &value, &code);
}
