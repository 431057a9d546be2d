// SPDX-License-Identifier: Apache-2.0
// The conversation with ort_peer: a command per line, an answer of one line of JSON.
#include "tests/fuzz/graphs/peer.h"

#include "compiler/frontend/tensor_file.h"

#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace tenon::test {

using namespace core;

namespace {

Diagnostic refusal(std::string message)
{
    return makeError(DiagnosticCode::UnsupportedFeature, std::move(message));
}

} // namespace

Peer::Peer(std::string program, std::string library)
    : m_program(std::move(program))
    , m_library(std::move(library))
{
    ::signal(SIGPIPE, SIG_IGN); // a peer that died is an answer
}

Status Peer::start()
{
    int commands[2], answers[2];
    if (::pipe(commands) != 0) return refusal("no pipe");
    if (::pipe(answers) != 0) return refusal("no pipe");
    m_child = ::fork();
    if (m_child == 0) {
        ::dup2(commands[0], STDIN_FILENO);
        ::dup2(answers[1], STDOUT_FILENO);
        for (const int end : {commands[0], commands[1], answers[0], answers[1]}) ::close(end);
        ::execl(m_program.c_str(), m_program.c_str(), m_library.c_str(), nullptr);
        ::_exit(127);
    }
    ::close(commands[0]);
    ::close(answers[1]);
    m_commands = ::fdopen(commands[1], "w");
    m_answers = ::fdopen(answers[0], "r");
    return ask(""); // it says its name first
}

void Peer::stop()
{
    if (m_commands) std::fclose(m_commands);
    if (m_answers) std::fclose(m_answers);
    m_commands = m_answers = nullptr;
    if (m_child > 0) ::waitpid(m_child, nullptr, 0);
    m_child = -1;
}

Status Peer::ask(const std::string& command)
{
    if (!command.empty()) {
        std::fprintf(m_commands, "%s\n", command.c_str());
        std::fflush(m_commands);
    }
    std::string line;
    for (int c = std::fgetc(m_answers); c != EOF && c != '\n'; c = std::fgetc(m_answers))
        line += static_cast<char>(c);
    const auto answer = nlohmann::json::parse(line, nullptr, false);
    if (!answer.is_object()) {
        stop();
        return refusal("the peer died of `" + command + "`");
    }
    if (answer.contains("error")) return refusal(answer["error"].get<std::string>());
    return kDone;
}

Result<std::vector<Tensor>> Peer::run(const std::string& folder, size_t outputs)
{
    Status done = m_commands ? kDone : start();
    const std::string written = folder + "/peer";
    std::filesystem::create_directories(written);
    if (done) done = ask("open " + folder + "/model.onnx " + folder + "/test_data_set_0");
    if (done) done = ask("write " + written);
    if (!done) return done.error();
    std::vector<Tensor> out;
    for (size_t i = 0; i < outputs; ++i) {
        auto tensor = compiler::readTensorFile(written + "/output_" + std::to_string(i) + ".pb");
        if (!tensor) return tensor.error();
        out.push_back(std::move(tensor->tensor));
    }
    return out;
}

} // namespace tenon::test
