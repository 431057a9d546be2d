// SPDX-License-Identifier: Apache-2.0
// Replays a corpus and fixed mutations of it without libFuzzer, so that every build has the test.
// usage: fuzz_NAME CORPUS_DIR [MUTATIONS]; an input that fails is left as crash-NAME.
#include "core/base/file.h"
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

namespace {

/// The input being tried, for the signal handler; a fuzz program has this one job.
std::string& currentInput()
{
    static std::string input;
    return input;
}

void saveCurrentInput()
{
    const int fd = ::open("crash-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0) return;
    const std::string& input = currentInput();
    if (::write(fd, input.data(), input.size()) >= 0) ::close(fd);
}

extern "C" void onCrash(int signal)
{
    saveCurrentInput();
    std::signal(signal, SIG_DFL);
    ::raise(signal);
}

/// On a stack of its own: running out of stack is what deep nesting does.
void catchCrashes()
{
    static char stack[1 << 16];
    stack_t alternative = {};
    alternative.ss_sp = stack;
    alternative.ss_size = sizeof stack;
    ::sigaltstack(&alternative, nullptr);
    struct sigaction action = {};
    action.sa_handler = onCrash;
    action.sa_flags = SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL})
        ::sigaction(signal, &action, nullptr);
}

bool survives(const std::string& input)
{
    currentInput() = input;
    try {
        LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
        return true;
    } catch (const std::exception& error) {
        saveCurrentInput();
        std::printf("failed: %s (input left in crash-input)\n", error.what());
        return false;
    }
}

class Random
{
public:
    size_t below(size_t limit)
    {
        m_state = m_state * 6364136223846793005ull + 1442695040888963407ull;
        return limit == 0 ? 0 : (m_state >> 33) % limit;
    }

private:
    uint64_t m_state = 1;
};

/// Truncates, flips, deletes, repeats or splices: what goes wrong with files.
std::string mutated(const std::string& seed, const std::string& other, Random& random)
{
    std::string out = seed;
    const size_t at = random.below(out.size() + 1);
    const size_t length = 1 + random.below(8);
    switch (random.below(6)) {
    case 0: out.resize(at); break;
    case 1:
        if (at < out.size()) out[at] = static_cast<char>(random.below(256));
        break;
    case 2: out.erase(at, length); break;
    case 3: out.insert(at, out.substr(at, length * 4)); break;
    case 4: out = out.substr(0, at) + other.substr(random.below(other.size() + 1)); break;
    default: out.insert(at, length, "0(9-{,\"\xff"[random.below(8)]);
    }
    return out;
}

std::vector<std::string> readCorpus(const char* folder)
{
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        paths.push_back(entry.path().string());
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> inputs;
    for (const std::string& path : paths)
        if (const auto bytes = tenon::core::readFile(path)) inputs.push_back(*bytes);
    return inputs;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s CORPUS_DIR [MUTATIONS]\n", argv[0]);
        return 2;
    }
    catchCrashes();
    const std::vector<std::string> corpus = readCorpus(argv[1]);
    if (corpus.empty()) {
        std::printf("no corpus in %s\n", argv[1]);
        return 1;
    }
    const int mutations = argc > 2 ? std::atoi(argv[2]) : 500;
    Random random;
    for (const std::string& seed : corpus) {
        if (!survives(seed)) return 1;
        for (int i = 0; i < mutations; ++i) {
            std::string input = mutated(seed, corpus[random.below(corpus.size())], random);
            if (random.below(3) == 0) input = mutated(input, seed, random);
            if (!survives(input)) return 1;
        }
    }
    std::printf("%zu inputs and %d mutations of each survived\n", corpus.size(), mutations);
    return 0;
}
