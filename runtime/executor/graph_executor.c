/* SPDX-License-Identifier: Apache-2.0 */
/* The graph executor: memory by storage id, kernels in order. */
#include "graph_executor.h"

#include <stdlib.h>
#include <string.h>

#include "../common/dtype.h"
#include "../common/error.h"
#include "../common/poison.h"
#include "profile.h"

static int find_kernel(tenon_graph_executor* self, const tenon_graph_node* node, tenon_graph_op* op)
{
    op->is_copy = strcmp(node->func_name, "__copy") == 0;
    if (op->is_copy || strcmp(node->func_name, "__nop") == 0) return 0;
    if (tenon_module_find(self->library, node->func_name, 1, &op->func) != 0) return -1;
    if (!op->func) return tenon_fail("no kernel `%s` in the library", node->func_name);
    op->call = (int32_t)self->call_count++;
    return 0;
}

static int make_op(tenon_graph_executor* self, size_t index, tenon_graph_op* op)
{
    const tenon_graph_node* node = &self->graph.nodes[index];
    size_t count = node->ref_count + (size_t)node->output_count;
    op->node = (int32_t)index;
    op->arg_count = (int)count;
    op->entries = tenon_arena_alloc(&self->arena, count, sizeof *op->entries);
    op->tensors = tenon_arena_alloc(&self->arena, count, sizeof *op->tensors);
    op->values = tenon_arena_alloc(&self->arena, count, sizeof *op->values);
    op->codes = tenon_arena_alloc(&self->arena, count, sizeof *op->codes);
    if (!op->entries || !op->tensors || !op->values || !op->codes) return -1;
    for (size_t i = 0; i < count; ++i) {
        size_t entry = i < node->ref_count
                           ? tenon_graph_entry_of(&self->graph, node->inputs[i])
                           : (size_t)self->graph.row_ptr[index] + i - node->ref_count;
        op->entries[i] = entry;
        op->tensors[i] = self->tensors[entry];
        op->values[i].v_handle = &op->tensors[i];
        op->codes[i] = kTVMDLTensorHandle;
        if (!node->is_flattened) continue;
        int64_t* flat = tenon_arena_alloc(&self->arena, 1, sizeof *flat);
        if (!flat) return -1;
        *flat = 1;
        for (int32_t d = 0; d < op->tensors[i].ndim; ++d) *flat *= op->tensors[i].shape[d];
        op->tensors[i].shape = flat;
        op->tensors[i].ndim = 1;
    }
    return find_kernel(self, node, op);
}

static void make_tensors(tenon_graph_executor* self)
{
    for (size_t i = 0; i < self->graph.entry_count; ++i) {
        const tenon_graph_entry* entry = &self->graph.entries[i];
        self->tensors[i] = (DLTensor){.device = {kDLCPU, 0},
                                      .ndim = (int32_t)entry->rank,
                                      .dtype = entry->dtype,
                                      .shape = entry->shape};
        self->roots[i] = i;
    }
}

/* A __nop shows the memory of its input when both name the same storage. */
static void find_roots(tenon_graph_executor* self)
{
    for (size_t i = 0; i < self->graph.node_count; ++i) {
        const tenon_graph_node* node = &self->graph.nodes[i];
        if (!node->func_name || strcmp(node->func_name, "__nop") != 0) continue;
        size_t from = tenon_graph_entry_of(&self->graph, node->inputs[0]);
        size_t to = (size_t)self->graph.row_ptr[i];
        if (self->graph.entries[from].storage == self->graph.entries[to].storage)
            self->roots[to] = self->roots[from];
    }
}

static int make_ops(tenon_graph_executor* self)
{
    for (size_t i = 0; i < self->graph.node_count; ++i) {
        const tenon_graph_node* node = &self->graph.nodes[i];
        if (!node->func_name) continue;
        if (make_op(self, i, &self->ops[self->op_count++]) != 0)
            return tenon_fail_within(node->name);
        bool is_nop = strcmp(node->func_name, "__nop") == 0;
        size_t to = (size_t)self->graph.row_ptr[i];
        /* A __nop between different storages has to move the bytes after all. */
        if (is_nop && self->roots[to] == to) self->ops[self->op_count - 1].is_copy = true;
    }
    return 0;
}

/* The tensor of each root holds the truth; this tells all tensors that show its memory. */
static void refresh(tenon_graph_executor* self)
{
    for (size_t i = 0; i < self->graph.entry_count; ++i)
        self->tensors[i].data = self->tensors[self->roots[i]].data;
    for (size_t i = 0; i < self->op_count; ++i)
        for (int a = 0; a < self->ops[i].arg_count; ++a)
            self->ops[i].tensors[a].data = self->tensors[self->ops[i].entries[a]].data;
}

