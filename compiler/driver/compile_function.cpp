// SPDX-License-Identifier: Apache-2.0
// The function becomes a lowered module whose main is one call of it.
#include "compiler/driver/compile_function.h"

#include "compiler/driver/compile_stages.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

bool isIdentifier(std::string_view name)
{
    const auto isLetter = [](char c) {
        return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    return !name.empty() && isLetter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
        return isLetter(c) || (c >= '0' && c <= '9');
    });
}

Status checkName(const std::string& name)
{
    if (!isIdentifier(name))
        return makeError(DiagnosticCode::BadArgument,
                         "the function's name " + quoted(name) +
                             " is no C identifier, so that nobody could call it");
    for (const char* taken : {"_", "tenon_", "tvmgen_", "TVM"})
        if (name.starts_with(taken))
            return makeError(DiagnosticCode::BadArgument,
                             "artifacts use names that begin with " + quoted(taken) +
                                 " themselves; rename the function " + quoted(name));
    return kDone;
}

Result<TensorType> typeOf(const tir::Buffer& buffer)
{
    TensorType type;
    type.dtype = buffer->dtype;
    for (const tir::Expr& extent : buffer->shape) {
        if (extent->kind != tir::ExprKind::IntImm)
            return makeError(DiagnosticCode::DynamicShape,
                             "the shape of " + quoted(buffer->name) +
                                 " is not constant; give its sizes as numbers");
        type.shape.emplace_back(extent->integer);
    }
    return type;
}

NodeId addParameter(Module& module, const tir::Buffer& buffer, TensorType type)
{
    NodeRecord node;
    node.id = module.ids().nextNode();
    node.kind = NodeKind::Parameter;
    node.name = buffer->name;
    node.types = Types{std::move(type)};
    module.setNode(node);
    return node.id;
}

/// What the program builder asks of a primitive function: nothing, it was not made of operators.
FunctionId addCallee(Module& module, const std::string& name)
{
    GraphFunction callee;
    callee.id = module.ids().nextFunction();
    callee.name = name;
    callee.attrs.set("primitive", int64_t{1});
    const FunctionId id = callee.id;
    module.setFunction(std::move(callee));
    return id;
}

Result<Module> moduleCalling(const tir::PrimFunc& function)
{
    if (!function.sizes.empty())
        return makeError(DiagnosticCode::DynamicShape,
                         "size " + quoted(function.sizes[0]->name) +
                             " is known at run time only; give it as a number");
    Module module;
    GraphFunction main;
    main.id = module.ids().nextFunction();
    main.name = "main";
    NodeRecord call;
    call.id = module.ids().nextNode();
    call.kind = NodeKind::CallTir;
    call.name = call.kernel = function.name;
    call.callee = addCallee(module, function.name);
    Types results;
    const size_t inputs = function.params.size() - function.outputCount;
    for (size_t i = 0; i < function.params.size(); ++i) {
        auto type = typeOf(function.params[i]);
        if (!type) return type.error();
        if (i >= inputs) {
            main.results.push_back({call.id, static_cast<uint32_t>(i - inputs)});
            main.resultNames.push_back(function.params[i]->name);
            results.push_back(std::move(*type));
            continue;
        }
        main.params.push_back(addParameter(module, function.params[i], std::move(*type)));
        call.operands.push_back({main.params.back(), 0});
    }
    call.types = std::move(results);
    main.order = {call.id};
    module.setNode(std::move(call));
    module.setKernel(function.name, std::make_shared<const tir::PrimFunc>(function));
    module.setMain(main.id);
    module.setFunction(std::move(main));
    return module;
}

/// Libraries hold the graph executor's packed functions; what stands alone has an entry of its own.
Result<ExecutorKind> executorFor(const MachineSpec& machine, OutputFormat format)
{
    for (const ExecutorKind executor : {ExecutorKind::Graph, ExecutorKind::Aot})
        if (formFor(machine, executor, format)) return executor;
    return formFor(machine, ExecutorKind::Aot, format).error();
}

} // namespace

Result<CompileResultPtr> compileFunction(const tir::PrimFunc& function, OutputFormat format,
                                         const CompileOptions& options, JobContext& job)
{
    if (Status fine = checkName(function.name); !fine) return fine.error();
    auto module = moduleCalling(function);
    if (!module) return module.error();
    auto loaded = std::make_shared<Loaded>();
    loaded->name = function.name;
    loaded->module = *module;
    auto result = std::make_shared<CompileResult>();
    result->options = options;
    result->loaded = std::move(loaded);
    if (auto config = prepare(*result); !config) return config.error();
    const auto executor = executorFor(result->machine, format);
    if (!executor) return executor.error();
    result->options.executor = *executor;
    result->passes.imported = std::move(*module);
    // Kernels in the cache were scheduled by rules: the same text is another kernel there.
    if (Status built = generate(*result, {}, *asWrittenKernelService(), job); !built)
        return built.error();
    result->program.kernels.at(0).function = result->kernels.at(0).function = function.name;
    return CompileResultPtr(result);
}

} // namespace tenon::compiler
