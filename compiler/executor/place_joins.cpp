// SPDX-License-Identifier: Apache-2.0
// Views in place of copies, one join after another in execution order, so that joins nest.
#include "compiler/executor/place_joins.h"

#include "compiler/executor/placing.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

size_t at(int index) { return static_cast<size_t>(index); }

/// The tensor itself, or the one that it is in another shape.
int wholeOf(const ExecutorProgram& program, int tensor)
{
    for (;;) {
        const ProgramTensor& view = program.tensors[at(tensor)];
        const bool isShape = view.viewOf >= 0 && view.viewOffsetBytes == 0 &&
                             program.tensors[at(view.viewOf)].bytes() == view.bytes();
        if (!isShape) return tensor;
        tensor = view.viewOf;
    }
}

std::vector<int> partsOf(const ExecutorProgram& program, const KernelCall& join)
{
    std::vector<int> parts;
    for (auto part = join.arguments.begin(); part + 1 != join.arguments.end(); ++part)
        parts.push_back(wholeOf(program, *part));
    return parts;
}

/// The last call that writes `tensor` or a part placed in it, or nothing.
KernelCall* lastWriterOf(ExecutorProgram& program, int tensor)
{
    return lastWriterOf(program, tensor, program.calls.size());
}

bool canBePlaced(ExecutorProgram& program, const KernelCall& join, int64_t pieces)
{
    const std::vector<int> parts = partsOf(program, join);
    int64_t offset = 0;
    for (const int part : parts) {
        const bool canMove =
            isFree(program, part) && std::count(parts.begin(), parts.end(), part) == 1;
        if (!canMove || offset % kKernelAlignment != 0 || !lastWriterOf(program, part))
            return false;
        offset += program.tensors[at(part)].bytes() / pieces;
    }
    return offset * pieces == program.tensors[at(join.arguments.back())].bytes();
}

void place(ExecutorProgram& program, const KernelCall& join, int64_t pieces)
{
    const int whole = join.arguments.back();
    int64_t offset = 0;
    KernelCall* last = nullptr;
    for (const int part : partsOf(program, join)) {
        KernelCall* writer = lastWriterOf(program, part);
        if (!last || writer > last) last = writer; // calls are in execution order
        ProgramTensor& tensor = program.tensors[at(part)];
        tensor.viewOf = whole;
        tensor.viewOffsetBytes = offset;
        offset += tensor.bytes() / pieces;
    }
    last->sources.insert(last->sources.end(), join.sources.begin(), join.sources.end());
    last->fromNodes.insert(last->fromNodes.end(), join.fromNodes.begin(), join.fromNodes.end());
}

} // namespace

void placeJoins(ExecutorProgram& program, const std::map<std::string, int64_t>& joins)
{
    const size_t before = program.calls.size();
    for (size_t c = 0; c < program.calls.size();) {
        const KernelCall join = program.calls[c];
        const auto pieces = joins.find(join.name);
        const bool isPlaced = pieces != joins.end() && canBePlaced(program, join, pieces->second);
        CHECK(isPlaced || pieces == joins.end() || pieces->second == 1)
            << "no place for the parts of " << join.name;
        if (!isPlaced) {
            ++c;
            continue;
        }
        place(program, join, pieces->second);
        program.calls.erase(program.calls.begin() + static_cast<std::ptrdiff_t>(c));
    }
    if (program.calls.size() < before) verifyProgram(program);
}

} // namespace tenon::compiler
