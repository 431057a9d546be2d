// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime as a program on stdin and stdout: the peer of `./dev bench models` and of the fuzzer
// of graphs. Usage and commands are those of runPeerProgram().
#include "remote/peer/peer_program.h"

#include <unistd.h>

#include <cstdio>

int main(int argc, char** argv)
{
    const int code =
        tenon::remote::runPeerProgram({argv + 1, argv + argc}, STDIN_FILENO, STDOUT_FILENO);
    if (code != 2) return code;
    std::fprintf(stderr, "usage: ort_peer LIBRARY [MODEL DATA_SET_DIR THREADS [as-written]]\n");
    return 2;
}
