// SPDX-License-Identifier: Apache-2.0
// The graph of an archive whose model only its own tool reads, as a module that can be looked at.
#pragma once

#include "compiler/executor/params.h"
#include "compiler/frontend/loaded.h"
#include "compiler/frontend/mlf/library_graph.h"

namespace tenon::compiler {

/// "12 kernel calls, 2 views, 30 inputs and constants, 15 storages".
std::string countsText(const LibraryGraph& graph);

/// Sources that `params` has are constants, the others inputs; kernels are nodes that nothing
/// compiles. Error BadModel for a constant that is not what the graph says of it.
core::Result<Loaded> shownGraph(const LibraryGraph& graph, NamedTensors params);

} // namespace tenon::compiler
