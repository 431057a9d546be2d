/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of a compiled model, read from graph JSON and checked so that running it is safe. */
#ifndef TENON_RUNTIME_GRAPH_H
#define TENON_RUNTIME_GRAPH_H

#include <stdbool.h>

#include "../common/arena.h"
#include "../include/tenon/dlpack.h"

/** Output `output` of node `node`. */
typedef struct
{
    int64_t node;
    int64_t output;
} tenon_graph_ref;

typedef struct
{
    const char* name;
    const char* func_name; /* NULL for inputs and parameters */
    int64_t input_count;   /* as the attributes say; equals the number of refs */
    int64_t output_count;
    bool is_flattened;
    tenon_graph_ref* inputs;
    size_t ref_count;
} tenon_graph_node;

/** One tensor: what a node yields at one of its outputs. */
typedef struct
{
    int64_t* shape;
    size_t rank;
    DLDataType dtype;
    int64_t storage;
    size_t bytes;
} tenon_graph_entry;

typedef struct
{
    tenon_graph_node* nodes;
    size_t node_count;
    int64_t* arg_nodes; /* inputs and parameters */
    size_t arg_count;
    tenon_graph_ref* heads; /* the outputs */
    size_t head_count;
    int64_t* row_ptr; /* first entry of each node, then the number of entries */
    size_t row_count;
    tenon_graph_entry* entries;
    size_t entry_count;
    size_t storage_count;
} tenon_graph;

/** Parses and checks; everything lives in the arena. 0 or -1. */
int tenon_graph_parse(const char* json, size_t length, tenon_arena* arena, tenon_graph* out);
/** Checks that every index is in range and the nodes are in topological order; part of parsing. */
int tenon_graph_check(tenon_graph* graph);

static inline size_t tenon_graph_entry_of(const tenon_graph* graph, tenon_graph_ref ref)
{
    return (size_t)(graph->row_ptr[ref.node] + ref.output);
}

#endif
