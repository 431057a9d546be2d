// SPDX-License-Identifier: Apache-2.0
// Faults at the borders: in a kernel's code, in a program's file.
#include "tests/compiler/compare/faults.h"

#include "compiler/frontend/load_model.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "compiler/frontend/tensor_file.h"
#include "compiler/passes/numeric_check.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/ir/tir/text.h"
#include "core/ir/tir/visit.h"
#include "remote/session/emulation.h"
#include "remote/session/local_board.h"
#include "tests/support/environment.h"

#include <algorithm>
#include <fstream>

namespace tenon::test {
namespace {

const std::string kSample = "resources/sample/digits";

tir::Stmt shortened(const tir::Stmt& body)
{
    bool isDone = false;
    return tir::rewriteStmt(body, [&](const tir::Stmt& stmt) -> tir::Stmt {
        if (isDone || stmt->kind != tir::StmtKind::For ||
            stmt->loop.extent->kind != tir::ExprKind::IntImm || stmt->loop.extent->integer < 2)
            return stmt;
        isDone = true;
        auto shorter = std::make_shared<tir::StmtNode>(*stmt);
        shorter->loop.extent = tir::Expr(stmt->loop.extent->integer - 1);
        return shorter;
    });
}

tir::PrimFunc enlarged(tir::PrimFunc function, double factor)
{
    const tir::BufferNode* result = function.params.back().get();
    function.body = tir::rewriteStmt(function.body, [&](const tir::Stmt& stmt) -> tir::Stmt {
        if (stmt->kind != tir::StmtKind::Store || stmt->buffer.get() != result) return stmt;
        auto larger = std::make_shared<tir::StmtNode>(*stmt);
        const core::DataType type = stmt->value->dtype;
        larger->value = type.isFloat() ? stmt->value * tir::floatImm(factor, type)
                                       : stmt->value + tir::intImm(1, type);
        return larger;
    });
    return function;
}

class FaultyService : public KernelService
{
public:
    FaultyService(std::string tirHash, KernelFault fault)
        : m_tirHash(std::move(tirHash))
        , m_fault(fault)
    {
    }

