/* SPDX-License-Identifier: Apache-2.0 */
/* Reading graph JSON. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "../common/dtype.h"
#include "../common/error.h"
#include "../common/json.h"

/* The attribute columns, each with one value per entry. */
typedef struct
{
    const char** dtypes;
    int64_t** shapes;
    size_t* ranks;
    int64_t* storages;
    size_t dtype_count;
    size_t shape_count;
    size_t storage_count;
} columns;

#define APPEND(json, items, count, value)                                                          \
    do {                                                                                           \
        void* grown_ = tenon_arena_grow((json)->arena, (items), (count), sizeof *(items));         \
        if (!grown_)                                                                               \
            (json)->failed = true;                                                                 \
        else                                                                                       \
            (items) = grown_;                                                                      \
        if (!(json)->failed) (items)[(count)++] = (value);                                         \
    } while (0)

/* [node, output] or [node, output, version]. */
static tenon_graph_ref read_ref(tenon_json* json)
{
    int64_t values[3] = {0, 0, 0};
    int count = 0;
    tenon_json_open_array(json);
    while (tenon_json_next_item(json)) {
        if (count == 3)
            tenon_json_fail(json, "too many numbers in a reference");
        else
            values[count++] = tenon_json_integer(json);
    }
    if (count < 2) tenon_json_fail(json, "too few numbers in a reference");
    return (tenon_graph_ref){values[0], values[1]};
}

static void read_refs(tenon_json* json, tenon_graph_ref** refs, size_t* count)
{
    tenon_json_open_array(json);
    while (tenon_json_next_item(json)) {
        tenon_graph_ref ref = read_ref(json);
        APPEND(json, *refs, *count, ref);
    }
}

static void read_integers(tenon_json* json, int64_t** values, size_t* count)
{
    tenon_json_open_array(json);
    while (tenon_json_next_item(json)) {
        int64_t value = tenon_json_integer(json);
        APPEND(json, *values, *count, value);
    }
}

static int64_t number_in_string(tenon_json* json)
{
    const char* text = tenon_json_string(json);
    char* end = NULL;
    long value = text && *text ? strtol(text, &end, 10) : -1;
    if (!json->failed && (!end || *end || value < 0 || value > 100000))
        tenon_json_fail(json, "expected a count in a string");
    return value;
}

static void read_op_attrs(tenon_json* json, tenon_graph_node* node)
{
    const char* key;
    int seen = 0;
    tenon_json_open_object(json);
    while ((key = tenon_json_next_key(json))) {
        if (strcmp(key, "func_name") == 0) {
            node->func_name = tenon_json_string(json);
            seen |= 1;
        } else if (strcmp(key, "num_inputs") == 0) {
            node->input_count = number_in_string(json);
            seen |= 2;
        } else if (strcmp(key, "num_outputs") == 0) {
            node->output_count = number_in_string(json);
            seen |= 4;
        } else if (strcmp(key, "flatten_data") == 0) {
            node->is_flattened = number_in_string(json) != 0;
            seen |= 8;
        } else {
            tenon_json_string(json);
        }
    }
    if (seen != 15)
        tenon_json_fail(json,
                        "an operator lacks func_name, num_inputs, num_outputs or flatten_data");
}

static tenon_graph_node read_node(tenon_json* json)
{
    tenon_graph_node node = {.output_count = 1};
    const char* op = NULL;
    const char* key;
    bool has_inputs = false;
    tenon_json_open_object(json);
    while ((key = tenon_json_next_key(json))) {
        if (strcmp(key, "op") == 0) {
            op = tenon_json_string(json);
        } else if (strcmp(key, "name") == 0) {
            node.name = tenon_json_string(json);
        } else if (strcmp(key, "inputs") == 0) {
            read_refs(json, &node.inputs, &node.ref_count);
            has_inputs = true;
        } else if (strcmp(key, "attr") == 0 || strcmp(key, "attrs") == 0) {
            read_op_attrs(json, &node);
        } else if (strcmp(key, "control_deps") == 0) {
            tenon_json_skip(json);
        } else {
            tenon_json_fail(json, "unknown key in a node");
        }
    }
    if (json->failed) return node;
    bool is_op = op && strcmp(op, "tvm_op") == 0;
    if (!op || !node.name || !has_inputs || (!is_op && strcmp(op, "null") != 0) ||
        is_op != (node.func_name != NULL))
        tenon_json_fail(json, "a node is neither a complete input nor a complete tvm_op");
    return node;
}

