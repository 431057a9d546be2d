/* SPDX-License-Identifier: MIT-0 */
/* runtime.RPCTimeEvaluator on the board's own clock. */
#include <string.h>

#include "micro_answer.h"

static int32_t count_of(const micro_value* value, int32_t least)
{
    if (value->code != kTVMArgInt || value->as.integer < least) return least;
    return value->as.integer > INT32_MAX ? INT32_MAX : (int32_t)value->as.integer;
}

/* Arguments: module, function, device type, device, number, repeat, least milliseconds per repeat,
 * most repeats that took no time, and four that mean nothing here. */
void micro_make_evaluator(micro_server* self)
{
    const micro_arguments* args = &self->arguments;
    uint32_t function = 0;
    if (args->count == 12)
        function =
            micro_module_function(self, (uint32_t)args->values[0].as.handle, &args->values[1]);
    if (!function || !micro_can_be_timed(self, function)) {
        micro_reply_failure(self, "only the model's `run` and kernels can be timed");
        return;
    }
    self->timing.function = function;
    self->timing.number = count_of(&args->values[4], 1);
    self->timing.repeat = count_of(&args->values[5], 1);
    self->timing.min_repeat_ms = count_of(&args->values[6], 0);
    self->timing.limit_zero = count_of(&args->values[7], 0);
    micro_return_handle(self, kTVMPackedFuncHandle, MICRO_EVALUATOR);
}

/* One sample: `number` calls, more of them until they take long enough. */
static const char* sample(micro_server* self, double* seconds)
{
    micro_timing* timing = &self->timing;
    const uint64_t least = (uint64_t)timing->min_repeat_ms * 1000000u;
    uint64_t taken = 0;
    int32_t zeros = 0;
    do {
        if (taken > 0) {
            const double wanted = (double)least / ((double)taken / timing->number) + 1;
            const double grown = timing->number * 1.618;
            const double more = wanted > grown ? wanted : grown;
            timing->number = more < 1e9 ? (int32_t)more : 1000000000;
        }
        const uint64_t start = self->subject->nanoseconds();
        for (int32_t i = 0; i < timing->number; ++i) {
            const char* failed = micro_run_function(self, timing->function);
            if (failed) return failed;
        }
        taken = self->subject->nanoseconds() - start;
        if (taken == 0) ++zeros;
    } while (taken < least && (taken > 0 || zeros < timing->limit_zero));
    *seconds = (double)taken * 1e-9 / timing->number;
    return NULL;
}

void micro_evaluate(micro_server* self)
{
    const int32_t repeat = self->timing.repeat;
    const char* failed = micro_run_function(self, self->timing.function); /* to warm up */
    micro_return_bytes(self, (size_t)repeat * sizeof(uint64_t));
    for (int32_t i = 0; i < repeat && !failed && !self->reply.failed; ++i) {
        double seconds = 0;
        failed = sample(self, &seconds);
        micro_write_double(&self->reply, seconds);
    }
    if (failed) micro_reply_failure(self, failed);
}
