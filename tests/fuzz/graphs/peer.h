// SPDX-License-Identifier: Apache-2.0
// Peer: ONNX Runtime as one child process that runs graph after graph.
#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

namespace tenon::test {

class Peer
{
public:
    Peer() = default; ///< none
    Peer(std::string program, std::string library);
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;
    ~Peer() { stop(); }

    bool isThere() const { return !m_program.empty(); }
    /// Outputs of FOLDER/model.onnx on FOLDER/test_data_set_0; the error says why the peer does not
    /// run it.
    core::Result<std::vector<core::Tensor>> run(const std::string& folder, size_t outputs);

private:
    core::Status start();
    void stop();
    core::Status ask(const std::string& command);

    std::string m_program;
    std::string m_library;
    pid_t m_child = -1;
    FILE* m_commands = nullptr;
    FILE* m_answers = nullptr;
};

} // namespace tenon::test