    Result<KernelProducts> compile(const tir::PrimFunc& unscheduled, const std::string& symbol,
                                   const MachineSpec& machine, const TargetFacts& facts) override
    {
        const bool isHit = hashBytes(tir::print(unscheduled)).hex() == m_tirHash;
        if (!isHit) return m_inner->compile(unscheduled, symbol, machine, facts);
        if (m_fault == KernelFault::WrongFormula)
            return m_inner->compile(enlarged(unscheduled, 1.25), symbol, machine, facts);
        if (m_fault == KernelFault::SlightlyLarge)
            return m_inner->compile(enlarged(unscheduled, 1 + 1.0 / 1024), symbol, machine, facts);
        auto products = m_inner->compile(unscheduled, symbol, machine, facts);
        if (!products) return products;
        auto lowered = tir::parsePrimFunc(products->lowered);
        if (!lowered) return lowered.error();
        lowered->body = shortened(lowered->body);
        products->lowered = tir::print(*lowered);
        if (machine.backEnd->sources) return products; // written from the loops
        auto object = m_inner->emitText({TextRequest::Kind::Loops, products->lowered, symbol,
                                         facts.vectorBytes, EmitForm::Object, machine});
        if (!object) return object.error();
        products->object = std::move(*object);
        return products;
    }
    Result<std::string> emitText(const TextRequest& request) override
    {
        return m_inner->emitText(request);
    }
    Status link(const LinkRequest& request) override { return m_inner->link(request); }

private:
    std::shared_ptr<KernelService> m_inner = inProcessKernelService();
    std::string m_tirHash;
    KernelFault m_fault;
};

} // namespace

std::shared_ptr<const Loaded> digits()
{
    auto loaded = loadModel(sourcePath(kSample) + "/model.onnx", {});
    CHECK(loaded) << loaded.error().text();
    return std::make_shared<const Loaded>(std::move(*loaded));
}

std::vector<NamedValues> digitsData()
{
    const auto loaded = digits();
    const Module& module = loaded->module;
    std::vector<NamedValues> out;
    for (int set = 0; set < 3; ++set) {
        auto tensor = readTensorFile(sourcePath(kSample) + "/test_data_set_" + std::to_string(set) +
                                     "/input_0.pb");
        CHECK(tensor) << tensor.error().text();
        out.push_back({{module.node(module.main().params[0]).name, tensor->tensor}});
    }
    return out;
}

ProgramRunner runHere(std::function<void(std::string& bytes)> onFile)
{
    return [onFile = std::move(onFile)](const CompileResultPtr& program, const NamedValues& inputs,
                                        JobContext& job) -> Result<std::vector<Tensor>> {
        const TemporaryFolder folder;
        remote::RunRequest request;
        request.artifactPath =
            folder.file("model" + std::string(suffixOf(program->machine.backEnd->runnable())));
        request.inputs = inputs;
        if (Status found = remote::runHere(request, program->target); !found) return found.error();
        auto written = writeArtifact(*program, request.artifactPath);
        if (!written) return written.error();
        if (onFile) {
            auto bytes = readFile(request.artifactPath);
            if (!bytes) return bytes.error();
            onFile(*bytes);
            std::ofstream(request.artifactPath, std::ios::binary) << *bytes;
        }
        return remote::runArtifact(request, job);
    };
}

size_t victimOf(const CompileResult& built)
{
    const auto& calls = built.program.calls;
    for (size_t c = calls.size() / 2; c-- > 0;) {
        const auto users = std::count_if(calls.begin(), calls.end(), [&](const KernelCall& call) {
            return call.kernel == calls[c].kernel;
        });
        if (users == 1 && calls[c].macs > 0) return c;
    }
    return 0;
}

std::string weightBytes(const CompileResult& built, size_t call)
{
    const Tensor* largest = nullptr;
    for (const int argument : built.program.calls[call].arguments) {
        const ProgramTensor& tensor = built.program.tensors[static_cast<size_t>(argument)];
        if (tensor.role == TensorRole::Constant &&
            (!largest || tensor.constant.size() > largest->size()))
            largest = &tensor.constant;
    }
    CHECK(largest) << built.program.calls[call].name << " has no weight";
    const auto bytes = largest->bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::function<void(std::string& bytes)> flipIn(std::string weight, size_t& flipped)
{
    return [weight = std::move(weight), &flipped](std::string& file) {
        const size_t at = file.find(weight);
        if (at == std::string::npos) return;
        ++flipped;
        file[at + weight.size() / 8 * 4 + 3] ^= 0x40;
    };
}

std::string convolutions(const std::vector<double>& scales)
{
    const bool isQuantized = !scales.empty();
    std::string text = "opset 13\ninput x float32 1,4,12,12\ninit w float32 4,4,3,3\n"
                       "floats k float32 1 = 1\n";
    if (isQuantized)
        text += "ints i int64 1 = 0\nnode Cast zc i -> z to=3\nfloats sw float32 1 = 0.005\n"
                "node QuantizeLinear qw w,sw,z -> ew\nnode DequantizeLinear dw ew,sw,z -> fw\n"
                "floats sx float32 1 = 0.008\nnode QuantizeLinear qx x,sx,z -> ex\n"
                "node DequantizeLinear dx ex,sx,z -> fx\n";
    std::string data = isQuantized ? "fx" : "x";
    for (size_t i = 0; i < 3; ++i) {
        const std::string n = std::to_string(i), weight = isQuantized ? "fw" : "w";
        text += "node Conv c" + n + " " + data + "," + weight + " -> a" + n + " pads=[1,1,1,1]\n";
        text += "node Relu r" + n + " a" + n + " -> b" + n + "\n";
        data = "b" + n;
        if (!isQuantized) continue;
        text += "floats s" + n + " float32 1 = " + core::exact(scales[i]) + "\n";
        text += "node QuantizeLinear q" + n + " b" + n + ",s" + n + " -> e" + n + "\n";
        text += "node DequantizeLinear d" + n + " e" + n + ",s" + n + " -> f" + n + "\n";
        data = "f" + n;
    }
    return text + "node Mul y " + data + ",k -> y\noutput y float32 1,4,12,12\n";
}

std::shared_ptr<const Loaded> modelFrom(std::string bytes)
{
    const auto owner = std::make_shared<const std::string>(std::move(bytes));
    auto loaded = loadOnnxBytes(std::as_bytes(std::span(*owner)), owner, "", "model.onnx", {});
    CHECK(loaded) << loaded.error().text();
    return std::make_shared<const Loaded>(std::move(*loaded));
}

std::vector<NamedValues> seeded(const Loaded& loaded)
{
    NamedValues out;
    uint64_t seed = 1;
    for (const NodeId id : loaded.module.main().params) {
        const NodeRecord& input = loaded.module.node(id);
        out.emplace_back(input.name, seededTensor(input.types[0].dtype,
                                                  *constantShape(input.types[0].shape), seed++));
    }
    return {out};
}

CompareRequest requestFor(std::shared_ptr<const Loaded> loaded, std::vector<NamedValues> sets,
                          ExecutorKind executor)
{
    CompileOptions options;
    options.executor = executor;
    return {.loaded = loaded,
            .options = options,
            .sets = std::move(sets),
            .limits = {},
            .device = runHere(),
            .reference = levelZeroReference(loaded, CompileOptions(), runHere())};
}

std::shared_ptr<KernelService> faultyService(const std::string& tirHash, KernelFault fault)
{
    return std::make_shared<FaultyService>(tirHash, fault);
}

} // namespace tenon::test
