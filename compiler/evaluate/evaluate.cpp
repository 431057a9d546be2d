// SPDX-License-Identifier: Apache-2.0
// Walks the root block's nests in order; anything that is no plain nest makes the whole function go
// to the interpreter.
#include "compiler/evaluate/evaluate.h"

#include "compiler/evaluate/interpreter.h"
#include "compiler/evaluate/nest_chain.h"
#include "compiler/evaluate/split_choices.h"
#include "compiler/evaluate/vector_nest.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {
namespace {

using tir::StmtKind;

std::optional<std::vector<int64_t>> shapeOf(const tir::BufferNode& buffer)
{
    std::vector<int64_t> shape;
    for (const tir::Expr& extent : buffer.shape) {
        if (extent->kind != tir::ExprKind::IntImm) return std::nullopt;
        shape.push_back(extent->integer);
    }
    return shape;
}

/// The statements to run in order and the buffers that live inside.
struct Program
{
    std::vector<tir::Stmt> nests;
    std::vector<tir::Buffer> allocs;
};

Program programOf(const tir::PrimFunc& function)
{
    Program program;
    tir::Stmt body = function.body;
    while (body->kind == StmtKind::Block && body->block.iters.empty() && !body->init) {
        program.allocs.insert(program.allocs.end(), body->block.allocs.begin(),
                              body->block.allocs.end());
        body = body->body;
    }
    if (body->kind == StmtKind::Seq)
        program.nests = body->stmts;
    else
        program.nests = {body};
    return program;
}

} // namespace

Result<std::vector<Tensor>> evaluate(const tir::PrimFunc& function,
                                     const std::vector<Tensor>& inputs, const JobContext& job)
{
    CHECK(inputs.size() + function.outputCount == function.params.size())
        << inputs.size() << " inputs given";
    const Program program = programOf(function);
    BufferBytes bytes;
    std::vector<Tensor> owned; // outputs first, then inner buffers
    const auto add = [&](const tir::Buffer& buffer) {
        const auto shape = shapeOf(*buffer);
        if (!shape) return false;
        owned.push_back(Tensor::make(buffer->dtype, *shape,
                                     [&](std::span<std::byte> b) { bytes[buffer.get()] = b; }));
        return true;
    };
    bool isPlain = true;
    for (size_t i = inputs.size(); i < function.params.size(); ++i)
        isPlain = isPlain && add(function.params[i]);
    for (const tir::Buffer& buffer : program.allocs) isPlain = isPlain && add(buffer);
    for (size_t i = 0; i < inputs.size(); ++i) {
        const auto raw = inputs[i].bytes(); // nests never store to an input
        bytes[function.params[i].get()] = {const_cast<std::byte*>(raw.data()), raw.size()};
    }
    std::vector<VectorNest> nests;
    for (const tir::Stmt& whole : program.nests) {
        for (const tir::Stmt& stmt : splitChoices(whole)) {
            if (!isPlain) break;
            auto nest = VectorNest::match(stmt, bytes);
            isPlain = nest.has_value();
            if (nest) nests.push_back(std::move(*nest));
        }
    }
    if (!isPlain) return interpret(function, inputs);
    if (const auto chain = NestChain::match(program.nests, nests, program.allocs)) {
        if (Status done = chain->run(job); !done) return done.error();
        nests.clear();
    }
    for (const VectorNest& nest : nests)
        if (Status done = nest.run(job); !done) return done.error();
    owned.resize(function.outputCount);
    return owned;
}

} // namespace tenon::compiler
