// SPDX-License-Identifier: Apache-2.0
// Parameter files: any bytes are read or refused; what is read writes back and reads again.
#include "core/base/check.h"
#include "tests/fuzz/fuzz.h"

extern "C" {
#include "runtime/executor/params.h"
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    tenon_arena arena = {};
    tenon_params params = {};
    if (tenon_read_params_file(data, size, &arena, &params) == 0) {
        tenon_writer writer = tenon_writer_of(size + 4096);
        tenon_write_params_file(&writer, &params);
        tenon_params again = {};
        CHECK(tenon_read_params_file(writer.data, writer.size, &arena, &again) == 0);
        CHECK(again.count == params.count);
        tenon_writer_free(&writer);
    }
    tenon_arena_free(&arena);
    return 0;
}
