// SPDX-License-Identifier: GPL-3.0-or-later
// Documents made in code.
#include "tests/views/fixtures.h"

#include "core/base/board_code.h"

#include <chrono>
#include <thread>

namespace tenon::tests {

using namespace core;

namespace {

const TensorType kType{kFloat32, makeShape({1, 8, 16, 16})};

NodeId addNode(Module& module, GraphFunction& main, NodeRecord record, const std::string& name,
               std::vector<SourceId> origin)
{
    record.name = name;
    record.types = {kType};
    record.origin = std::move(origin);
    const NodeId id = record.id;
    module.setNode(std::move(record));
    main.order.push_back(id);
    return id;
}

NodeId addInput(Module& module, GraphFunction& main)
{
    NodeRecord input;
    input.id = module.ids().nextNode();
    input.kind = NodeKind::Parameter;
    input.name = "image";
    input.types = {kType};
    const NodeId id = input.id;
    module.setNode(std::move(input));
    main.params.push_back(id);
    return id;
}

GraphFunction newMain(Module& module)
{
    GraphFunction main;
    main.id = module.ids().nextFunction();
    main.name = "main";
    module.setMain(main.id);
    return main;
}

/// batch_norm of each block becomes multiply and add.
views::PassStep simplify(const Module& before)
{
    views::PassStep step{QStringLiteral("SimplifyInference"),
                         QStringLiteral("simplify"),
                         false,
                         true,
                         0.2,
                         {},
                         before};
    const std::vector<NodeId> order = before.main().order;
    for (const NodeId id : order) {
        const NodeRecord& node = before.node(id);
        if (node.op != "nn.batch_norm") continue;
        Patch patch{"expand-batch-norm", "inference needs no statistics", before.mainId(), {id}};
        NodeRecord multiply = newOpNode(step.after, "multiply", node.operands);
        multiply.types = node.types;
        NodeRecord add = newOpNode(step.after, "add", {{multiply.id, 0}});
        add.types = node.types;
        patch.replace.push_back({{id, 0}, {add.id, 0}});
        patch.nodes = {multiply, add};
        patch.erase = {id};
        step.changes.push_back(applyPatch(step.after, patch));
    }
    sortTopologically(step.after, before.mainId());
    return step;
}

/// Every multiply is gone, its reader reads the conv.
views::PassStep foldScales(const Module& before)
{
    views::PassStep step{
        QStringLiteral("FoldScaleAxis"), QStringLiteral("simplify"), false, true, 0.3, {}, before};
    const std::vector<NodeId> order = before.main().order;
    for (const NodeId id : order) {
        const NodeRecord& node = before.node(id);
        if (node.op != "multiply") continue;
        Patch patch{"fold-scale", "the weights take it", before.mainId(), {id}};
        patch.replace.push_back({{id, 0}, node.operands[0]});
        patch.erase = {id};
        step.changes.push_back(applyPatch(step.after, patch));
    }
    return step;
}

/// Every conv with the next `members` - 1 nodes becomes a call of a primitive function.
views::PassStep fuse(const Module& before, size_t members)
{
    views::PassStep step{
        QStringLiteral("FuseOps"), QStringLiteral("fuse"), false, true, 0.4, {}, before};
    const std::vector<NodeId> order = before.main().order;
    for (size_t i = 0; i + members <= order.size(); i += members) {
        GraphFunction function;
        function.id = step.after.ids().nextFunction();
        function.name = "fused_conv2d_multiply_add_relu";
        Patch patch{"fuse", "elementwise after conv", before.mainId()};
        NodeRecord parameter;
        parameter.id = step.after.ids().nextNode();
        parameter.kind = NodeKind::Parameter;
        parameter.types = {kType};
        function.params = {parameter.id};
        NodeRecord conv = step.after.node(order[i]);
        NodeRecord call;
        call.id = step.after.ids().nextNode();
        call.kind = NodeKind::Call;
        call.callee = function.id;
        call.operands = {conv.operands[0]};
        call.types = {kType};
        conv.operands[0] = {parameter.id, 0};
        patch.nodes = {parameter, conv, call};
        for (size_t k = i; k < i + members; ++k) patch.from.push_back(order[k]);
        patch.moved = patch.from;
        function.order = patch.from;
        function.results = {{order[i + members - 1], 0}};
        patch.replace.push_back({{order[i + members - 1], 0}, {call.id, 0}});
        patch.functions = {function};
        step.changes.push_back(applyPatch(step.after, patch));
        // applyPatch replaces uses everywhere; the function keeps giving its own member.
        step.after.setFunction(function);
    }
    sortTopologically(step.after, before.mainId());
    return step;
}

/// Two buffers that live together at call 1: 100 bytes with 28 of padding above 1024.
views::MemoryPlan smallPlan(const QString& algorithm, qint64 alignment)
{
    views::MemoryPlan plan;
    plan.algorithm = algorithm;
    plan.alignment = alignment;
    plan.arenaBytes = plan.lowerBoundBytes = 1124;
    plan.withoutReuseBytes = 2124;
    plan.pools = {{QStringLiteral("global_workspace"), views::MemoryPool::kUnlimited, 1124}};
    plan.buffers = {
        {QStringLiteral("a"),
         QStringLiteral("float32 [25]"),
         0,
         1024,
         100,
         28,
         0,
         1,
         0,
         {1},
         false},
        {QStringLiteral("b"), QStringLiteral("float32 [256]"), 0, 0, 1024, 0, 1, 2, 1, {}, true}};
    plan.liveBytes = {100, 1124, 1024};
    plan.planners = {{QStringLiteral("linear_scan"), {}, 1500, 0.2, false, {}},
                     {QStringLiteral("hill_climb"), {}, 1124, 0.4, true, {}}};
    return plan;
}

} // namespace

views::DocumentPtr smallDocument(int blocks)
{
    auto document = std::make_shared<views::Document>();
    document->name = document->path = QStringLiteral("small.onnx");
    document->opset = QStringLiteral("13");
    Module module;
    GraphFunction main = newMain(module);
    auto sources = std::make_shared<std::vector<SourceNode>>();
    NodeId last = addInput(module, main);
    for (int b = 0; b < blocks; ++b)
        for (const auto& [op, foreign] : {std::pair{"nn.conv2d", "Conv"},
                                          {"nn.batch_norm", "BatchNormalization"},
                                          {"nn.relu", "Relu"}}) {
            const SourceId source(static_cast<uint32_t>(sources->size()));
            const std::string name = "block" + std::to_string(b) + "." + foreign;
            sources->push_back({name, foreign, "", {"block" + std::to_string(b)}});
            last = addNode(module, main, newOpNode(module, op, {{last, 0}}), name, {source});
        }
    main.results = {{last, 0}};
    main.resultNames = {"scores"};
    module.setFunction(main);
    module.setSources(sources);
    document->imported = module;
    document->passes.push_back(
        {QStringLiteral("InferType"), QStringLiteral("import"), false, false, 0.1, {}, module});
    document->passes.push_back(simplify(module));
    document->passes.push_back(fuse(document->passes.back().after, 4));
    for (size_t i = 0; i < document->passes.size(); ++i)
        document->passes[i].position = static_cast<int>(i);
    return document;
}

views::DocumentPtr foldedDocument(int blocks)
{
    auto document = std::make_shared<views::Document>(*smallDocument(blocks));
    document->passes.pop_back();
    document->passes.push_back(foldScales(document->passes.back().after));
    document->passes.push_back(fuse(document->passes.back().after, 3));
    return document;
}

views::DocumentPtr branchingDocument()
{
    auto document = std::make_shared<views::Document>();
    document->name = QStringLiteral("branching.onnx");
    Module module;
    GraphFunction main = newMain(module);
    const NodeId image = addInput(module, main);
    const auto branch = [&](const char* name, const std::vector<const char*>& ops) {
        GraphFunction body;
        body.id = module.ids().nextFunction();
        body.name = name;
        NodeId last = image;
        for (const char* op : ops)
            last = addNode(module, body, newOpNode(module, op, {{last, 0}}), op, {});
        body.results = {{last, 0}};
        module.setFunction(body);
        return body.id;
    };
    NodeRecord choice = newOpNode(module, "if", {{image, 0}});
    choice.bodies = {branch("then_branch", {"nn.relu", "sigmoid"}),
                     branch("else_branch", {"tanh"})};
    const NodeId chosen = addNode(module, main, choice, "choose", {});
    const NodeId sum =
        addNode(module, main, newOpNode(module, "add", {{chosen, 0}, {image, 0}}), "sum", {});
    main.results = {{sum, 0}};
    main.resultNames = {"scores"};
    module.setFunction(main);
    module.setSources(std::make_shared<std::vector<SourceNode>>());
    document->imported = module;
    return document;
}

views::DocumentPtr largeDocument(int count)
{
    auto document = std::make_shared<views::Document>();
    document->name = QStringLiteral("large.onnx");
    Module module;
    GraphFunction main = newMain(module);
    std::vector<NodeId> nodes{addInput(module, main)};
    for (int i = 0; i < count; ++i) {
        const bool joins = i % 3 == 2;
        std::vector<ValueRef> operands{{nodes.back(), 0}};
        if (joins) operands.push_back({nodes[nodes.size() - 3], 0});
        nodes.push_back(addNode(module, main,
                                newOpNode(module, joins ? "add" : "nn.conv2d", operands),
                                "n" + std::to_string(i), {}));
    }
    main.results = {{nodes.back(), 0}};
    module.setFunction(main);
    module.setSources(std::make_shared<std::vector<SourceNode>>());
    document->imported = module;
    return document;
}

namespace {

Result<views::ProbeFindings> fakeProbe(const QString& board, const views::BoardAsk& ask,
                                       JobContext& job)
{
    views::BoardQuestion question;
    question.fingerprint = QStringLiteral("SHA256:abc");
    if (board != QLatin1String("local") && !ask(question, job))
        return makeError(core::BoardCode::HostKeyUnknown, "nobody has vouched for the key");
    views::ProbeFindings findings;
    findings.board = {.name = board,
                      .way = board == QLatin1String("local") ? views::BoardWay::ThisComputer
                                                             : views::BoardWay::Ssh,
                      .target = QStringLiteral("llvm -mcpu=probed"),
                      .summary = QStringLiteral("Test board, 4 cores")};
    findings.checks = {{views::CheckVerdict::Good, QStringLiteral("system"), QStringLiteral("x")},
                       {views::CheckVerdict::Doubtful, QStringLiteral("load"), QStringLiteral("7"),
                        QStringLiteral("wait")}};
    findings.proposedTarget = QStringLiteral("llvm -mcpu=probed");
    findings.condition = QStringLiteral("51 °C");
    return findings;
}

views::Measurement fakeMeasurement(size_t calls)
{
    views::Measurement m;
    m.board = QStringLiteral("fake board");
    m.runs = 3;
    m.medianUs = 300;
    m.madUs = 1;
    m.runUs = {299, 300, 301};
    m.lowUs = 299;
    m.highUs = 301;
    m.peer = {QStringLiteral("peer 1.0"), 600, 590, 610};
    for (size_t i = 0; i < calls; ++i)
        m.calls.push_back({100.0 * static_cast<double>(i + 1), 50.0 * static_cast<double>(i + 1)});
    return m;
}

/// Compiles and "measures" in two steps.
views::DeployOutcome fakeDeploy(const decltype(views::Engine::compile)& compile,
                                const views::DeployQuestion& question,
                                const views::DeployWatcher& watch, JobContext& job)
{
    views::DeployOutcome outcome;
    outcome.report.board = question.board;
    outcome.report.steps = {{QStringLiteral("compile"), views::StepState::Running},
                            {QStringLiteral("run")}};
    watch(outcome.report);
    auto compiled = compile(question.document, question.options, job);
    outcome.report.isFinished = true;
    if (!compiled) {
        outcome.report.steps[0].state = views::StepState::Failed;
        outcome.report.error = QStringLiteral("not compiled");
        outcome.error = compiled.error();
        return outcome;
    }
    auto measured = std::make_shared<views::Document>(**compiled);
    measured->measurement = fakeMeasurement(measured->calls.size());
    outcome.document = measured;
    for (views::StepRow& step : outcome.report.steps) step.state = views::StepState::Done;
    outcome.report.totalMs = 12;
    return outcome;
}

} // namespace

views::Engine fakeEngine(bool waits)
{
    views::Engine engine;
    engine.open = [](const QString& path, const views::BuildOptions&, const views::Engine::Read&,
                     JobContext& job) -> Result<views::DocumentPtr> {
        job.progress(0.5, "reading");
        if (path == QLatin1String("bad"))
            return makeError(DiagnosticCode::BadModel, "the file ends in the middle of a node",
                             {.node = "conv_7"});
        return smallDocument(2);
    };
    engine.compile = [waits](views::DocumentPtr document, const views::BuildOptions& options,
                             JobContext& job) -> Result<views::DocumentPtr> {
        while (waits && !job.stopRequested())
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        if (Status status = job.checkStop(); !status) return status.error();
        auto compiled = std::make_shared<views::Document>(*document);
        compiled->target = options.target;
        compiled->measurement.reset();
        compiled->calls.clear();
        compiled->revision = document->revision + 1;
        compiled->memory = smallPlan(options.planner, 64);
        const Module& module = compiled->version(compiled->versionCount() - 1);
        for (const NodeId id : module.main().order)
            compiled->calls.push_back({id, QStringLiteral("call"), QStringLiteral("k"),
                                       module.node(id).origin, 1000, 100, 50});
        compiled->kernels[QStringLiteral("k")] = {QStringLiteral("k"),
                                                  QStringLiteral("rule"),
                                                  {QStringLiteral("split(\"i\", [4, -1])")},
                                                  QStringLiteral("def k():\n    pass")};
        compiled->phases = {{QStringLiteral("all"), 3.5}};
        return views::DocumentPtr(compiled);
    };
    engine.boards.list = [] {
        return Result<std::vector<views::BoardEntry>>(std::vector<views::BoardEntry>{
            {.name = QStringLiteral("local"), .target = QStringLiteral("llvm -mcpu=native")},
            {.name = QStringLiteral("pi"),
             .way = views::BoardWay::Ssh,
             .target = QStringLiteral("llvm -mcpu=cortex-a72"),
             .budget = {QStringLiteral("pi"), QStringLiteral("pi"), 0, 1 << 30}},
            {.name = QStringLiteral("new"), .way = views::BoardWay::Ssh}});
    };
    engine.boards.probe = fakeProbe;
    engine.boards.deploy =
        [compile = engine.compile](const views::DeployQuestion& question, const views::BoardAsk&,
                                   const views::DeployWatcher& watch, JobContext& job) {
            return fakeDeploy(compile, question, watch, job);
        };
    engine.listing = [](views::DocumentPtr document, const QString& kernel,
                        JobContext&) -> Result<views::KernelListing> {
        views::KernelListing listing = document->kernels.at(kernel);
        listing.assembly = QStringLiteral("k:\n    ret");
        listing.assemblyToTir = {0, 2};
        listing.llvm = QStringLiteral("define void @k()");
        listing.llvmToTir = {1};
        return listing;
    };
    engine.plan = [](views::DocumentPtr, const views::MemoryQuestion& question,
                     JobContext&) -> Result<views::MemoryPlan> {
        if (question.pools.contains(QLatin1String("small")))
            return makeError(DiagnosticCode::OutOfMemory, "the pools are too small");
        return smallPlan(question.algorithm, question.alignment);
    };
    engine.checkTarget = [](const QString& text) -> views::TargetVerdict {
        if (text.startsWith(QLatin1String("llvm")))
            return {true, text, {}, {QStringLiteral("LLVM code")}};
        return {false, {}, QStringLiteral("no target kind `%1`").arg(text), {}};
    };
    return engine;
}

} // namespace tenon::tests
