/* SPDX-License-Identifier: Apache-2.0 */
/* The packed functions of the graph executor. */
#include <stdlib.h>
#include <string.h>

#include "../common/args.h"
#include "../common/clock.h"
#include "../common/dtype.h"
#include "../common/error.h"
#include "graph_executor.h"
#include "io_methods.h"
#include "profile.h"

static tenon_graph_executor* self_of(void* resource) { return resource; }

/* Argument 0 as an input: a name or an index. */
static int input_argument(const tenon_graph_executor* self, const tenon_args* args, size_t* entry)
{
    int64_t index;
    const char* name;
    if (args->count > 0 && args->codes[0] == kTVMStr) {
        if (tenon_arg_str(args, 0, &name) != 0) return -1;
        index = tenon_graph_executor_input(self, name);
        if (index < 0) return tenon_fail("%s: there is no input `%s`", args->who, name);
    } else if (tenon_arg_int(args, 0, &index) != 0) {
        return -1;
    }
    if (index < 0 || (uint64_t)index >= self->graph.arg_count)
        return tenon_fail("%s: there is no input %lld", args->who, (long long)index);
    *entry = tenon_graph_executor_input_entry(self, (size_t)index);
    return 0;
}

/* "<node name>:<index>", or the name of a node with one output. */
static int64_t output_by_name(const tenon_graph_executor* self, const char* name)
{
    for (size_t i = 0; i < self->graph.head_count; ++i) {
        tenon_graph_ref head = self->graph.heads[i];
        const char* node = self->graph.nodes[head.node].name;
        size_t length = strlen(node);
        if (strncmp(name, node, length) != 0) continue;
        if (name[length] == 0 && head.output == 0) return (int64_t)i;
        if (name[length] == ':' && strtol(name + length + 1, NULL, 10) == head.output)
            return (int64_t)i;
    }
    return -1;
}

static int output_argument(const tenon_graph_executor* self, const tenon_args* args, size_t* entry)
{
    int64_t index = -1;
    const char* name;
    if (args->count > 0 && args->codes[0] == kTVMStr) {
        if (tenon_arg_str(args, 0, &name) == 0) index = output_by_name(self, name);
    } else if (tenon_arg_int(args, 0, &index) != 0) {
        return -1;
    }
    if (index < 0 || (uint64_t)index >= self->graph.head_count)
        return tenon_fail("%s: there is no such output", args->who);
    *entry = tenon_graph_executor_output_entry(self, (size_t)index);
    return 0;
}

static void release_owner(void* module) { tenon_module_unref(module); }

/* The array shows the executor's memory and keeps it alive. */
static int return_view(tenon_graph_executor* self, size_t entry, tenon_result result)
{
    tenon_array* view =
        tenon_array_view(&self->tensors[entry], release_owner, tenon_module_ref(&self->base));
    if (view) return tenon_return_array(result, view);
    tenon_module_unref(&self->base);
    return -1;
}

static int set_input(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("set_input");
    size_t entry = 0;
    DLTensor* from;
    if (tenon_args_count(&args, 2, 2) != 0 || tenon_arg_tensor(&args, 1, &from) != 0 ||
        input_argument(self_of(resource), &args, &entry) != 0)
        return -1;
    return tenon_graph_executor_write(resource, entry, from) == 0 ? tenon_return_none(result) : -1;
}

static int set_input_zero_copy(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("set_input_zero_copy");
    size_t entry = 0;
    DLTensor* to;
    if (tenon_args_count(&args, 2, 2) != 0 || tenon_arg_tensor(&args, 1, &to) != 0 ||
        input_argument(self_of(resource), &args, &entry) != 0)
        return -1;
    return tenon_graph_executor_bind(resource, entry, to) == 0 ? tenon_return_none(result) : -1;
}

static int set_output_zero_copy(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("set_output_zero_copy");
    size_t entry = 0;
    DLTensor* to;
    if (tenon_args_count(&args, 2, 2) != 0 || tenon_arg_tensor(&args, 1, &to) != 0 ||
        output_argument(self_of(resource), &args, &entry) != 0)
        return -1;
    return tenon_graph_executor_bind(resource, entry, to) == 0 ? tenon_return_none(result) : -1;
}

