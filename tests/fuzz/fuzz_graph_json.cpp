// SPDX-License-Identifier: Apache-2.0
// The runtime's graph JSON: any bytes parse to a checked graph or are refused.
#include "tests/fuzz/fuzz.h"

extern "C" {
#include "runtime/executor/graph.h"
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    tenon_arena arena = {};
    tenon_graph graph = {};
    tenon_graph_parse(reinterpret_cast<const char*>(data), size, &arena, &graph);
    tenon_arena_free(&arena);
    return 0;
}
