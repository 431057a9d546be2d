/* SPDX-License-Identifier: Apache-2.0 */
/* The graph executor: memory by storage id, kernels in order. */
#ifndef TENON_RUNTIME_GRAPH_EXECUTOR_H
#define TENON_RUNTIME_GRAPH_EXECUTOR_H

#include "../common/object.h"
#include "graph.h"
#include "io_methods.h"
#include "params.h"

/** An executor whose memory another one shows. */
typedef struct tenon_graph_lender
{
    tenon_module* module; /* owned reference */
    struct tenon_graph_lender* next;
} tenon_graph_lender;

/** One kernel call. */
typedef struct
{
    tenon_func* func; /* NULL: __nop */
    int32_t node;
    int32_t call; /* index among the ops that call a kernel */
    int arg_count;
    bool is_copy;
    size_t* entries; /* of each argument */
    DLTensor* tensors;
    TVMValue* values;
    int* codes;
} tenon_graph_op;

typedef struct
{
    tenon_module base;
    tenon_module* library; /* where kernels are found; owned reference */
    tenon_arena arena;
    tenon_graph graph;
    tenon_graph_op* ops;
    size_t op_count;
    size_t call_count;
    DLTensor* tensors; /* of each entry */
    size_t* roots;     /* of each entry: the entry whose memory it shows (through __nop) */
    bool* is_foreign;  /* of each root: memory that is not in storage, possibly read-only */
    void** storage;
    tenon_graph_lender* lenders;
    void** copies; /* of each root: memory of its own, taken when foreign memory is set anew */
} tenon_graph_executor;

/** Parses, finds kernels and linked parameters. Memory comes with tenon_graph_executor_allocate. */
int tenon_graph_executor_new(const char* json, size_t length, tenon_module* library,
                             tenon_graph_executor** out);
/** Uses aligned parameter data in place where possible, else copies it. */
int tenon_graph_executor_set_params(tenon_graph_executor* self, const tenon_params* params);
int tenon_graph_executor_allocate(tenon_graph_executor* self);

/** Index among the inputs, or -1 without an error. */
int64_t tenon_graph_executor_input(const tenon_graph_executor* self, const char* name);
/** Entry of input or output `index`; the index must be in range. */
size_t tenon_graph_executor_input_entry(const tenon_graph_executor* self, size_t index);
size_t tenon_graph_executor_output_entry(const tenon_graph_executor* self, size_t index);
/** Copies into the entry's memory. */
int tenon_graph_executor_write(tenon_graph_executor* self, size_t entry, const DLTensor* from);
/** Lets the entry show foreign memory, 64-byte aligned, which must outlive its use. */
int tenon_graph_executor_bind(tenon_graph_executor* self, size_t entry, const DLTensor* to);
/** The input `name`, where both have it, becomes the memory of the other executor's. */
int tenon_graph_executor_share(tenon_graph_executor* self, tenon_graph_executor* lender,
                               const char* name);
int tenon_graph_executor_run(tenon_graph_executor* self);
int tenon_graph_executor_run_op(tenon_graph_executor* self, size_t op);

/** The packed functions of an executor. */
extern const tenon_executor_type tenon_graph_executor_type;

#endif
