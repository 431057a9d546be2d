// SPDX-License-Identifier: Apache-2.0
// Models whose data, sizes or loops are made to hurt: each is refused or ended with a message that
// names the node, without a signal, without an internal error and with little memory.
#include "tests/app/cli/program.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

namespace tenon::cli {
namespace {

struct Case
{
    const char* name;
    std::string model;
    const char* message;
};

std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }

class HostileRun : public ::testing::TestWithParam<Case>
{
};

/// Two inputs of an integer type; made-up data hold zeros.
std::string quotient(const std::string& op, const std::string& type, const std::string& more = "")
{
    return "input a " + type + " 37\ninput b " + type + " 37\nnode " + op + " bad a,b -> y" + more +
           "\noutput y " + type + " 37\n";
}

/// `s` is 2^33, which only the run knows: n is made up.
std::string huge(const std::string& rest)
{
    return "input n int64 1\nints zero int64 1 = 0\nints big int64 1 = 8589934592\n"
           "ints one int64 1 = 1\nfloats f float32 1 = 1\nnode Mul m n,zero -> z\n"
           "node Add a z,big -> s\n" +
           rest + "\n";
}

/// A loop that carries x and collects `col`; without trips it ends by a condition only.
std::string loop(const std::string& body, const std::string& trips, const std::string& start = "4")
{
    return "input u float32 1\ninput go bool 1\nints yes bool () = 1\n" +
           (trips.empty() ? std::string() : "ints trips int64 () = " + trips + "\n") +
           "floats x0 float32 " + start + " = " + (start == "0" ? "" : "1,1,1,1") +
           "\ngraph body\ninput i int64 ()\ninput c bool ()\ninput x float32 *\n" + body +
           "\noutput co bool ()\noutput xo float32 *\noutput col float32 *\nend\n"
           "node Loop bad " +
           (trips.empty() ? "_" : "trips") +
           ",yes,x0 -> last,all body=g:body\noutput last float32 *\noutput all float32 *\n";
}

/// A condition that is computed and always true.
const std::string kGoesOn = "ints least int64 () = 0\nnode GreaterOrEqual g i,least -> co\n";
const std::string kKeeps = "node Identity k c -> co\n";
const std::string kCollects = "node Identity same x -> xo\nnode Identity taken x -> col\n";

const char* const kByZero = "node `bad`: integer division by zero";
const char* const kTooMuch = "than a run may take";

const Case kCases[] = {
    {"DivInt8", quotient("Div", "int8"), kByZero},
    {"DivUint8", quotient("Div", "uint8"), kByZero},
    {"DivInt16", quotient("Div", "int16"), kByZero},
    {"DivUint16", quotient("Div", "uint16"), kByZero},
    {"DivInt32", quotient("Div", "int32"), kByZero},
    {"DivUint32", quotient("Div", "uint32"), kByZero},
    {"DivInt64", quotient("Div", "int64"), kByZero},
    {"DivUint64", quotient("Div", "uint64"), kByZero},
    {"ModInt8", quotient("Mod", "int8"), kByZero},
    {"ModUint8", quotient("Mod", "uint8"), kByZero},
    {"ModInt64", quotient("Mod", "int64"), kByZero},
    {"FmodInt32", quotient("Mod", "int32", " fmod=1"), kByZero},
    {"DivByConstantZero",
     "input a int64 8\nints b int64 8 = 1,2,3,4,0,6,7,8\nnode Div bad a,b -> y\noutput y int64 8\n",
     kByZero},
    {"DivByOneConstantZero",
     "input a int32 8\nints b int32 () = 0\nnode Div bad a,b -> y\noutput y int32 8\n", kByZero},
    {"DivOfConstants",
     "input u float32 1\nints a int64 2 = 1,2\nints b int64 2 = 0,1\nnode Div bad a,b -> y\n"
     "node Cast c y -> z to=1\nnode Add d z,u -> w\noutput w float32 2\n",
     kByZero},
    {"DivInsideAFusedKernel",
     "input a int32 64,64\ninput b int32 64,64\nnode Add s a,b -> t\nnode Div bad t,b -> q\n"
     "node Mul m q,a -> y\noutput y int32 64,64\n",
     kByZero},
    {"DivInABranch",
     "input a int32 8\ninput b int32 8\ninput u float32 4\nfloats f float32 4 = 9,9,9,9\n"
     "node ReduceSum r u -> t keepdims=0\nnode ReduceSum r2 f -> t2 keepdims=0\n"
     "node Less l t,t2 -> c\n"
     "graph then\nnode Div bad a,b -> p\noutput p int32 8\nend\n"
     "graph else\nnode Add other a,b -> q\noutput q int32 8\nend\n"
     "node If choice c -> y then_branch=g:then else_branch=g:else\noutput y int32 8\n",
     "`bad`: integer division by zero"},
    {"ReshapeByAQuotient",
     "input x float32 8\ninput b int64 1\nints eight int64 1 = 8\nints zero int64 1 = 0\n"
     "node Mul m b,zero -> none\nnode Div bad eight,none -> s\nnode Reshape r x,s -> y\n"
     "output y float32 *\n",
     kByZero},
    {"RangeOfDeltaZero",
     "input n int64 1\nints zero int64 1 = 0\nints a int64 () = 0\nints e int64 () = 9\n"
     "node Mul m n,zero -> z\nnode Squeeze q z -> d\nnode Range bad a,e,d -> y\n"
     "output y int64 *\n",
     "node `bad`, a Range whose delta is 0: integer division by zero"},
    {"RangeOfRealDeltaZero",
     "input n float32 1\nfloats zero float32 1 = 0\nfloats a float32 () = 0\n"
     "floats e float32 () = 9\nnode Mul m n,zero -> z\nnode Squeeze q z -> d\n"
     "node Range bad a,e,d -> y\noutput y float32 *\n",
     "node `bad`, a Range whose delta is 0: integer division by zero"},
    {"RangeOfAllIntegers",
     "input n int64 1\nints zero int64 1 = 0\nints one int64 () = 1\n"
     "ints a int64 () = -9223372036854775807\nints most int64 () = 9223372036854775807\n"
     "node Mul m n,zero -> z\nnode Squeeze q z -> d\nnode Add l d,most -> e\n"
     "node Range bad a,e,one -> y\noutput y int64 *\n",
     "node `bad`: a tensor of shape (9223372036854775807) cannot exist"},
    {"HugeKnownShape",
     "input x float32 1\nints s int64 2 = 1048576,4096\nnode Expand e x,s -> y\n"
     "output y float32 1048576,4096\n",
     "TENON_MEMORY_LIMIT sets another limit"},
    {"GatherFromNothing",
     "input x float32 0,4\ninput i int64 2\nnode Gather bad x,i -> y\noutput y float32 2,4\n",
     "has no elements"},
    {"ScatterIntoNothing",
     "input x float32 0,4\ninput i int64 2,1\ninput u float32 2,4\n"
     "node ScatterND bad x,i,u -> y\noutput y float32 0,4\n",
     "has no elements"},
    {"GatherFromNothingAtRunTime",
     "input z float32 4\ninput i int64 2\nfloats never float32 () = 2\n"
     "node Greater g z,never -> m\nnode Compress few z,m -> f axis=0\n"
     "node GatherElements bad f,i -> y\noutput y float32 2\n",
     "node `bad`: indices choose from an axis that has no elements"},
    {"HugeConstantOfShape", huge("node ConstantOfShape bad s -> y\noutput y float32 *"), kTooMuch},
    {"HugeExpand", huge("node Expand bad f,s -> y\noutput y float32 *"), kTooMuch},
    {"HugeTile", huge("node Tile bad f,s -> y\noutput y float32 *"), kTooMuch},
    {"HugePad", huge("node Concat c zero,s -> p axis=0\nnode Pad bad f,p -> y\noutput y float32 *"),
     kTooMuch},
    {"HugeOneHot",
     huge("ints i int64 2 = 1,2\nfloats v float32 2 = 0,1\nnode OneHot bad i,s,v -> y\n"
          "output y float32 *"),
     kTooMuch},
    {"HugeRange",
     huge("ints b int64 () = 0\nints d int64 () = 1\nnode Squeeze q s -> e\n"
          "node Range bad b,e,d -> y\noutput y int64 *"),
     kTooMuch},
    {"HugeResize",
     huge("input x float32 1,1,2,2\nnode Concat c one,one,s,s -> p axis=0\n"
          "node Resize bad x,_,_,p -> y mode=\"nearest\"\noutput y float32 *"),
     kTooMuch},
    {"OverflowingShape",
     huge("node Concat c s,s -> p axis=0\nnode ConstantOfShape bad p -> y\noutput y float32 *"),
     "node `bad`: a tensor of shape (8589934592, 8589934592) cannot exist"},
    {"NegativeShape",
     huge("node Sub m2 zero,s -> p\nnode ConstantOfShape bad p -> y\noutput y float32 *"),
     "node `bad`: a computed size is negative"},
    {"UnfittingReshape", huge("node Reshape bad f,s -> y\noutput y float32 *"), "node `bad`: "},
    {"LoopThatCollectsForever", loop(kGoesOn + kCollects, ""), "node `bad`: a loop has collected"},
    {"LoopThatCollectsForeverByCount", loop(kGoesOn + kCollects, "9223372036854775807"),
     "node `bad`: a loop has collected"},
    {"LoopThatCollectsNothingForever", loop(kGoesOn + kCollects, "", "0"),
     "node `bad`: a loop has collected"},
    {"LoopThatDoublesWhatItCarries",
     loop(kGoesOn + "node Concat twice x,x -> xo axis=0\nfloats f float32 1 = 1\n"
                    "node Identity taken f -> col\n",
          "60"),
     kTooMuch},
    {"LoopOfCountedSteps", loop(kKeeps + kCollects, "1152921504606846976"),
     "the loop would take 1152921504606846976 steps, which is too many"},
    {"LoopWithoutAnEnd", loop(kKeeps + kCollects, ""), "the loop never ends"},
};

TEST_P(HostileRun, EndsWithAMessage)
{
    const test::TemporaryFolder folder;
    const std::string path = folder.file("model.onnx");
    std::ofstream(path, std::ios::binary) << test::modelOf(GetParam().model).SerializeAsString();
    const Outcome outcome = tenon("run " + path + " 2>&1");
    EXPECT_TRUE(outcome.code == 1 || outcome.code == 4) << outcome.code << ": " << outcome.output;
    EXPECT_NE(outcome.output.find(GetParam().message), std::string::npos) << outcome.output;
    for (const char* blame : {"please report", "internal error", "crashed", "SIG", "rpc-failure"})
        EXPECT_EQ(outcome.output.find(blame), std::string::npos) << outcome.output;
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    EXPECT_LT(usage.ru_maxrss, 512 * 1024) << "KiB, of the largest process so far";
}

INSTANTIATE_TEST_SUITE_P(All, HostileRun, ::testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case>& one) {
                             return std::string(one.param.name);
                         });

