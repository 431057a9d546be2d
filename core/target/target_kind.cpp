// SPDX-License-Identifier: Apache-2.0
// The table of target kinds and their options.
#include "core/target/target_kind.h"

#include <algorithm>

namespace tenon::core {
namespace {

using enum OptionType;

constexpr TargetOption kCommon[] = {
    {"keys", StringList, "dispatch keys, most specific first; rules look kernels up by them"},
    {"tag", String, "the tag this target came from"},
    {"device", String, "device family; becomes a dispatch key"},
    {"model", String, "free name of the board or chip, used to look up tuning records"},
    {"libs", StringList, "extra libraries that kernels may call"},
    {"host", OptionType::Target, "the processor that drives the device"},
    {"from_device", Integer, "take missing options from the live device of this number"},
    {"target_device_type", Integer, "device type code, instead of the kind's own"},
};

constexpr TargetOption kMcpu = {"mcpu", String, "processor to generate code and schedules for"};
constexpr TargetOption kMattr = {"mattr", StringList,
                                 "processor features to add (+) or remove (-)"};
constexpr TargetOption kMtriple = {"mtriple", String,
                                   "architecture, vendor, system and ABI of the device"};
constexpr TargetOption kFloatAbi = {"mfloat-abi", String,
                                    "how floats are passed: hard (registers) or soft"};
constexpr TargetOption kNumCores = {"num-cores", Integer, "processor cores to use"};

constexpr std::string_view kMovedOption =
    "executor or runtime setting in the old place; stock 0.16 rejects it in a target";

constexpr TargetOption kLlvmOptions[] = {
    kMattr,
    kMcpu,
    kMtriple,
    kFloatAbi,
    {"mabi", String, "name of the machine ABI, such as lp64d or ilp32"},
    kNumCores,
    {"fast-math", Boolean, "allow every floating-point shortcut below"},
    {"fast-math-nnan", Boolean, "assume that there are no NaNs"},
    {"fast-math-ninf", Boolean, "assume that there are no infinities"},
    {"fast-math-nsz", Boolean, "ignore the sign of zero"},
    {"fast-math-arcp", Boolean, "allow a reciprocal in place of a division"},
    {"fast-math-contract", Boolean, "allow fused multiply-add"},
    {"fast-math-reassoc", Boolean, "allow sums to be reordered"},
    {"opt-level", Integer, "optimisation level of the LLVM back end, 0 to 3"},
    {"cl-opt", StringList, "options passed to LLVM's command line parser"},
    {"jit", String, "which LLVM JIT runs the code: mcjit or orcjit"},
    {"system-lib", Boolean, kMovedOption},
    {"runtime", String, kMovedOption},
    {"executor", String, kMovedOption},
    {"link-params", Boolean, kMovedOption},
};

constexpr TargetOption kCOptions[] = {
    kMcpu,
    {"march", String, "architecture for the C compiler, such as armv7e-m"},
    kMtriple,
    kMattr,
    {"mfloat-abi", String, "how floats are passed: hard, softfp or soft; for the C compiler"},
    {"mfpu", String, "floating-point unit, such as fpv4-sp-d16; for the C compiler"},
    {"workspace-byte-alignment", Integer, "alignment of workspace buffers in bytes"},
    {"constants-byte-alignment", Integer, "alignment of constants in bytes"},
    {"system-lib", Boolean, kMovedOption},
    {"runtime", String, kMovedOption},
    {"executor", String, kMovedOption},
    {"link-params", Boolean, kMovedOption},
    {"interface-api", String, kMovedOption},
    {"unpacked-api", Boolean, kMovedOption},
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
constexpr TargetOption kHexagonOptions[] = {
    kMattr,    {"mcpu", String, "DSP version, such as v68"},
    kMtriple,  {"llvm-options", StringList, "options passed to LLVM's command line parser"},
    kNumCores, {"vtcm-capacity", Integer, "bytes of tightly coupled vector memory"},
};
constexpr TargetOption kCompositeOptions[] = {
    {"devices", StringList, "the targets that share the work"},
};
constexpr TargetOption kCmsisOptions[] = {
    kMattr, kMcpu, {"debug_last_error", Boolean, "keep the text of the last error"}};
constexpr TargetOption kCcompilerOptions[] = {
    {"header", String, "text put in front of the generated C"}};

constexpr TargetKind kKinds[] = {
    {"aocl", "OpenCL on Intel FPGAs", 32, "aocl,hls", {}},
    {"aocl_sw_emu", "OpenCL on emulated Intel FPGAs", 32, "aocl,hls", {}},
    {"c", "C source for any C99 compiler", 1, "cpu", kCOptions},
    {"ccompiler", "C source from an external generator", 1, "", kCcompilerOptions},
    {"cmsis-nn", "Arm's CMSIS-NN kernels", 1, "", kCmsisOptions},
    {"composite", "several targets at once", 1, "", kCompositeOptions},
    {"cuda", "NVIDIA GPUs through CUDA", 2, "cuda,gpu", kCudaOptions},
    {"ext_dev", "an external device", 12, "", {}},
    {"hexagon", "Qualcomm Hexagon DSPs", 16, "hexagon,cpu", kHexagonOptions},
    {"hybrid", "hybrid script", 1, "", {}},
    {"llvm", "machine code for processors, through LLVM", 1, "cpu", kLlvmOptions},
    {"metal", "Apple GPUs", 8, "metal,gpu", kMetalOptions},
    {"nvptx", "NVIDIA GPUs through LLVM", 2, "cuda,gpu", kNvptxOptions},
    {"opencl", "GPUs and accelerators through OpenCL", 4, "opencl,gpu", kOpenclOptions},
    {"rocm", "AMD GPUs", 10, "rocm,gpu", kRocmOptions},
    {"sdaccel", "OpenCL on Xilinx FPGAs", 4, "sdaccel,hls", {}},
    {"stackvm", "a small stack interpreter", 1, "cpu", {}},
    {"vulkan", "GPUs through Vulkan", 7, "vulkan,gpu", kVulkanOptions},
    {"webgpu", "GPUs in browsers", 15, "webgpu,gpu", kWebgpuOptions},
};

} // namespace

std::span<const TargetKind> allTargetKinds() { return kKinds; }

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