static int get_input(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("get_input");
    size_t entry = 0;
    if (tenon_args_count(&args, 1, 1) != 0 || input_argument(self_of(resource), &args, &entry) != 0)
        return -1;
    return return_view(resource, entry, result);
}

static int get_output(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("get_output");
    tenon_graph_executor* self = self_of(resource);
    size_t entry = 0;
    DLTensor* to;
    if (tenon_args_count(&args, 1, 2) != 0 || output_argument(self, &args, &entry) != 0) return -1;
    if (args.count == 1) return return_view(self, entry, result);
    if (tenon_arg_tensor(&args, 1, &to) != 0 || tenon_tensor_copy(&self->tensors[entry], to) != 0)
        return -1;
    return tenon_return_none(result);
}

static int load_params(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("load_params");
    TVMByteArray bytes;
    tenon_params params;
    tenon_arena arena = {NULL};
    tenon_graph_executor* self = self_of(resource);
    if (tenon_arg_bytes(&args, 0, &bytes) != 0) return -1;
    int status = tenon_read_params_file(bytes.data, bytes.size, &arena, &params);
    for (size_t i = 0; status == 0 && i < params.count; ++i) {
        int64_t input = tenon_graph_executor_input(self, params.items[i].name);
        if (input < 0) continue;
        size_t entry = tenon_graph_executor_input_entry(self, (size_t)input);
        status = tenon_graph_executor_write(self, entry, &params.items[i].tensor);
        if (status != 0) tenon_fail_within(params.items[i].name);
    }
    tenon_arena_free(&arena);
    return status == 0 ? tenon_return_none(result) : -1;
}

/* (executor, parameter file): the parameters that the file names become those of the executor. */
static int share_params(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("share_params");
    tenon_module* lender;
    TVMByteArray bytes;
    tenon_params params;
    tenon_arena arena = {NULL};
    if (tenon_args_count(&args, 2, 2) != 0 || tenon_arg_module(&args, 0, &lender) != 0 ||
        tenon_arg_bytes(&args, 1, &bytes) != 0)
        return -1;
    if (lender->type != &tenon_graph_executor_type.type || lender == resource)
        return tenon_fail("share_params: expected another graph executor");
    int status = tenon_read_params_file(bytes.data, bytes.size, &arena, &params);
    for (size_t i = 0; status == 0 && i < params.count; ++i) {
        status = tenon_graph_executor_share(resource, (tenon_graph_executor*)lender,
                                            params.items[i].name);
        if (status != 0) tenon_fail_within(params.items[i].name);
    }
    tenon_arena_free(&arena);
    return status == 0 ? tenon_return_none(result) : -1;
}

static int execute_node(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("execute_node");
    tenon_graph_executor* self = self_of(resource);
    int64_t node;
    if (tenon_arg_int(&args, 0, &node) != 0) return -1;
    for (size_t i = 0; i < self->op_count; ++i)
        if (self->ops[i].node == node && tenon_graph_executor_run_op(self, i) != 0) return -1;
    return tenon_return_none(result);
}

static int get_output_by_layer(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("get_output_by_layer");
    tenon_graph_executor* self = self_of(resource);
    int64_t node;
    int64_t output = 0;
    if (tenon_arg_int(&args, 0, &node) != 0 ||
        (args.count > 1 && tenon_arg_int(&args, 1, &output) != 0))
        return -1;
    if (node < 0 || (uint64_t)node >= self->graph.node_count || output < 0 ||
        output >= self->graph.nodes[node].output_count)
        return tenon_fail("get_output_by_layer: there is no such node or output");
    return return_view(self, (size_t)(self->graph.row_ptr[node] + output), result);
}

