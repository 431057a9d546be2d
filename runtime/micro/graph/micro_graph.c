/* SPDX-License-Identifier: MIT-0 */
/* The graph executor on a bare board: tensors by storage id, parameters in place, kernels in order.
 */
#include "micro_graph.h"

#include <stdbool.h>
#include <string.h>

#include "../../common/dtype.h"
#include "../../common/error.h"
#include "../../executor/graph.h"
#include "../../executor/params.h"
#include "../../include/tenon/c_backend_api.h"
#include "micro_arena.h"

struct tenon_micro_graph
{
    tenon_arena arena;
    tenon_graph graph;
    DLTensor* tensors;       /* of each entry */
    tenon_micro_call* calls; /* of each node; NULL: nothing to call */
    TVMValue* values;        /* arguments of one call */
    int32_t* codes;
    size_t tensor_bytes;
};

static bool is_move(const tenon_graph_node* node)
{
    return strcmp(node->func_name, "__nop") == 0 || strcmp(node->func_name, "__copy") == 0;
}

static int find_calls(tenon_micro_graph* self, const tenon_micro_model* model)
{
    size_t most = 0;
    for (size_t i = 0; i < self->graph.node_count; ++i) {
        const tenon_graph_node* node = &self->graph.nodes[i];
        size_t count = node->ref_count + (size_t)node->output_count;
        if (count > most) most = count;
        if (!node->func_name || is_move(node)) continue;
        if (node->is_flattened) return tenon_fail("flattened tensors are not supported");
        for (size_t f = 0; f < model->function_count && !self->calls[i]; ++f)
            if (strcmp(model->functions[f].name, node->func_name) == 0)
                self->calls[i] = model->functions[f].call;
        if (!self->calls[i]) return tenon_fail("the graph calls a kernel that is not there");
    }
    self->values = tenon_arena_alloc(&self->arena, most, sizeof *self->values);
    self->codes = tenon_arena_alloc(&self->arena, most, sizeof *self->codes);
    return self->values && self->codes ? 0 : -1;
}

static int64_t node_named(const tenon_graph* graph, const char* name)
{
    for (size_t i = 0; i < graph->arg_count; ++i)
        if (strcmp(graph->nodes[graph->arg_nodes[i]].name, name) == 0) return graph->arg_nodes[i];
    return -1;
}

/* Parameters show the model's bytes; what reading them took is given back. */
static int show_params(tenon_micro_graph* self, const tenon_micro_model* model)
{
    tenon_params params = {0};
    size_t mark = tenon_micro_arena_mark(&self->arena);
    if (model->params_bytes == 0) return 0;
    if (tenon_read_params_file(model->params, model->params_bytes, &self->arena, &params) != 0)
        return -1;
    for (size_t i = 0; i < params.count; ++i) {
        int64_t node = node_named(&self->graph, params.items[i].name);
        size_t bytes;
        if (node < 0) continue;
        size_t entry = (size_t)self->graph.row_ptr[node];
        const DLTensor* from = &params.items[i].tensor;
        if (!tenon_tensor_bytes(from->shape, from->ndim, from->dtype, &bytes) ||
            bytes != self->graph.entries[entry].bytes ||
            !tenon_dtype_equal(from->dtype, self->graph.entries[entry].dtype))
            return tenon_fail("a parameter does not fit the graph");
        self->tensors[entry].data = from->data;
    }
    tenon_micro_arena_rewind(&self->arena, mark);
    return 0;
}

/* Kernels read elements where they are aligned. */
static int copy_unaligned_params(tenon_micro_graph* self)
{
    for (size_t i = 0; i < self->graph.entry_count; ++i) {
        DLTensor* tensor = &self->tensors[i];
        size_t bytes = self->graph.entries[i].bytes;
        if (!tensor->data || (uintptr_t)tensor->data % tenon_dtype_bytes(tensor->dtype) == 0)
            continue;
        void* copy = tenon_micro_arena_tensor(&self->arena, bytes);
        if (!copy) return -1;
        memcpy(copy, tensor->data, bytes);
        tensor->data = copy;
        self->tensor_bytes += bytes;
    }
    return 0;
}

/* A __nop shows the memory of its input when both name the same storage. */
static void share_views(tenon_micro_graph* self)
{
    for (size_t i = 0; i < self->graph.node_count; ++i) {
        const tenon_graph_node* node = &self->graph.nodes[i];
        if (!node->func_name || strcmp(node->func_name, "__nop") != 0) continue;
        size_t from = tenon_graph_entry_of(&self->graph, node->inputs[0]);
        size_t to = (size_t)self->graph.row_ptr[i];
        if (self->graph.entries[from].storage == self->graph.entries[to].storage)
            self->tensors[to].data = self->tensors[from].data;
    }
}

