// SPDX-License-Identifier: Apache-2.0
// The table of tags; CUDA devices are families that share everything but the name.
#include "core/target/target_tag.h"

#include "core/base/text.h"

#include <algorithm>

namespace tenon::core {
namespace {

struct PlainTag
{
    std::string_view name;
    std::string_view text;
    std::string_view host;
};

constexpr std::string_view kRaspberryPi =
    "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -mattr=+neon -num-cores=4";
constexpr std::string_view kAppleHost = "llvm -mtriple=arm64-apple-macos -mcpu=apple-latest";

constexpr PlainTag kPlainTags[] = {
    {"raspberry-pi/4b-aarch64", kRaspberryPi, kRaspberryPi},
    {"aws/cpu/c5.large", "llvm -keys=x86,cpu -mcpu=skylake-avx512 -num-cores=1", {}},
    {"aws/cpu/c5.xlarge", "llvm -keys=x86,cpu -mcpu=skylake-avx512 -num-cores=2", {}},
    {"aws/cpu/c5.2xlarge", "llvm -keys=x86,cpu -mcpu=skylake-avx512 -num-cores=4", {}},
    {"aws/cpu/c5.4xlarge", "llvm -keys=x86,cpu -mcpu=skylake-avx512 -num-cores=8", {}},
    {"aws/cpu/c5.9xlarge", "llvm -keys=x86,cpu -mcpu=skylake-avx512 -num-cores=18", {}},
    {"aws/cpu/c5.12xlarge", "llvm -keys=x86,cpu -mcpu=cascadelake -num-cores=24", {}},
    {"aws/cpu/c5.18xlarge", "llvm -keys=x86,cpu -mcpu=skylake-avx512 -num-cores=36", {}},
    {"aws/cpu/c5.24xlarge", "llvm -keys=x86,cpu -mcpu=cascadelake -num-cores=48", {}},
    {"apple/m1-gpu",
     "metal -max_threads_per_block=1024 -max_shared_memory_per_block=32768 -thread_warp_size=32",
     kAppleHost},
    {"apple/m1-gpu-restricted",
     "metal -max_threads_per_block=256 -max_shared_memory_per_block=32768 -thread_warp_size=32",
     kAppleHost},
    {"apple/m2-gpu",
     "metal -max_threads_per_block=1024 -max_shared_memory_per_block=32768 -thread_warp_size=32",
     kAppleHost},
};

struct CudaFamily
{
    std::string_view arch;
    int registers;
    std::string_view names; ///< below "nvidia/", separated by spaces
    std::string_view extra = {};
    std::string_view host = {};
};

constexpr CudaFamily kCudaFamilies[] = {
    {"sm_90a", 65536, "nvidia-h100", " -l2_cache_size_bytes=52428800"},
    {"sm_89", 65536, "geforce-rtx-4090", " -l2_cache_size_bytes=75497472"},
    {"sm_80", 65536, "nvidia-a100", " -l2_cache_size_bytes=41943040"},
    {"sm_80", 65536, "nvidia-a30"},
    {"sm_86", 65536,
     "nvidia-a40 nvidia-a10 nvidia-a10g nvidia-a16 nvidia-a2 rtx-a6000 geforce-rtx-3090-ti "
     "geforce-rtx-3090 geforce-rtx-3080-ti geforce-rtx-3080 geforce-rtx-3070-ti geforce-rtx-3070 "
     "geforce-rtx-3060"},
    {"sm_75", 65536,
     "nvidia-t4 quadro-rtx-8000 quadro-rtx-6000 quadro-rtx-5000 quadro-rtx-4000 rtx-5000 rtx-4000 "
     "rtx-3000 t2000 t1000 nvidia-titan-rtx geforce-rtx-2080-ti geforce-rtx-2080 geforce-rtx-2070 "
     "geforce-rtx-2060"},
    {"sm_70", 65536, "nvidia-v100 quadro-gv100 nvidia-titan-v"},
    {"sm_60", 65536, "tesla-p100 quadro-gp100"},
    {"sm_61", 65536,
     "tesla-p40 tesla-p4 quadro-p6000 quadro-p5200 quadro-p5000 quadro-p4200 quadro-p4000 "
     "quadro-p3200 quadro-p3000 quadro-p2200 quadro-p2000 quadro-p1000 quadro-p620 quadro-p600 "
     "quadro-p500 quadro-p400 p620 p520 nvidia-titan-xp nvidia-titan-x geforce-gtx-1080-ti "
     "geforce-gtx-1080 geforce-gtx-1070-ti geforce-gtx-1070 geforce-gtx-1060 geforce-gtx-1050 "
     "gtx1080ti"},
    {"sm_52", 65536,
     "tesla-m60 tesla-m40 quadro-m6000-24gb quadro-m6000 quadro-m5000 quadro-m4000 quadro-m2000 "
     "quadro-m5500m quadro-m2200 quadro-m620 geforce-gtx-titan-x geforce-gtx-980-ti "
     "geforce-gtx-980 geforce-gtx-980m geforce-gtx-970 geforce-gtx-970m geforce-gtx-965m "
     "geforce-gtx-960 geforce-gtx-950 geforce-910m"},
    {"sm_50", 65536,
     "quadro-k2200 quadro-k1200 quadro-k620 quadro-m1200 quadro-m520 quadro-m5000m quadro-m4000m "
     "quadro-m3000m quadro-m2000m quadro-m1000m quadro-k620m quadro-m600m quadro-m500m "
     "nvidia-nvs-810 geforce-gtx-750-ti geforce-gtx-750 geforce-gtx-960m geforce-gtx-950m "
     "geforce-gtx-860m-sm-50 geforce-gtx-850m geforce-940m geforce-930m geforce-840m geforce-830m"},
    {"sm_37", 65536, "tesla-k80"},
    {"sm_35", 65536,
     "tesla-k40 tesla-k20 quadro-k6000 quadro-k5200 quadro-k610m quadro-k510m geforce-gtx-titan-z "
     "geforce-gtx-titan-black geforce-gtx-titan geforce-gtx-780-ti geforce-gtx-780 geforce-gt-730 "
     "geforce-gt-720 geforce-gt-705 geforce-gt-640-gddr5 geforce-920m"},
    {"sm_30", 65536,
     "tesla-k10 quadro-k5000 quadro-k4200 quadro-k4000 quadro-k2000 quadro-k2000d quadro-k600 "
     "quadro-k420 quadro-410 nvidia-nvs-510 geforce-gtx-770 geforce-gtx-760 geforce-gtx-690 "
     "geforce-gtx-680 geforce-gtx-670 geforce-gtx-660-ti geforce-gtx-660 "
     "geforce-gtx-650-ti-boost geforce-gtx-650-ti geforce-gtx-650 geforce-gtx-880m "
     "geforce-gt-740"},
    {"sm_21", 32768,
     "nvidia-nvs-315 nvidia-nvs-310 nvs-5400m nvs-5200m nvs-4200m geforce-gt-730-ddr3,128bit"},
    {"sm_20", 32768, "tesla-c2075 tesla-c2050 tesla-c2070 quadro-plex-7000"},
    {"sm_53", 32768, "jetson-nano jetson-tx1 tegra-x1"},
    {"sm_62", 32768, "jetson-tx2"},
    {"sm_72",
     65536,
     "jetson-agx-xavier",
     {},
     "llvm -mtriple=aarch64-linux-gnu -mcpu=carmel -num-cores=8"},
    {"sm_87",
     65536,
     "jetson-orin-nano",
     {},
     "llvm -mtriple=aarch64-linux-gnu -mcpu=carmel -num-cores=6"},
    {"sm_87",
     65536,
     "jetson-agx-orin-32gb",
     {},
     "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a78 -num-cores=8"},
    {"sm_87",
     65536,
     "jetson-agx-orin-64gb",
     {},
     "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a78 -num-cores=12"},
};

std::string cudaText(const CudaFamily& family)
{
    return "cuda -keys=cuda,gpu -arch=" + std::string(family.arch) +
           " -max_shared_memory_per_block=49152 -max_threads_per_block=1024 -thread_warp_size=32 "
           "-registers_per_block=" +
           std::to_string(family.registers) + std::string(family.extra);
}

} // namespace

std::optional<TargetTag> findTargetTag(std::string_view name)
{
    for (const PlainTag& tag : kPlainTags)
        if (tag.name == name)
            return TargetTag{std::string(name), std::string(tag.text), std::string(tag.host)};
    if (!name.starts_with("nvidia/")) return std::nullopt;
    const std::string model(name.substr(7));
    for (const CudaFamily& family : kCudaFamilies) {
        const std::vector<std::string> names = split(family.names, ' ');
        if (std::find(names.begin(), names.end(), model) != names.end())
            return TargetTag{std::string(name), cudaText(family), std::string(family.host)};
    }
    return std::nullopt;
}

std::vector<std::string> targetTagNames()
{
    std::vector<std::string> names;
    for (const PlainTag& tag : kPlainTags) names.emplace_back(tag.name);
    for (const CudaFamily& family : kCudaFamilies)
        for (const std::string& name : split(family.names, ' ')) names.push_back("nvidia/" + name);
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace tenon::core