/* samples[call * repeats + r]. */
static int time_calls(tenon_graph_executor* self, double* samples, size_t repeats)
{
    if (tenon_graph_executor_run(self) != 0) return -1; /* warm-up */
    for (size_t r = 0; r < repeats; ++r) {
        for (size_t i = 0; i < self->op_count; ++i) {
            int64_t start = tenon_clock_ns();
            if (tenon_graph_executor_run_op(self, i) != 0) return -1;
            double seconds = (double)(tenon_clock_ns() - start) * 1e-9;
            if (self->ops[i].func) samples[(size_t)self->ops[i].call * repeats + r] = seconds;
        }
    }
    tenon_profile_enter(-1);
    return 0;
}

/* Bytes of one f64 per kernel call, in order: the median of its seconds. */
static int profile(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("profile");
    tenon_graph_executor* self = self_of(resource);
    size_t repeats;
    if (tenon_profile_repeats(&args, &repeats) != 0) return -1;
    double* samples = calloc(self->call_count * repeats + 1, sizeof *samples);
    if (!samples) return tenon_fail("profile: out of memory");
    int status = time_calls(self, samples, repeats);
    if (status == 0) status = tenon_profile_return(samples, self->call_count, repeats, result);
    free(samples);
    return status;
}

static const tenon_method kMethods[] = {
    {"set_input", set_input},
    {"set_input_zero_copy", set_input_zero_copy},
    {"set_output_zero_copy", set_output_zero_copy},
    {"get_input", get_input},
    {"get_output", get_output},
    {"get_num_inputs", tenon_get_num_inputs},
    {"get_num_outputs", tenon_get_num_outputs},
    {"get_input_index", tenon_get_input_index},
    {"get_input_info", tenon_get_input_info},
    {"run", tenon_run},
    {"load_params", load_params},
    {"share_params", share_params},
    {"execute_node", execute_node},
    {"get_output_by_layer", get_output_by_layer},
    {"profile", profile},
};

static int get_function(tenon_module* module, const char* name, tenon_func** out)
{
    return tenon_module_find_method(module, kMethods, sizeof kMethods / sizeof kMethods[0], name,
                                    out);
}

static void destroy(tenon_module* module)
{
    tenon_graph_executor* self = (tenon_graph_executor*)module;
    for (size_t i = 0; i < self->op_count; ++i) tenon_func_unref(self->ops[i].func);
    for (size_t i = 0; self->storage && i < self->graph.storage_count; ++i) free(self->storage[i]);
    for (size_t i = 0; self->copies && i < self->graph.entry_count; ++i) free(self->copies[i]);
    for (tenon_graph_lender* each = self->lenders; each; each = each->next)
        tenon_module_unref(each->module);
    tenon_module_clear(module);
    tenon_module_unref(self->library);
    tenon_arena_free(&self->arena);
    free(self);
}

static size_t input_count(const void* executor)
{
    return ((const tenon_graph_executor*)executor)->graph.arg_count;
}

static size_t output_count(const void* executor)
{
    return ((const tenon_graph_executor*)executor)->graph.head_count;
}

static const char* input_name(const void* executor, size_t index)
{
    const tenon_graph* graph = &((const tenon_graph_executor*)executor)->graph;
    return graph->nodes[graph->arg_nodes[index]].name;
}

static const char* output_name(const void* executor, size_t index)
{
    const tenon_graph* graph = &((const tenon_graph_executor*)executor)->graph;
    return graph->nodes[graph->heads[index].node].name;
}

static DLTensor input(const void* executor, size_t index)
{
    const tenon_graph_executor* self = executor;
    return self->tensors[tenon_graph_executor_input_entry(self, index)];
}

static DLTensor output(const void* executor, size_t index)
{
    const tenon_graph_executor* self = executor;
    return self->tensors[tenon_graph_executor_output_entry(self, index)];
}

static int run(void* executor) { return tenon_graph_executor_run(executor); }

const tenon_executor_type tenon_graph_executor_type = {{"GraphExecutor", get_function, destroy},
                                                       input_count,
                                                       output_count,
                                                       input_name,
                                                       output_name,
                                                       input,
                                                       output,
                                                       run};
