// SPDX-License-Identifier: Apache-2.0
// A machine's text, as keys of kernels have it.
#include "compiler/codegen/machine_spec.h"

namespace tenon::compiler {

std::string_view floatAbiText(MachineSpec::FloatAbi abi)
{
    if (abi == MachineSpec::FloatAbi::Hard) return "hard";
    return abi == MachineSpec::FloatAbi::Soft ? "soft" : "softfp";
}

std::string MachineSpec::text() const
{
    return "triple=" + triple + " cpu=" + cpu + " features=" + features + " abi=" + abi + " " +
           std::string(floatAbiText(floatAbi)) +
           (optLevel == kUsualOptLevel ? "" : " opt=" + std::to_string(optLevel)) +
           (vectorizes ? "" : " scalar");
}

std::string_view architectureOf(std::string_view triple)
{
    return triple.substr(0, triple.find('-'));
}

} // namespace tenon::compiler