static void read_shapes(tenon_json* json, columns* out)
{
    size_t rank_count = 0;
    tenon_json_open_array(json);
    while (tenon_json_next_item(json)) {
        int64_t* shape = NULL;
        size_t rank = 0;
        read_integers(json, &shape, &rank);
        APPEND(json, out->shapes, out->shape_count, shape);
        APPEND(json, out->ranks, rank_count, rank);
    }
}

static void read_strings(tenon_json* json, const char*** values, size_t* count)
{
    tenon_json_open_array(json);
    while (tenon_json_next_item(json)) {
        const char* value = tenon_json_string(json);
        APPEND(json, *values, *count, value);
    }
}

/* A column: ["list_kind", [values...]]. */
static void read_column(tenon_json* json, const char* key, columns* out)
{
    tenon_json_open_array(json);
    const char* kind = tenon_json_next_item(json) ? tenon_json_string(json) : NULL;
    if (!kind || !tenon_json_next_item(json)) {
        tenon_json_fail(json, "an attribute is not a pair");
        return;
    }
    if (strcmp(key, "dltype") == 0 && strcmp(kind, "list_str") == 0)
        read_strings(json, &out->dtypes, &out->dtype_count);
    else if (strcmp(key, "shape") == 0 && strcmp(kind, "list_shape") == 0)
        read_shapes(json, out);
    else if (strcmp(key, "storage_id") == 0 && strcmp(kind, "list_int") == 0)
        read_integers(json, &out->storages, &out->storage_count);
    else
        tenon_json_skip(json); /* device_index and storage_scope: there is only the CPU's memory */
    if (tenon_json_next_item(json)) tenon_json_fail(json, "an attribute is not a pair");
}

static void read_attrs(tenon_json* json, columns* out)
{
    const char* key;
    tenon_json_open_object(json);
    while ((key = tenon_json_next_key(json))) read_column(json, key, out);
}

static int join_columns(const columns* from, tenon_arena* arena, tenon_graph* graph)
{
    size_t count = from->dtype_count;
    if (from->shape_count != count || from->storage_count != count)
        return tenon_fail("dltype, shape and storage_id differ in length");
    graph->entries = tenon_arena_alloc(arena, count + 1, sizeof *graph->entries);
    if (!graph->entries) return -1;
    graph->entry_count = count;
    for (size_t i = 0; i < count; ++i) {
        tenon_graph_entry* entry = &graph->entries[i];
        *entry = (tenon_graph_entry){
            .shape = from->shapes[i], .rank = from->ranks[i], .storage = from->storages[i]};
        if (!entry->shape) entry->shape = tenon_arena_alloc(arena, 1, sizeof(int64_t));
        if (!entry->shape) return -1;
        if (!tenon_dtype_parse(from->dtypes[i], strlen(from->dtypes[i]), &entry->dtype))
            return tenon_fail("unknown data type `%s`", from->dtypes[i]);
        if (entry->rank > kTenonMaxRank ||
            !tenon_tensor_bytes(entry->shape, (int32_t)entry->rank, entry->dtype, &entry->bytes))
            return tenon_fail("entry %zu has an impossible shape", i);
    }
    return 0;
}

static void read_graph(tenon_json* json, tenon_graph* graph, columns* attrs)
{
    const char* key;
    tenon_json_open_object(json);
    while ((key = tenon_json_next_key(json))) {
        if (strcmp(key, "nodes") == 0) {
            tenon_json_open_array(json);
            while (tenon_json_next_item(json)) {
                tenon_graph_node node = read_node(json);
                APPEND(json, graph->nodes, graph->node_count, node);
            }
        } else if (strcmp(key, "arg_nodes") == 0) {
            read_integers(json, &graph->arg_nodes, &graph->arg_count);
        } else if (strcmp(key, "heads") == 0) {
            read_refs(json, &graph->heads, &graph->head_count);
        } else if (strcmp(key, "node_row_ptr") == 0) {
            read_integers(json, &graph->row_ptr, &graph->row_count);
        } else if (strcmp(key, "attrs") == 0) {
            read_attrs(json, attrs);
        } else if (strcmp(key, "metadata") == 0) {
            tenon_json_skip(json);
        } else {
            tenon_json_fail(json, "unknown key in the graph");
        }
    }
}

int tenon_graph_parse(const char* text, size_t length, tenon_arena* arena, tenon_graph* out)
{
    columns attrs = {0};
    memset(out, 0, sizeof *out);
    tenon_json json = tenon_json_of(text, length, arena);
    read_graph(&json, out, &attrs);
    if (!json.failed && !tenon_json_at_end(&json)) tenon_json_fail(&json, "text after the graph");
    if (json.failed || join_columns(&attrs, arena, out) != 0 || tenon_graph_check(out) != 0)
        return tenon_fail_within("graph JSON");
    return 0;
}
