/* SPDX-License-Identifier: Apache-2.0 */
/* Checks on a parsed graph, so that running it needs none. */
#include <string.h>

#include "../common/error.h"
#include "graph.h"

static bool is_entry(const tenon_graph* graph, tenon_graph_ref ref, size_t before_node)
{
    return ref.node >= 0 && (uint64_t)ref.node < before_node && ref.output >= 0 &&
           ref.output < graph->nodes[ref.node].output_count;
}

static int check_rows(const tenon_graph* graph)
{
    if (graph->row_count != graph->node_count + 1 || graph->row_ptr[0] != 0)
        return tenon_fail("node_row_ptr does not fit the nodes");
    for (size_t i = 0; i < graph->node_count; ++i) {
        const tenon_graph_node* node = &graph->nodes[i];
        if (graph->row_ptr[i + 1] - graph->row_ptr[i] != node->output_count)
            return tenon_fail("node `%s` has not as many entries as outputs", node->name);
    }
    if ((uint64_t)graph->row_ptr[graph->node_count] != graph->entry_count)
        return tenon_fail("there are not as many attributes as entries");
    return 0;
}

static int check_node(const tenon_graph* graph, size_t index)
{
    const tenon_graph_node* node = &graph->nodes[index];
    if (!node->func_name) {
        return node->ref_count == 0 ? 0 : tenon_fail("input `%s` has inputs", node->name);
    }
    if ((uint64_t)node->input_count != node->ref_count)
        return tenon_fail("node `%s` has not num_inputs inputs", node->name);
    for (size_t i = 0; i < node->ref_count; ++i)
        if (!is_entry(graph, node->inputs[i], index))
            return tenon_fail("node `%s` uses what no earlier node yields", node->name);
    if (strcmp(node->func_name, "__nop") != 0 && strcmp(node->func_name, "__copy") != 0) return 0;
    if (node->ref_count < 1 || node->output_count != 1)
        return tenon_fail("node `%s` of kind %s has no input or several outputs", node->name,
                          node->func_name);
    size_t from = tenon_graph_entry_of(graph, node->inputs[0]);
    size_t to = (size_t)graph->row_ptr[index];
    if (graph->entries[from].bytes != graph->entries[to].bytes)
        return tenon_fail("node `%s` changes the number of bytes", node->name);
    return 0;
}

static int check_storage(tenon_graph* graph)
{
    for (size_t i = 0; i < graph->entry_count; ++i) {
        int64_t storage = graph->entries[i].storage;
        /* Storage ids are dense in practice; an id per entry is the most that makes sense. */
        if (storage < 0 || (uint64_t)storage >= graph->entry_count)
            return tenon_fail("entry %zu has storage id %lld", i, (long long)storage);
        if ((uint64_t)storage >= graph->storage_count) graph->storage_count = (size_t)storage + 1;
    }
    return 0;
}

int tenon_graph_check(tenon_graph* graph)
{
    if (graph->node_count == 0 || graph->head_count == 0)
        return tenon_fail("nodes or heads are missing");
    if (check_rows(graph) != 0 || check_storage(graph) != 0) return -1;
    for (size_t i = 0; i < graph->node_count; ++i)
        if (check_node(graph, i) != 0) return -1;
    for (size_t i = 0; i < graph->head_count; ++i)
        if (!is_entry(graph, graph->heads[i], graph->node_count))
            return tenon_fail("output %zu does not exist", i);
    for (size_t i = 0; i < graph->arg_count; ++i) {
        int64_t node = graph->arg_nodes[i];
        if (node < 0 || (uint64_t)node >= graph->node_count || graph->nodes[node].func_name)
            return tenon_fail("argument %zu is no input", i);
    }
    return 0;
}