static int place_storages(tenon_micro_graph* self)
{
    const tenon_graph* graph = &self->graph;
    for (size_t storage = 0; storage < graph->storage_count; ++storage) {
        size_t bytes = 0;
        bool is_used = false;
        for (size_t i = 0; i < graph->entry_count; ++i) {
            if ((uint64_t)graph->entries[i].storage != storage || self->tensors[i].data) continue;
            is_used = true;
            if (graph->entries[i].bytes > bytes) bytes = graph->entries[i].bytes;
        }
        if (!is_used) continue;
        void* memory = tenon_micro_arena_tensor(&self->arena, bytes);
        if (!memory) return -1;
        self->tensor_bytes += bytes;
        for (size_t i = 0; i < graph->entry_count; ++i)
            if ((uint64_t)graph->entries[i].storage == storage && !self->tensors[i].data)
                self->tensors[i].data = memory;
    }
    return 0;
}

static int build(tenon_micro_graph* self, const tenon_micro_model* model)
{
    tenon_graph* graph = &self->graph;
    if (tenon_graph_parse(model->graph_json, model->graph_json_bytes, &self->arena, graph) != 0)
        return -1;
    self->tensors = tenon_arena_alloc(&self->arena, graph->entry_count, sizeof *self->tensors);
    self->calls = tenon_arena_alloc(&self->arena, graph->node_count, sizeof *self->calls);
    if (!self->tensors || !self->calls) return -1;
    for (size_t i = 0; i < graph->entry_count; ++i) {
        self->tensors[i].device.device_type = kDLCPU;
        self->tensors[i].ndim = (int32_t)graph->entries[i].rank;
        self->tensors[i].dtype = graph->entries[i].dtype;
        self->tensors[i].shape = graph->entries[i].shape;
    }
    if (find_calls(self, model) != 0 || show_params(self, model) != 0 ||
        copy_unaligned_params(self) != 0)
        return -1;
    share_views(self);
    return place_storages(self);
}

int tenon_micro_graph_create(const tenon_micro_model* model, void* memory, size_t bytes,
                             tenon_micro_graph** out)
{
    tenon_arena arena;
    if (tenon_micro_arena_begin(&arena, memory, bytes) != 0) return -1;
    tenon_micro_graph* self = tenon_arena_alloc(&arena, 1, sizeof *self);
    if (!self) return -1;
    self->arena = arena;
    *out = self;
    return build(self, model);
}

DLTensor* tenon_micro_graph_input(tenon_micro_graph* self, const char* name)
{
    int64_t node = node_named(&self->graph, name);
    return node < 0 ? NULL : &self->tensors[self->graph.row_ptr[node]];
}

DLTensor* tenon_micro_graph_output(tenon_micro_graph* self, size_t index)
{
    if (index >= self->graph.head_count) return NULL;
    return &self->tensors[tenon_graph_entry_of(&self->graph, self->graph.heads[index])];
}

static int run_node(tenon_micro_graph* self, size_t index)
{
    const tenon_graph_node* node = &self->graph.nodes[index];
    size_t to = (size_t)self->graph.row_ptr[index];
    TVMValue value;
    int32_t code;
    int32_t count = 0;
    if (is_move(node)) {
        const DLTensor* from = &self->tensors[tenon_graph_entry_of(&self->graph, node->inputs[0])];
        if (from->data != self->tensors[to].data)
            memmove(self->tensors[to].data, from->data, self->graph.entries[to].bytes);
        return 0;
    }
    for (size_t i = 0; i < node->ref_count; ++i)
        self->values[count++].v_handle =
            &self->tensors[tenon_graph_entry_of(&self->graph, node->inputs[i])];
    for (int64_t i = 0; i < node->output_count; ++i)
        self->values[count++].v_handle = &self->tensors[to + (size_t)i];
    for (int32_t i = 0; i < count; ++i) self->codes[i] = kTVMDLTensorHandle;
    int32_t status = self->calls[index](self->values, self->codes, count, &value, &code, NULL);
    if (status == 0) return 0;
    return status == kTenonDividedByZero ? status : tenon_fail("a kernel failed");
}

int tenon_micro_graph_run(tenon_micro_graph* self)
{
    int fault = 0;
    for (size_t i = 0; i < self->graph.node_count; ++i) {
        const int status = self->graph.nodes[i].func_name ? run_node(self, i) : 0;
        if (status < 0) return -1;
        if (status > 0) fault = status;
    }
    return fault;
}

size_t tenon_micro_graph_used_bytes(const tenon_micro_graph* self)
{
    return tenon_micro_arena_peak(&self->arena);
}

size_t tenon_micro_graph_tensor_bytes(const tenon_micro_graph* self) { return self->tensor_bytes; }