TEST(DataFault, HasItsOwnCodeHoweverTheModelIsRun)
{
    const test::TemporaryFolder folder;
    const std::string model = folder.file("model.onnx");
    std::ofstream(model, std::ios::binary)
        << test::modelOf("input a int64 1\nints none int64 1 = 0\nnode Mul z a,none -> b\n"
                         "node Div bad a,b -> y\noutput y int64 1\n")
               .SerializeAsString();
    std::vector<std::string> commands{"run " + model, "run --executor aot " + model,
                                      "run --executor vm " + model, "bench " + model};
    if (shell("command -v qemu-aarch64").code == 0)
        commands.push_back("run --target 'llvm -mtriple=aarch64-linux-gnu' " + model);
    if (shell("command -v node").code == 0)
        commands.push_back("run --target 'llvm -mtriple=wasm32-unknown-unknown' " + model);
    for (const std::string& command : commands) {
        const Outcome outcome = tenon(command + " 2>&1");
        EXPECT_EQ(outcome.code, 1) << command << outcome.output;
        EXPECT_NE(outcome.output.find("error[data-fault]: "), std::string::npos)
            << command << outcome.output;
        EXPECT_NE(outcome.output.find(kByZero), std::string::npos) << command << outcome.output;
    }
}

TEST(HostileData, IsRefusedByName)
{
    TENON_NEED_DATA("regressions/hostile");
    const std::pair<const char*, const char*> models[] = {
        {"div_zero_const_i64", "node `Div_0`: integer division by zero"},
        {"div_zero_rt_i32", "node `Div_0`: integer division by zero"},
        {"mod_zero_rt_i32", "node `Mod_0`: integer division by zero"},
        {"loop_scan_5gb_a", "node `Loop_0`: a loop has collected"},
        {"loop_scan_5gb_b", "the loop never ends: no step of it makes its condition false"},
        {"loop_shape_overflow", "steps, which is too many"},
    };
    for (const auto& [name, message] : models) {
        const std::string path =
            test::dataPath("regressions/hostile/" + std::string(name) + ".onnx");
        const Outcome outcome = tenon("run " + path + " 2>&1");
        EXPECT_TRUE(outcome.code == 1 || outcome.code == 4) << name << outcome.output;
        EXPECT_NE(outcome.output.find(message), std::string::npos) << outcome.output;
        EXPECT_EQ(outcome.output.find("please report"), std::string::npos) << outcome.output;
    }
}

} // namespace
} // namespace tenon::cli
