// SPDX-License-Identifier: Apache-2.0
// What people type: lines at the end of every command's --help.
#pragma once

namespace CLI {
class App;
}

namespace tenon::cli {

/// To be called once all commands are there.
void addExamples(CLI::App& app);

} // namespace tenon::cli
