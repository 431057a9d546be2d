// SPDX-License-Identifier: Apache-2.0
// Code generation in workers: the same bytes as in process, errors travel, a dead worker is a
// diagnostic and is replaced.
#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/target_machine.h"
#include "compiler/driver/kernel_worker_link.h"
#include "core/target/target_facts_fields.h"
#include "tests/support/environment.h"
#include "tests/support/parsed_function.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace tenon::compiler {
namespace {

tir::PrimFunc doubling()
{
    return test::parsedFunction(R"(@T.prim_func
def main(x: T.Buffer((8, 4), "float32"), y: T.Buffer((8, 4), "float32")):
    with T.block("root"):
        for i in T.serial(8):
            for j in T.serial(4):
                with T.block("y"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.spatial(4, j)
                    y[vi, vj] = x[vi, vj] * T.float32(2)
)");
}

MachineSpec machine()
{
    return *machineSpec(*parseTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=haswell"));
}

TEST(KernelService, schedulesWithoutAnObject)
{
    const TargetFacts facts{.vectorBytes = 32};
    const auto whole = inProcessKernelService()->compile(doubling(), "k", machine(), facts);
    const auto texts = schedulingKernelService()->compile(doubling(), "k", machine(), facts);
    ASSERT_TRUE(whole && texts);
    EXPECT_EQ(texts->scheduled, whole->scheduled);
    EXPECT_EQ(texts->lowered, whole->lowered);
    EXPECT_EQ(texts->rule, whole->rule);
    EXPECT_TRUE(texts->object.empty());
}

TEST(KernelService, givesTheSameBytesWhateverItCompiledBefore)
{
    const MachineSpec other = *machineSpec(*parseTarget("llvm -mtriple=aarch64-linux-gnu"));
    const auto service = inProcessKernelService();
    for (const MachineSpec& spec : {machine(), other, machine(), other})
        for (const int vectorBytes : {16, 32}) {
            const TargetFacts facts{.vectorBytes = vectorBytes};
            const auto again = service->compile(doubling(), "k", spec, facts);
            const auto fresh = inProcessKernelService()->compile(doubling(), "k", spec, facts);
            ASSERT_TRUE(again && fresh);
            EXPECT_EQ(again->object, fresh->object) << spec.text();
        }
}

TEST(KernelService, saysWhyARuleRefusedAKernelOfItsFamily)
{
    // A product beside something else in the same loops.
    tir::PrimFunc function = test::parsedFunction(R"(@T.prim_func
def main(x: T.Buffer((8, 16), "float32"), w: T.Buffer((4, 16), "float32"), y: T.Buffer((8, 4), "float32"), z: T.Buffer((8, 4), "float32")):
    with T.block("root"):
        for i in T.serial(8):
            for j in T.serial(4):
                with T.block("z"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.spatial(4, j)
                    z[vi, vj] = T.float32(2)
                for k in T.serial(16):
                    with T.block("y"):
                        vi = T.axis.spatial(8, i)
                        vj = T.axis.spatial(4, j)
                        vk = T.axis.reduce(16, k)
                        with T.init():
                            y[vi, vj] = T.float32(0)
                        y[vi, vj] = y[vi, vj] + x[vi, vk] * w[vj, vk]
)");
    function.attrs.set("kind", "dense");
    function.attrs.set("anchor", "y");
    const auto here = schedulingKernelService()->compile(function, "k", machine(), {});
    ASSERT_TRUE(here) << here.error().text();
    EXPECT_EQ(here->rule, "default");
    EXPECT_TRUE(here->refusal.starts_with("matmul: ")) << here->refusal;
    const auto there = workerKernelService(TENON_PROGRAM)->compile(function, "k", machine(), {});
    ASSERT_TRUE(there) << there.error().text();
    EXPECT_EQ(there->refusal, here->refusal);
    EXPECT_EQ(schedulingKernelService()->compile(doubling(), "k", machine(), {})->refusal, "");
}

TEST(KernelService, carriesEveryFactToTheWorker)
{
    TargetFacts facts;
    int64_t next = 1; // no two fields alike, so that none is taken for another
    visitFields(facts, [&](const char*, auto& value) {
        using Value = std::decay_t<decltype(value)>;
        value = std::is_same_v<Value, bool> ? static_cast<Value>(!value)
                                            : static_cast<Value>(next++ * 7);
    });
    const auto request = decodeRequest(encodeRequest(KernelRequest{"f", "k", machine(), facts}));
    ASSERT_TRUE(request);
    const auto& read = std::get<KernelRequest>(*request).facts;
    std::vector<double> sent, arrived;
    visitFields(facts,
                [&](const char*, auto value) { sent.push_back(static_cast<double>(value)); });
    visitFields(read,
                [&](const char*, auto value) { arrived.push_back(static_cast<double>(value)); });
    EXPECT_EQ(sent, arrived);
    EXPECT_FALSE(decodeRequest("no cbor"));
}

TEST(KernelService, workersGiveTheBytesOfTheProcess)
{
    const auto facts = *targetFacts(machine());
    const auto here = inProcessKernelService()->compile(doubling(), "k", machine(), facts);
    ASSERT_TRUE(here) << here.error().text();
    const auto there =
        workerKernelService(TENON_PROGRAM)->compile(doubling(), "k", machine(), facts);
    ASSERT_TRUE(there) << there.error().text();
    EXPECT_EQ(here->object, there->object);
    EXPECT_EQ(here->lowered, there->lowered);
    EXPECT_EQ(here->rule, there->rule);
}

TEST(KernelService, workersEmitTextAsTheProcessDoes)
{
    const auto facts = *targetFacts(machine());
    const auto here = inProcessKernelService();
    const auto there = workerKernelService(TENON_PROGRAM);
    const std::string loops = here->compile(doubling(), "k", machine(), facts)->lowered;
    for (const TextRequest& request :
         {TextRequest{.kind = TextRequest::Kind::Builtins, .machine = machine()},
          TextRequest{.text = "define i32 @f() { ret i32 7 }", .machine = machine()},
          TextRequest{TextRequest::Kind::Loops, loops, "k", 32, EmitForm::Assembly, machine()}}) {
        const auto a = here->emitText(request), b = there->emitText(request);
        ASSERT_TRUE(a) << a.error().text();
        ASSERT_TRUE(b) << b.error().text();
        EXPECT_EQ(*a, *b);
    }
    const auto bad = there->emitText({.text = "no IR", .machine = machine()});
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().code, DiagnosticCode::InternalBug); // the text is our own
}

TEST(KernelService, workersLinkAndSurviveWhatCannotBeLinked)
{
    const test::TemporaryFolder folder;
    const auto here = inProcessKernelService();
    const auto there = workerKernelService(TENON_PROGRAM);
    const auto object = here->emitText({.text = "declare i32 @absent()\n"
                                                "define i32 @f() {\n"
                                                "  ret i32 7\n}\n"
                                                "define i32 @g() {\n"
                                                "  %1 = call i32 @absent()\n  ret i32 %1\n}\n",
                                        .machine = machine()});
    ASSERT_TRUE(object) << object.error().text();
    std::ofstream(folder.file("f.o"), std::ios::binary) << *object;
    const LinkPlan plan{machine().triple, {folder.file("f.o")}, {"g"}, {}, folder.path()};
    const ObjectCode& code = *machine().backEnd->objects;
    LinkRequest request{.job = *code.linkJob(plan, OutputFormat::SharedLibrary)};
    request.output = folder.file("bad.so");
    for (int round = 0; round < 2; ++round) {
        const Status bad = there->link(request);
        ASSERT_FALSE(bad);
        EXPECT_EQ(bad.error().code, DiagnosticCode::LinkFailure);
        EXPECT_NE(bad.error().message.find("absent"), std::string::npos) << bad.error().text();
    }
    request.job = *code.linkJob(plan, OutputFormat::Object);
    std::string linked[2];
    for (const auto& [service, index] : {std::pair{here, 0}, {there, 1}}) {
        request.output = folder.file(std::to_string(index) + ".o");
        const Status done = service->link(request);
        ASSERT_TRUE(done) << done.error().text();
        std::ostringstream bytes;
        bytes << std::ifstream(request.output, std::ios::binary).rdbuf();
        linked[index] = bytes.str();
    }
    EXPECT_FALSE(linked[0].empty());
    EXPECT_EQ(linked[0], linked[1]);
}

TEST(KernelService, aWorkerThatDiesIsReportedAndReplaced)
{
    const auto facts = *targetFacts(machine());
    const auto dead = workerKernelService("/bin/false")->compile(doubling(), "k", machine(), facts);
    ASSERT_FALSE(dead);
    EXPECT_NE(dead.error().message.find("worker"), std::string::npos) << dead.error().text();
    const Status unlinked = workerKernelService("/bin/false")->link({});
    ASSERT_FALSE(unlinked);
    EXPECT_EQ(unlinked.error().code, DiagnosticCode::LinkFailure);
    EXPECT_NE(unlinked.error().message.find("nothing was written"), std::string::npos);
    const auto absent =
        workerKernelService("/nonexistent/tenon")->compile(doubling(), "k", machine(), facts);
    ASSERT_FALSE(absent);
    EXPECT_EQ(absent.error().code, DiagnosticCode::IoFailure);
}

TEST(KernelWorkerLink, messagesRoundTripAndRefuseNoise)
{
    KernelRequest request{"text", "symbol", machine(), {}};
    request.facts.l2Bytes = 123;
    const std::string bytes = encodeRequest(request);
    const auto back = decodeRequest(bytes);
    ASSERT_TRUE(back) << back.error().text();
    ASSERT_TRUE(std::holds_alternative<KernelRequest>(*back));
    EXPECT_EQ(std::get<KernelRequest>(*back).machine, request.machine);
    EXPECT_EQ(std::get<KernelRequest>(*back).facts.l2Bytes, 123);
    const auto link = decodeRequest(encodeRequest(LinkRequest{{{"ld.lld", "a.o"}, "f"}, "o"}));
    ASSERT_TRUE(link) << link.error().text();
    EXPECT_EQ(std::get<LinkRequest>(*link).job.arguments.back(), "a.o");
    EXPECT_EQ(std::get<LinkRequest>(*link).output, "o");
    for (size_t length = 0; length < bytes.size(); ++length)
        EXPECT_FALSE(decodeRequest(bytes.substr(0, length)));
    KernelReply reply;
    reply.error = makeError(DiagnosticCode::BadSchedule, "no", {.detail = "there"});
    const auto error = decodeReply(encodeReply(reply));
    ASSERT_TRUE(error && error->error);
    EXPECT_EQ(error->error->code, DiagnosticCode::BadSchedule);
}

} // namespace
} // namespace tenon::compiler
