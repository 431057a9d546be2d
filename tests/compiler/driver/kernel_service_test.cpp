// SPDX-License-Identifier: Apache-2.0
// Code generation in workers: the same bytes as in process, errors travel, a dead worker is a
// diagnostic and is replaced.
#include "compiler/driver/kernel_worker_link.h"
#include "core/ir/tir/text.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

tir::PrimFunc doubling()
{
    auto function = tir::parsePrimFunc(R"(@T.prim_func
def main(x: T.Buffer((8, 4), "float32"), y: T.Buffer((8, 4), "float32")):
    with T.block("root"):
        for i in T.serial(8):
            for j in T.serial(4):
                with T.block("y"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.spatial(4, j)
                    y[vi, vj] = x[vi, vj] * T.float32(2)
)");
    CHECK(function) << function.error().text();
    return *function;
}

MachineSpec machine()
{
    return *machineSpec(*parseTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=haswell"));
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

TEST(KernelService, aWorkerThatDiesIsReportedAndReplaced)
{
    const auto facts = *targetFacts(machine());
    const auto dead = workerKernelService("/bin/false")->compile(doubling(), "k", machine(), facts);
    ASSERT_FALSE(dead);
    EXPECT_NE(dead.error().message.find("worker"), std::string::npos) << dead.error().text();
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
    EXPECT_EQ(back->machine, request.machine);
    EXPECT_EQ(back->facts.l2Bytes, 123);
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