/* A library may carry the data of a storage id itself. */
static int find_linked(tenon_graph_executor* self)
{
    tenon_func* lookup = NULL;
    if (tenon_module_find(self->library, "_lookup_linked_param", 1, &lookup) != 0) return -1;
    int status = 0;
    for (size_t i = 0; lookup && status == 0 && i < self->graph.entry_count; ++i) {
        TVMValue argument = {.v_int64 = self->graph.entries[i].storage};
        TVMValue value;
        int argument_code = kTVMArgInt;
        int code;
        status = TVMFuncCall(lookup, &argument, &argument_code, 1, &value, &code);
        if (status != 0 || code != kTVMOpaqueHandle || !value.v_handle) continue;
        if (self->roots[i] != i) continue;
        self->is_foreign[i] = true;
        self->tensors[i].data = value.v_handle;
    }
    refresh(self);
    tenon_func_unref(lookup);
    return status;
}

static int build(tenon_graph_executor* self, const char* json, size_t length)
{
    if (tenon_graph_parse(json, length, &self->arena, &self->graph) != 0) return -1;
    size_t entries = self->graph.entry_count + 1;
    self->tensors = tenon_arena_alloc(&self->arena, entries, sizeof *self->tensors);
    self->roots = tenon_arena_alloc(&self->arena, entries, sizeof *self->roots);
    self->is_foreign = tenon_arena_alloc(&self->arena, entries, sizeof *self->is_foreign);
    self->copies = tenon_arena_alloc(&self->arena, entries, sizeof *self->copies);
    self->storage = tenon_arena_alloc(&self->arena, self->graph.storage_count + 1, sizeof(void*));
    self->ops = tenon_arena_alloc(&self->arena, self->graph.node_count + 1, sizeof *self->ops);
    if (!self->tensors || !self->roots || !self->is_foreign || !self->copies || !self->storage ||
        !self->ops)
        return -1;
    make_tensors(self);
    find_roots(self);
    return make_ops(self) == 0 ? find_linked(self) : -1;
}

int tenon_graph_executor_new(const char* json, size_t length, tenon_module* library,
                             tenon_graph_executor** out)
{
    tenon_graph_executor* self = calloc(1, sizeof *self);
    if (!self) return tenon_fail("out of memory for an executor");
    tenon_module_init(&self->base, &tenon_graph_executor_type.type);
    self->library = tenon_module_ref(library);
    if (build(self, json, length) != 0) {
        tenon_module_unref(&self->base);
        return -1;
    }
    *out = self;
    return 0;
}

int tenon_graph_executor_allocate(tenon_graph_executor* self)
{
    tenon_graph* graph = &self->graph;
    for (size_t storage = 0; storage < graph->storage_count; ++storage) {
        size_t bytes = 0;
        bool is_used = false;
        for (size_t i = 0; i < graph->entry_count; ++i) {
            if ((uint64_t)graph->entries[i].storage != storage || self->is_foreign[self->roots[i]])
                continue;
            is_used = true;
            if (graph->entries[i].bytes > bytes) bytes = graph->entries[i].bytes;
        }
        if (!is_used || self->storage[storage]) continue;
        self->storage[storage] = tenon_aligned_alloc(bytes);
        if (!self->storage[storage])
            return tenon_fail("out of memory for %zu bytes of storage %zu", bytes, storage);
        memset(self->storage[storage], 0, bytes);
    }
    for (size_t i = 0; i < graph->entry_count; ++i)
        if (self->roots[i] == i && !self->is_foreign[i])
            self->tensors[i].data = self->storage[graph->entries[i].storage];
    refresh(self);
    return 0;
}

int64_t tenon_graph_executor_input(const tenon_graph_executor* self, const char* name)
{
    for (size_t i = 0; i < self->graph.arg_count; ++i)
        if (strcmp(self->graph.nodes[self->graph.arg_nodes[i]].name, name) == 0) return (int64_t)i;
    return -1;
}

size_t tenon_graph_executor_input_entry(const tenon_graph_executor* self, size_t index)
{
    return (size_t)self->graph.row_ptr[self->graph.arg_nodes[index]];
}

size_t tenon_graph_executor_output_entry(const tenon_graph_executor* self, size_t index)
{
    return tenon_graph_entry_of(&self->graph, self->graph.heads[index]);
}

static int check_same_type(const DLTensor* ours, const DLTensor* theirs)
{
    bool is_same = ours->ndim == theirs->ndim && tenon_dtype_equal(ours->dtype, theirs->dtype);
    for (int32_t i = 0; is_same && i < ours->ndim; ++i)
        is_same = ours->shape[i] == theirs->shape[i];
    if (is_same && tenon_tensor_is_compact(theirs) && theirs->device.device_type == kDLCPU)
        return 0;
    char ours_text[32];
    char theirs_text[32];
    tenon_dtype_print(ours->dtype, ours_text);
    tenon_dtype_print(theirs->dtype, theirs_text);
    return tenon_fail("a %s tensor of rank %d does not fit a %s tensor of rank %d and its shape",
                      theirs_text, theirs->ndim, ours_text, ours->ndim);
}

