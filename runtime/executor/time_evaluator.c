/* SPDX-License-Identifier: Apache-2.0 */
/* The time evaluator: warm-up, then repeated timed batches of calls. */
#include "time_evaluator.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../common/clock.h"
#include "../common/error.h"

enum
{
    kMaxRepeats = 1 << 20
};

typedef struct
{
    tenon_module base; /* so that the function keeps it alive */
    tenon_func* func;
    int64_t number;
    int64_t repeat;
    int64_t min_repeat_ms;
    int64_t limit_zero_time_iterations;
    int64_t cooldown_interval_ms;
    int64_t repeats_to_cooldown;
    char* flush; /* as large as the caches, or NULL */
    size_t flush_bytes;
} evaluator;

static void sleep_ms(int64_t ms)
{
    struct timespec time = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

/* Writes through memory as large as the caches, so that the next call starts cold. */
static void flush_caches(const evaluator* self)
{
    for (size_t i = 0; i < self->flush_bytes; i += 64) ((volatile char*)self->flush)[i] += 1;
}

static int call(const evaluator* self, const tenon_args* args)
{
    TVMValue value;
    int code;
    return TVMFuncCall(self->func, (TVMValue*)(uintptr_t)args->values, (int*)(uintptr_t)args->codes,
                       args->count, &value, &code);
}

/* One entry of the result. `number` stays grown for the following repeats, as in stock. */
static int measure(evaluator* self, const tenon_args* args, double* seconds)
{
    double duration_ms = 0;
    int64_t zero_count = 0;
    do {
        if (duration_ms > 0) {
            double wanted = (double)self->min_repeat_ms / (duration_ms / (double)self->number) + 1;
            double grown = (double)self->number * 1.618;
            self->number = (int64_t)(wanted > grown ? wanted : grown);
        }
        if (self->flush) flush_caches(self);
        int64_t start = tenon_clock_ns();
        for (int64_t i = 0; i < self->number; ++i)
            if (call(self, args) != 0) return -1;
        duration_ms = (double)(tenon_clock_ns() - start) * 1e-6;
        if (duration_ms == 0) ++zero_count;
    } while (duration_ms < (double)self->min_repeat_ms &&
             zero_count < self->limit_zero_time_iterations);
    *seconds = duration_ms * 1e-3 / (double)self->number;
    return 0;
}

static int evaluate(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("time_evaluator");
    evaluator* self = resource;
    if (call(self, &args) != 0) return -1; /* warm-up */
    double* seconds = calloc((size_t)self->repeat, sizeof *seconds);
    if (!seconds) return tenon_fail("time_evaluator: out of memory");
    int status = 0;
    for (int64_t i = 0; status == 0 && i < self->repeat; ++i) {
        status = measure(self, &args, &seconds[i]);
        if (self->cooldown_interval_ms > 0 && i % self->repeats_to_cooldown == 0)
            sleep_ms(self->cooldown_interval_ms);
    }
    if (status == 0)
        status = tenon_return_bytes(result, seconds, (size_t)self->repeat * sizeof *seconds);
    free(seconds);
    return status;
}

static int find_nothing(tenon_module* module, const char* name, tenon_func** out)
{
    (void)module;
    (void)name;
    (void)out;
    return 0;
}

static void destroy(tenon_module* module)
{
    evaluator* self = (evaluator*)module;
    tenon_func_unref(self->func);
    free(self->flush);
    free(self);
}

static const tenon_module_type kType = {"time_evaluator", find_nothing, destroy};

static int read_settings(evaluator* self, const tenon_args* args)
{
    int64_t flush_bytes = 0;
    if (tenon_arg_int(args, 4, &self->number) != 0 || tenon_arg_int(args, 5, &self->repeat) != 0 ||
        tenon_arg_int(args, 6, &self->min_repeat_ms) != 0 ||
        tenon_arg_int(args, 7, &self->limit_zero_time_iterations) != 0 ||
        tenon_arg_int(args, 8, &self->cooldown_interval_ms) != 0 ||
        tenon_arg_int(args, 9, &self->repeats_to_cooldown) != 0 ||
        tenon_arg_int(args, 10, &flush_bytes) != 0)
        return -1;
    if (self->number < 1 || self->repeat < 1 || self->repeat > kMaxRepeats ||
        self->repeats_to_cooldown < 1 || flush_bytes < 0 || flush_bytes > (INT64_C(1) << 32))
        return tenon_fail("time_evaluator: number, repeat or another setting is out of range");
    if (flush_bytes == 0) return 0;
    self->flush_bytes = (size_t)flush_bytes;
    self->flush = calloc(1, self->flush_bytes);
    return self->flush ? 0 : tenon_fail("time_evaluator: out of memory");
}

static int find_timed(const tenon_args* args, tenon_func** out)
{
    const char* name;
    tenon_module* module;
    if (tenon_arg_str(args, 1, &name) != 0) return -1;
    if (args->codes[0] == kTVMNullptr) {
        TVMFunctionHandle global = NULL;
        if (TVMFuncGetGlobal(name, &global) != 0) return -1;
        *out = global;
    } else if (tenon_arg_module(args, 0, &module) != 0 ||
               tenon_module_find(module, name, 1, out) != 0) {
        return -1;
    }
    return *out ? 0 : tenon_fail("time_evaluator: there is no function `%s`", name);
}

int tenon_time_evaluator_create(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("runtime.RPCTimeEvaluator");
    if (tenon_args_count(&args, 11, 12) != 0) return -1;
    evaluator* self = calloc(1, sizeof *self);
    if (!self) return tenon_fail("time_evaluator: out of memory");
    tenon_module_init(&self->base, &kType);
    int status = read_settings(self, &args) == 0 ? find_timed(&args, &self->func) : -1;
    tenon_func* timed = status == 0 ? tenon_func_new(evaluate, self, &self->base) : NULL;
    tenon_module_unref(&self->base);
    return timed ? tenon_return_func(result, timed) : -1;
}
