/* SPDX-License-Identifier: MIT-0 */
/* The graph executor on a bare board: a model's graph and parameters are read at run time, into
 * memory that the caller gives. No malloc, no files, no threads. */
#ifndef TENON_MICRO_GRAPH_H
#define TENON_MICRO_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "../../include/tenon/c_runtime_api.h"
#include "../../include/tenon/dlpack.h"
#include "micro_function.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A model as `tenon compile --target c --executor graph` writes it. */
typedef struct
{
    const char* graph_json;
    size_t graph_json_bytes;
    const void* params; /* TVM's parameter file; used in place where it is aligned */
    size_t params_bytes;
    const tenon_micro_function* functions;
    size_t function_count;
} tenon_micro_model;

typedef struct tenon_micro_graph tenon_micro_graph;

/** Parses and checks the graph and lays out its tensors, all in `memory` (aligned to 16 bytes, kept
 * by the caller while the graph is used). 0, or -1 with a last error. */
int tenon_micro_graph_create(const tenon_micro_model* model, void* memory, size_t bytes,
                             tenon_micro_graph** out);
/** The tensor of an input, to write the values into; NULL when there is none of that name. */
DLTensor* tenon_micro_graph_input(tenon_micro_graph* graph, const char* name);
/** The tensor of an output, to read after a run; NULL beyond the last. */
DLTensor* tenon_micro_graph_output(tenon_micro_graph* graph, size_t index);
/** Calls the kernels in order. 0, or -1 with a last error; 1 with a last error that names the node
 * when all ran but the data divided an integer by zero: the outputs mean nothing then. */
int tenon_micro_graph_run(tenon_micro_graph* graph);

/** How much of the memory is in use at most, and how much of that are tensors. */
size_t tenon_micro_graph_used_bytes(const tenon_micro_graph* graph);
size_t tenon_micro_graph_tensor_bytes(const tenon_micro_graph* graph);

/** For generated kernels: notes what the data did wrong; 1, which no other failure is. */
int32_t tenon_micro_fault(const char* text);

/** What failed last; names and numbers are not filled in. */
const char* tenon_micro_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