/* Both leave it to the caller to refresh. */
static int write_entry(tenon_graph_executor* self, size_t entry, const DLTensor* from, bool* moved)
{
    if (check_same_type(&self->tensors[entry], from) != 0) return -1;
    size_t root = self->roots[entry];
    *moved = self->is_foreign[root];
    if (*moved) { /* constants of the library, or memory lent by the caller */
        void** copy = &self->copies[root];
        if (!*copy) *copy = tenon_aligned_alloc(self->graph.entries[root].bytes);
        if (!*copy) return tenon_fail("out of memory for an input");
        self->tensors[root].data = *copy;
        self->tensors[entry].data = *copy;
    }
    return tenon_tensor_copy(from, &self->tensors[entry]);
}

static int bind_entry(tenon_graph_executor* self, size_t entry, const DLTensor* to)
{
    if (check_same_type(&self->tensors[entry], to) != 0) return -1;
    if ((uintptr_t)tenon_tensor_data(to) % 64 != 0)
        return tenon_fail("memory that is used in place must be aligned to 64 bytes");
    self->is_foreign[self->roots[entry]] = true;
    self->tensors[self->roots[entry]].data = tenon_tensor_data(to);
    return 0;
}

int tenon_graph_executor_write(tenon_graph_executor* self, size_t entry, const DLTensor* from)
{
    bool moved = false;
    int status = write_entry(self, entry, from, &moved);
    if (moved) refresh(self);
    return status;
}

int tenon_graph_executor_bind(tenon_graph_executor* self, size_t entry, const DLTensor* to)
{
    int status = bind_entry(self, entry, to);
    if (status == 0) refresh(self);
    return status;
}

static int keep_alive(tenon_graph_executor* self, tenon_module* lender)
{
    for (tenon_graph_lender* each = self->lenders; each; each = each->next)
        if (each->module == lender) return 0;
    tenon_graph_lender* entry = tenon_arena_alloc(&self->arena, 1, sizeof *entry);
    if (!entry) return -1;
    *entry = (tenon_graph_lender){tenon_module_ref(lender), self->lenders};
    self->lenders = entry;
    return 0;
}

int tenon_graph_executor_share(tenon_graph_executor* self, tenon_graph_executor* lender,
                               const char* name)
{
    int64_t ours = tenon_graph_executor_input(self, name);
    int64_t theirs = tenon_graph_executor_input(lender, name);
    if (ours < 0 || theirs < 0) return 0;
    size_t entry = tenon_graph_executor_input_entry(lender, (size_t)theirs);
    if (keep_alive(self, &lender->base) != 0) return -1;
    return tenon_graph_executor_bind(self, tenon_graph_executor_input_entry(self, (size_t)ours),
                                     &lender->tensors[entry]);
}

int tenon_graph_executor_set_params(tenon_graph_executor* self, const tenon_params* params)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < params->count; ++i) {
        const tenon_param* param = &params->items[i];
        int64_t input = tenon_graph_executor_input(self, param->name);
        if (input < 0) continue; /* folded away; stock skips these too */
        size_t entry = tenon_graph_executor_input_entry(self, (size_t)input);
        bool moved;
        if (!self->tensors[entry].data) self->is_foreign[self->roots[entry]] = true;
        status = (uintptr_t)param->tensor.data % 64 == 0
                     ? bind_entry(self, entry, &param->tensor)
                     : write_entry(self, entry, &param->tensor, &moved);
        if (status != 0) tenon_fail_within(param->name);
    }
    refresh(self);
    return status;
}

int tenon_graph_executor_run_op(tenon_graph_executor* self, size_t index)
{
    tenon_graph_op* op = &self->ops[index];
    if (op->is_copy) return tenon_tensor_copy(&op->tensors[0], &op->tensors[op->arg_count - 1]);
    if (!op->func) return 0;
    TVMValue value;
    int code;
    tenon_profile_enter(op->call);
    if (TVMFuncCall(op->func, op->values, op->codes, op->arg_count, &value, &code) != 0)
        return tenon_fail_within(self->graph.nodes[op->node].func_name);
    return 0;
}

/* Fills what kernels write, unless it lies in the storage of an input or parameter. */
static void poison_intermediates(tenon_graph_executor* self)
{
    const tenon_graph* graph = &self->graph;
    for (size_t i = 0; i < graph->node_count; ++i) {
        if (!graph->nodes[i].func_name) continue;
        for (int64_t entry = graph->row_ptr[i]; entry < graph->row_ptr[i + 1]; ++entry) {
            bool is_input = false;
            for (size_t a = 0; a < graph->arg_count; ++a) {
                size_t input = tenon_graph_executor_input_entry(self, a);
                is_input |= graph->entries[input].storage == graph->entries[entry].storage;
            }
            if (!is_input) tenon_poison(self->tensors[entry].data, graph->entries[entry].bytes);
        }
    }
}

int tenon_graph_executor_run(tenon_graph_executor* self)
{
    int status = 0;
    if (tenon_poison_is_enabled()) poison_intermediates(self);
    for (size_t i = 0; status == 0 && i < self->op_count; ++i)
        status = tenon_graph_executor_run_op(self, i);
    tenon_profile_enter(-1);
    return status;
}
