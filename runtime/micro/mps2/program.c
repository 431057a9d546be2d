/* SPDX-License-Identifier: MIT-0 */
/* Feeds a model from files: by semihosting on a board, as they are elsewhere. */
#include "program.h"

#include "semihost.h"
#include "timer.h"

static int is_profiling;

void program_mark(uint32_t index)
{
    if (is_profiling) program_marks[index] = nanoseconds();
}

static int fail(const char* why)
{
    semihost_write(why);
    semihost_write("\n");
    return 1;
}

typedef struct
{
    int32_t number; /* inferences per sample */
    int32_t repeat; /* samples */
    int32_t profiles;
} request;

static int read_request(request* wanted)
{
    const int32_t file = semihost_open("request", 1);
    if (file < 0) return fail("cannot open the file `request`");
    int32_t missing = semihost_read(file, wanted, sizeof *wanted);
    for (uint32_t i = 0; i < program_input_count && !missing; ++i)
        missing = semihost_read(file, program_inputs[i].bytes, program_inputs[i].size);
    semihost_close(file);
    return missing ? fail("the file `request` is too short") : 0;
}

static int write_outputs(void)
{
    const int32_t file = semihost_open("output", 5);
    if (file < 0) return fail("cannot write the file `output`");
    int32_t missing = 0;
    for (uint32_t i = 0; i < program_output_count && !missing; ++i)
        missing = semihost_write_to(file, program_outputs[i].bytes, program_outputs[i].size);
    semihost_close(file);
    return missing ? fail("cannot write the file `output`") : 0;
}

static int infer(void)
{
    const int32_t code = program_infer();
    if (code > 0) return fail(program_faults[code - 1]);
    return code ? fail("the model cannot run") : 0;
}

/* Samples, then the marks of each profiled inference. */
static int measure(int32_t file, const request* wanted)
{
    int32_t missing = 0;
    for (int32_t sample = 0; sample < wanted->repeat && !missing; ++sample) {
        const uint64_t start = nanoseconds();
        for (int32_t i = 0; i < wanted->number; ++i)
            if (infer()) return 1;
        const uint64_t taken = nanoseconds() - start;
        missing = semihost_write_to(file, &taken, sizeof taken);
    }
    is_profiling = 1;
    for (int32_t profile = 0; profile < wanted->profiles && !missing; ++profile) {
        if (infer()) return 1;
        missing =
            semihost_write_to(file, program_marks, program_mark_count * (uint32_t)sizeof(uint64_t));
    }
    return missing ? fail("cannot write the file `times`") : 0;
}

int main(void)
{
    request wanted = {1, 0, 0};
    if (program_prepare() != 0) return fail("the memory for the model is too small");
    if (read_request(&wanted) != 0) return 1;
    start_timer();
    const int32_t file = semihost_open("times", 5);
    if (file < 0) return fail("cannot write the file `times`");
    const int failed = infer() || measure(file, &wanted) || write_outputs();
    semihost_close(file);
    return failed;
}
