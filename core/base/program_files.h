// SPDX-License-Identifier: Apache-2.0
// Where the files lie that programs need while they run: below the folder that holds `bin`, in an
// installation (/usr, or wherever the archive was unpacked) as in a build folder.
#pragma once

#include <string>
#include <string_view>

namespace tenon::core {

/// The program that runs, with links followed.
std::string thisProgram();

/// Another program that lies beside this one: "tenon-rpc-server".
std::string siblingProgram(std::string_view name);

/// Programs and libraries for boards, below lib/tenon: "servers/tenon-rpc-server-aarch64".
std::string shippedProgram(std::string_view name);

/// What is the same on every computer, below share/tenon: "boards", "sample/digits/model.onnx".
std::string shippedFile(std::string_view name);

} // namespace tenon::core
