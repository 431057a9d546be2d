// SPDX-License-Identifier: Apache-2.0
// Kernels of AArch64, as assembly and run under emulation.
#pragma once

#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/kernel_object.h"
#include "compiler/codegen/llvm/target_machine.h"
#include "core/base/unsynced_file.h"
#include "core/ir/tir/text.h"
#include "tests/support/environment.h"

#include <array>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

namespace tenon::compiler {

inline std::string emitted(const std::string& text, const std::string& processor, EmitForm form)
{
    const auto function = tir::parsePrimFunc(text);
    CHECK(function) << function.error().text();
    const auto machine =
        machineSpec(*parseTarget("llvm -mtriple=aarch64-linux-gnu -mcpu=" + processor));
    CHECK(machine) << machine.error().text();
    const auto out = emitKernel({*function, "kernel"}, *machine, form);
    CHECK(out) << out.error().text();
    return *out;
}

inline std::string outputOf(const std::string& command)
{
    FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    std::string output;
    std::array<char, 4096> block;
    for (size_t n = 0; (n = std::fread(block.data(), 1, block.size(), pipe)) > 0;)
        output.append(block.data(), n);
    ::pclose(pipe);
    return output;
}

inline std::string listed(const std::vector<int32_t>& values)
{
    std::string out;
    for (const int32_t value : values) out += std::to_string(value) + ",";
    return out;
}

/// kernel(a, b, y) on arrays of int, whose bits are the kernel's elements; y's bytes as numbers.
inline std::vector<int> run(const std::string& text, const std::string& processor,
                            const std::vector<int32_t>& a, const std::vector<int32_t>& b,
                            size_t bytes)
{
    const test::TemporaryFolder folder;
    const std::string program =
        "int kernel(void*, void*, void*) __attribute__((visibility(\"hidden\")));\n"
        "int printf(const char*, ...);\n"
        "int a[] = {" +
        listed(a) + "}, b[] = {" + listed(b) +
        "};\n"
        "signed char y[" +
        std::to_string(bytes) +
        "];\n"
        "int main(void) { int status = kernel(a, b, y);\n"
        "for (unsigned i = 0; i < sizeof y; ++i) printf(\"%d \", y[i]); return status; }\n";
    CHECK(writeNewFile(folder.file("main.c"), program));
    CHECK(writeNewFile(folder.file("kernel.o"), emitted(text, processor, EmitForm::Object)));
    const std::string said = outputOf(
        "aarch64-linux-gnu-gcc -static -o '" + folder.file("program") + "' '" +
        folder.file("main.c") + "' '" + folder.file("kernel.o") + "' && qemu-aarch64 -cpu " +
        (processor[0] == 'n' ? "max" : processor) + " '" + folder.file("program") + "'");
    std::istringstream words(said);
    std::vector<int> out;
    for (int value = 0; words >> value;) out.push_back(value);
    CHECK(out.size() == bytes) << said;
    return out;
}

/// The 32-bit integer that four of the bytes are.
inline int32_t wordOf(const std::vector<int>& bytes, size_t index)
{
    uint32_t word = 0;
    for (size_t byte = 0; byte < 4; ++byte)
        word |= (static_cast<uint32_t>(bytes[4 * index + byte]) & 255u) << (8 * byte);
    return static_cast<int32_t>(word);
}

} // namespace tenon::compiler
