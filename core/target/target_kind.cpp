// SPDX-License-Identifier: Apache-2.0
// The table of target kinds and their options.
#include "core/target/target_kind.h"

#include <algorithm>

namespace tenon::core {
namespace {

using enum OptionType;

// Why an option changes nothing, for options of several kinds.
constexpr std::string_view kNoDispatch = "schedules follow from what the processor can do";
constexpr std::string_view kNoRecords = "no tuning records are looked up";
constexpr std::string_view kNoLibraries = "every kernel is generated; none calls a library";
constexpr std::string_view kNoDriver = "a processor needs no other one to drive it";
constexpr std::string_view kNoDevice = "write -mcpu=native for this computer, or probe a board";
constexpr std::string_view kOneDevice = "compiled models are for the processor that runs them";

constexpr TargetOption kCommon[] = {
    {"keys", StringList, "dispatch keys, most specific first", {}, kNoDispatch},
    {"tag", String, "the tag this target came from"},
    {"device", String, "device family; becomes a dispatch key", {}, kNoDispatch},
    {"model", String, "free name of the board or chip", {}, kNoRecords},
    {"libs", StringList, "extra libraries that kernels may call", {}, kNoLibraries},
    {"host", OptionType::Target, "the processor that drives the device", {}, kNoDriver},
    {"from_device", Integer, "take missing options from this live device", {}, kNoDevice},
    {"target_device_type", Integer, "device type code, not the kind's own", {}, kOneDevice},
};

constexpr TargetOption kMcpu = {"mcpu", String, "processor to generate code and schedules for"};
constexpr TargetOption kMattr = {"mattr", StringList,
                                 "processor features to add (+) or remove (-)"};
constexpr TargetOption kMtriple = {"mtriple", String,
                                   "architecture, vendor, system and ABI of the device"};
constexpr TargetOption kFloatAbi = {"mfloat-abi", String,
                                    "how 32-bit Arm passes floats: hard (in their registers), "
                                    "softfp (in those of integers) or soft (has no instructions)"};
constexpr TargetOption kNumCores = {"num-cores", Integer, "processor cores to use"};
constexpr TargetOption kMachine = {"machine", StringList,
                                   "whose figures cost models take, and measured ones: NAME, "
                                   "FIGURE=NUMBER; `tenon targets --machine` lists both"};

constexpr std::string_view kMovedOption =
    "executor or runtime setting in the old place; stock 0.16 rejects it in a target";
constexpr std::string_view kNoRegistry = "compiled models need no registry of functions";
constexpr std::string_view kNoRuntime = "compiled models bring what they need of a runtime";
constexpr std::string_view kOtherOption = "give it on the command line: --executor";
constexpr std::string_view kOtherInterface = "give it on the command line: --interface-api";
constexpr std::string_view kOtherCalls = "give it on the command line: --unpacked-api";
constexpr std::string_view kParametersInside = "parameters always lie in the compiled model";
constexpr std::string_view kNoFastMath =
    "--opt-level says what may change in sums and quotients, see the manual on numerics";
constexpr std::string_view kNoLlvmOptions =
    "LLVM's own options hold for a whole process, in which other models are compiled, too";
constexpr std::string_view kNoJit = "models are compiled ahead of time";
constexpr std::string_view kPlainLoops =
    "C source has plain loops, for which no rule asks what a processor costs";
constexpr std::string_view kPlainC = "C source is the same for all; tell the C compiler";

constexpr TargetOption kLlvmOptions[] = {
    kMattr,
    kMcpu,
    kMtriple,
    kFloatAbi,
    {"mabi", String, "name of the machine ABI, such as lp64d or ilp32"},
    kNumCores,
    kMachine,
    {"fast-math", Boolean, "allow every floating-point shortcut below", {}, kNoFastMath},
    {"fast-math-nnan", Boolean, "assume that there are no NaNs", {}, kNoFastMath},
    {"fast-math-ninf", Boolean, "assume that there are no infinities", {}, kNoFastMath},
    {"fast-math-nsz", Boolean, "ignore the sign of zero", {}, kNoFastMath},
    {"fast-math-arcp", Boolean, "allow a reciprocal in place of a division", {}, kNoFastMath},
    {"fast-math-contract", Boolean, "allow fused multiply-add", {}, kNoFastMath},
    {"fast-math-reassoc", Boolean, "allow sums to be reordered", {}, kNoFastMath},
    {"opt-level", Integer, "optimisation level of the LLVM back end, 0 to 3"},
    {"cl-opt", StringList, "options passed to LLVM's command line parser", {}, kNoLlvmOptions},
    {"jit", String, "which LLVM JIT runs the code: mcjit or orcjit", {}, kNoJit},
    {"system-lib", Boolean, kMovedOption, {}, kNoRegistry},
    {"runtime", String, kMovedOption, {}, kNoRuntime},
    {"executor", String, kMovedOption, {}, kOtherOption},
    {"link-params", Boolean, kMovedOption, {}, kParametersInside},
};

constexpr TargetOption kCOptions[] = {
    kMcpu,
    {"machine", StringList, kMachine.meaning, {}, kPlainLoops},
    {"march", String, "architecture for the C compiler, such as armv7e-m"},
    {"mtriple", String, kMtriple.meaning, {}, kPlainC},
    {"mattr", StringList, kMattr.meaning, {}, kPlainC},
    {"mfloat-abi", String, "how floats are passed: hard, softfp or soft; for the C compiler"},
    {"mfpu", String, "floating-point unit, such as fpv4-sp-d16; for the C compiler"},
    {"workspace-byte-alignment", Integer, "alignment of workspace buffers in bytes"},
    {"constants-byte-alignment", Integer, "alignment of constants in bytes"},
    {"system-lib", Boolean, kMovedOption, {}, kNoRegistry},
    {"runtime", String, kMovedOption, {}, kNoRuntime},
    {"executor", String, kMovedOption, {}, kOtherOption},
    {"link-params", Boolean, kMovedOption, {}, kParametersInside},
    {"interface-api", String, kMovedOption, {}, kOtherInterface},
    {"unpacked-api", Boolean, kMovedOption, {}, kOtherCalls},
};

constexpr std::string_view kThreadsPerBlock = "threads that one block may have";
constexpr std::string_view kSharedMemory = "bytes of memory that one block shares";
constexpr std::string_view kWarp = "threads that execute in lock step";
constexpr std::string_view kMaxThreads = "threads that schedules assume per block";
constexpr std::string_view kMaxArgs = "arguments that a kernel may take";
constexpr std::string_view kSupports = "device supports this type or extension";
constexpr std::string_view kLimit = "limit that the device reports";

constexpr TargetOption kCudaOptions[] = {
    kMcpu,
    {"arch", String, "compute capability, sm_NN", "sm_50"},
    {"max_shared_memory_per_block", Integer, kSharedMemory},
    {"max_threads_per_block", Integer, kThreadsPerBlock},
    {"thread_warp_size", Integer, kWarp, "32"},
    {"registers_per_block", Integer, "32-bit registers that one block may use"},
    {"l2_cache_size_bytes", Integer, "bytes of second-level cache"},
    {"max_num_threads", Integer, kMaxThreads, "1024"},
};
constexpr TargetOption kNvptxOptions[] = {
    {"mcpu", String, "compute capability, sm_NN", "sm_50"},
    {"mtriple", String, kMtriple.meaning, "nvptx64-nvidia-cuda"},
    {"max_num_threads", Integer, kMaxThreads, "1024"},
    {"thread_warp_size", Integer, kWarp, "32"},
};
constexpr TargetOption kRocmOptions[] = {
    {"mcpu", String, "GPU, gfxNNN", "gfx900"},
    {"mtriple", String, kMtriple.meaning, "amdgcn-amd-amdhsa-hcc"},
    kMattr,
    {"max_num_threads", Integer, kMaxThreads, "256"},
    {"max_threads_per_block", Integer, kThreadsPerBlock, "256"},
    {"max_shared_memory_per_block", Integer, kSharedMemory, "65536"},
    {"thread_warp_size", Integer, kWarp, "64"},
};
constexpr TargetOption kOpenclOptions[] = {
    {"max_threads_per_block", Integer, kThreadsPerBlock, "256"},
    {"max_shared_memory_per_block", Integer, kSharedMemory, "16384"},
    {"max_num_threads", Integer, kMaxThreads, "256"},
    {"thread_warp_size", Integer, kWarp, "1"},
    {"texture_spatial_limit", Integer, "largest side of a texture", "16384"},
    {"max_function_args", Integer, kMaxArgs, "128"},
};
constexpr TargetOption kMetalOptions[] = {
    {"max_num_threads", Integer, kMaxThreads, "256"},
    {"max_threads_per_block", Integer, kThreadsPerBlock, "256"},
    {"max_shared_memory_per_block", Integer, kSharedMemory, "32768"},
    {"thread_warp_size", Integer, kWarp, "16"},
    {"max_function_args", Integer, kMaxArgs, "31"},
};
constexpr TargetOption kVulkanOptions[] = {
    kMattr,
    {"supports_float16", Boolean, kSupports},
    {"supports_float32", Boolean, kSupports, "1"},
    {"supports_float64", Boolean, kSupports},
    {"supports_int8", Boolean, kSupports},
    {"supports_int16", Boolean, kSupports},
    {"supports_int32", Boolean, kSupports, "1"},
    {"supports_int64", Boolean, kSupports},
    {"supports_8bit_buffer", Boolean, kSupports},
    {"supports_16bit_buffer", Boolean, kSupports},
    {"supports_storage_buffer_storage_class", Boolean, kSupports},
    {"supports_push_descriptor", Boolean, kSupports},
    {"supports_dedicated_allocation", Boolean, kSupports},
    {"supports_integer_dot_product", Boolean, kSupports},
    {"supports_cooperative_matrix", Boolean, kSupports},
    {"supported_subgroup_operations", Integer, "bit set of subgroup operations"},
    {"max_num_threads", Integer, kMaxThreads, "256"},
    {"max_threads_per_block", Integer, kThreadsPerBlock, "256"},
    {"thread_warp_size", Integer, kWarp, "1"},
    {"max_block_size_x", Integer, kLimit},
    {"max_block_size_y", Integer, kLimit},
    {"max_block_size_z", Integer, kLimit},
    {"max_push_constants_size", Integer, kLimit},
    {"max_uniform_buffer_range", Integer, kLimit},
    {"max_storage_buffer_range", Integer, kLimit},
    {"max_per_stage_descriptor_storage_buffer", Integer, kLimit},
    {"max_shared_memory_per_block", Integer, kSharedMemory},
    {"device_type", String, "discrete, integrated, virtual or cpu"},
    {"device_name", String, "name that the driver reports"},
    {"driver_name", String, "driver that runs the device"},
    {"driver_version", Integer, "version of the driver"},
    {"vulkan_api_version", Integer, "version of the API that the device has"},
    {"max_spirv_version", Integer, "newest SPIR-V that the device takes"},
};
constexpr TargetOption kWebgpuOptions[] = {
    {"max_num_threads", Integer, kMaxThreads, "256"},
};
constexpr std::string_view kOneHexagon = "code is the same for every system of a Hexagon";
constexpr std::string_view kNoVtcm = "kernels use the scalar unit and no vector memory";
constexpr TargetOption kHexagonOptions[] = {
    kMattr,
    {"mcpu", String, "DSP version, such as v68"},
    {"mtriple", String, kMtriple.meaning, {}, kOneHexagon},
    {"llvm-options", StringList, "options for LLVM's command line parser", {}, kNoLlvmOptions},
    kNumCores,
    {"vtcm-capacity", Integer, "bytes of tightly coupled vector memory", {}, kNoVtcm},
};
constexpr TargetOption kCompositeOptions[] = {
    {"devices", StringList, "the targets that share the work"},
};
constexpr TargetOption kCmsisOptions[] = {
    kMattr, kMcpu, {"debug_last_error", Boolean, "keep the text of the last error"}};
constexpr TargetOption kCcompilerOptions[] = {
    {"header", String, "text put in front of the generated C"}};

constexpr std::string_view kNoGpu = "kernels are written for processors only so far";
constexpr std::string_view kNoFpga =
    "its vendor's compiler takes hours for a model, is closed and no longer kept";
constexpr std::string_view kPartOfTvm = "it is a part of TVM's own tool chain in Python";
constexpr std::string_view kNoPartition = "a model runs on one target as a whole so far";

using enum KindState;
constexpr TargetKind kKinds[] = {
    {"aocl", "OpenCL on Intel FPGAs", 32, "aocl,hls", {}, Declined, kNoFpga},
    {"aocl_sw_emu", "OpenCL on emulated Intel FPGAs", 32, "aocl,hls", {}, Declined, kNoFpga},
    {"c", "C source for any C99 compiler", 1, "cpu", kCOptions, Generates},
    {"ccompiler", "C source from an external generator", 1, "", kCcompilerOptions, Declined,
     kPartOfTvm},
    {"cmsis-nn", "Arm's CMSIS-NN kernels", 1, "", kCmsisOptions, NotYet, kNoPartition},
    {"composite", "several targets at once", 1, "", kCompositeOptions, NotYet, kNoPartition},
    {"cuda", "NVIDIA GPUs through CUDA", 2, "cuda,gpu", kCudaOptions, NotYet, kNoGpu},
    {"ext_dev", "an external device", 12, "", {}, Declined, kPartOfTvm},
    {"hexagon", "Qualcomm Hexagon DSPs", 16, "hexagon,cpu", kHexagonOptions, Generates},
    {"hybrid", "hybrid script", 1, "", {}, Declined, kPartOfTvm},
    {"llvm", "machine code for processors, through LLVM", 1, "cpu", kLlvmOptions, Generates},
    {"metal", "Apple GPUs", 8, "metal,gpu", kMetalOptions, NotYet, kNoGpu},
    {"nvptx", "NVIDIA GPUs through LLVM", 2, "cuda,gpu", kNvptxOptions, NotYet, kNoGpu},
    {"opencl", "GPUs and accelerators through OpenCL", 4, "opencl,gpu", kOpenclOptions, NotYet,
     kNoGpu},
    {"rocm", "AMD GPUs", 10, "rocm,gpu", kRocmOptions, NotYet, kNoGpu},
    {"sdaccel", "OpenCL on Xilinx FPGAs", 4, "sdaccel,hls", {}, Declined, kNoFpga},
    {"stackvm", "a small stack interpreter", 1, "cpu", {}, Declined, kPartOfTvm},
    {"vulkan", "GPUs through Vulkan", 7, "vulkan,gpu", kVulkanOptions, NotYet, kNoGpu},
    {"webgpu", "GPUs in browsers", 15, "webgpu,gpu", kWebgpuOptions, NotYet, kNoGpu},
};

} // namespace

std::span<const TargetKind> allTargetKinds() { return kKinds; }

std::string_view kindStateText(KindState state)
{
    if (state == KindState::Generates) return "generates code";
    return state == KindState::NotYet ? "not yet" : "declined";
}

const TargetKind* findTargetKind(std::string_view name)
{
    for (const TargetKind& kind : kKinds)
        if (kind.name == name) return &kind;
    return nullptr;
}

const TargetOption* findTargetOption(const TargetKind& kind, std::string_view name)
{
    for (const TargetOption& option : kind.options)
        if (option.name == name) return &option;
    for (const TargetOption& option : kCommon)
        if (option.name == name) return &option;
    return nullptr;
}

std::vector<std::string> targetOptionNames(const TargetKind& kind)
{
    std::vector<std::string> names;
    for (const TargetOption& option : kind.options) names.emplace_back(option.name);
    for (const TargetOption& option : kCommon) names.emplace_back(option.name);
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace tenon::core
