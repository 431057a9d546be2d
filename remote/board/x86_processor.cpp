// SPDX-License-Identifier: Apache-2.0
// Families and models: Linux, arch/x86/include/asm/intel-family.h, and AMD's revision guides.
#include "remote/board/x86_processor.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tenon::remote {

namespace {

struct Models
{
    unsigned family;
    unsigned first;
    unsigned last;
    std::string_view llvmName;
};

constexpr std::array kIntel{
    Models{6, 0x0f, 0x0f, "core2"},          Models{6, 0x16, 0x16, "core2"},
    Models{6, 0x17, 0x17, "penryn"},         Models{6, 0x1d, 0x1d, "penryn"},
    Models{6, 0x1a, 0x1a, "nehalem"},        Models{6, 0x1e, 0x1f, "nehalem"},
    Models{6, 0x2e, 0x2e, "nehalem"},        Models{6, 0x25, 0x25, "westmere"},
    Models{6, 0x2c, 0x2c, "westmere"},       Models{6, 0x2f, 0x2f, "westmere"},
    Models{6, 0x2a, 0x2a, "sandybridge"},    Models{6, 0x2d, 0x2d, "sandybridge"},
    Models{6, 0x3a, 0x3a, "ivybridge"},      Models{6, 0x3e, 0x3e, "ivybridge"},
    Models{6, 0x3c, 0x3c, "haswell"},        Models{6, 0x3f, 0x3f, "haswell"},
    Models{6, 0x45, 0x46, "haswell"},        Models{6, 0x3d, 0x3d, "broadwell"},
    Models{6, 0x47, 0x47, "broadwell"},      Models{6, 0x4f, 0x4f, "broadwell"},
    Models{6, 0x56, 0x56, "broadwell"},      Models{6, 0x4e, 0x4e, "skylake"},
    Models{6, 0x5e, 0x5e, "skylake"},        Models{6, 0x8e, 0x8e, "skylake"},
    Models{6, 0x9e, 0x9e, "skylake"},        Models{6, 0xa5, 0xa6, "skylake"},
    Models{6, 0x55, 0x55, "skylake-avx512"}, Models{6, 0x66, 0x66, "cannonlake"},
    Models{6, 0x7d, 0x7e, "icelake-client"}, Models{6, 0x6a, 0x6a, "icelake-server"},
    Models{6, 0x6c, 0x6c, "icelake-server"}, Models{6, 0x8c, 0x8d, "tigerlake"},
    Models{6, 0xa7, 0xa7, "rocketlake"},     Models{6, 0x97, 0x97, "alderlake"},
    Models{6, 0x9a, 0x9a, "alderlake"},      Models{6, 0xb7, 0xb7, "raptorlake"},
    Models{6, 0xba, 0xba, "raptorlake"},     Models{6, 0xbf, 0xbf, "raptorlake"},
    Models{6, 0xaa, 0xaa, "meteorlake"},     Models{6, 0xac, 0xac, "meteorlake"},
    Models{6, 0xc5, 0xc5, "arrowlake"},      Models{6, 0xc6, 0xc6, "arrowlake-s"},
    Models{6, 0xbd, 0xbd, "lunarlake"},      Models{6, 0x8f, 0x8f, "sapphirerapids"},
    Models{6, 0xcf, 0xcf, "sapphirerapids"}, // Emerald Rapids: the same instructions
    Models{6, 0xad, 0xad, "graniterapids"},  Models{6, 0xae, 0xae, "graniterapids-d"},
    Models{6, 0xaf, 0xaf, "sierraforest"},   Models{6, 0xb6, 0xb6, "grandridge"},
    Models{6, 0x1c, 0x1c, "bonnell"},        Models{6, 0x26, 0x27, "bonnell"},
    Models{6, 0x35, 0x36, "bonnell"},        Models{6, 0x37, 0x37, "silvermont"},
    Models{6, 0x4a, 0x4a, "silvermont"},     Models{6, 0x4c, 0x4d, "silvermont"},
    Models{6, 0x5a, 0x5a, "silvermont"},     Models{6, 0x5d, 0x5d, "silvermont"},
    Models{6, 0x5c, 0x5c, "goldmont"},       Models{6, 0x5f, 0x5f, "goldmont"},
    Models{6, 0x7a, 0x7a, "goldmont-plus"},  Models{6, 0x86, 0x86, "tremont"},
    Models{6, 0x96, 0x96, "tremont"},        Models{6, 0x9c, 0x9c, "tremont"},
    Models{6, 0xbe, 0xbe, "gracemont"},
};

constexpr std::array kAmd{
    Models{0x10, 0x00, 0x0a, "amdfam10"}, Models{0x14, 0x00, 0x0f, "btver1"},
    Models{0x15, 0x00, 0x01, "bdver1"},   Models{0x15, 0x02, 0x02, "bdver2"},
    Models{0x15, 0x10, 0x1f, "bdver2"},   Models{0x15, 0x30, 0x3f, "bdver3"},
    Models{0x15, 0x60, 0x7f, "bdver4"},   Models{0x16, 0x00, 0x3f, "btver2"},
    Models{0x17, 0x01, 0x2f, "znver1"},   Models{0x17, 0x30, 0x3f, "znver2"},
    Models{0x17, 0x47, 0x47, "znver2"},   Models{0x17, 0x60, 0x7f, "znver2"},
    Models{0x17, 0x84, 0x87, "znver2"},   Models{0x17, 0x90, 0xaf, "znver2"},
    Models{0x19, 0x00, 0x0f, "znver3"},   Models{0x19, 0x20, 0x5f, "znver3"},
    Models{0x19, 0x10, 0x1f, "znver4"},   Models{0x19, 0x60, 0x7f, "znver4"},
    Models{0x19, 0xa0, 0xaf, "znver4"},   Models{0x1a, 0x00, 0x77, "znver5"},
};

template <size_t Count>
std::string nameIn(const std::array<Models, Count>& table, const X86Identity& identity)
{
    const auto found = std::find_if(table.begin(), table.end(), [&](const Models& each) {
        return each.family == identity.family && each.first <= identity.model &&
               identity.model <= each.last;
    });
    return found == table.end() ? std::string() : std::string(found->llvmName);
}

constexpr std::string_view kCascadeLake = "cascadelake";
constexpr std::string_view kCooperLake = "cooperlake";

} // namespace

std::string x86ProcessorName(const X86Identity& identity, const std::vector<std::string>& features)
{
    const auto has = [&](const char* feature) {
        return std::binary_search(features.begin(), features.end(), feature);
    };
    if (features.empty()) return {}; // nothing to check the name against
    if (identity.vendor == "AuthenticAMD") return nameIn(kAmd, identity);
    if (identity.vendor != "GenuineIntel") return {};
    std::string name = nameIn(kIntel, identity);
    if (name != "skylake-avx512") return name;
    if (has("avx512_bf16")) return std::string(kCooperLake);
    return has("avx512_vnni") ? std::string(kCascadeLake) : name;
}

std::vector<std::string> x86ProcessorNames()
{
    std::vector<std::string> out{std::string(kCascadeLake), std::string(kCooperLake)};
    for (const Models& each : kIntel) out.emplace_back(each.llvmName);
    for (const Models& each : kAmd) out.emplace_back(each.llvmName);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

} // namespace tenon::remote
