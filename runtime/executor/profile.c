/* SPDX-License-Identifier: Apache-2.0 */
/* Times of single calls, and which call is running should the process crash. */
#include "profile.h"

#include <pthread.h>
#include <stdlib.h>

#include "../common/clock.h"
#include "../common/error.h"

enum
{
    kMaxCalls = 1 << 16
};

/* Marks carry no context, so the recording is the process's; s_lock admits one at a time. */
static pthread_mutex_t s_lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t* s_times; /* of kMaxCalls marks, while a recording runs */
static int32_t s_marks;  /* one more than the highest mark seen */
static atomic_int s_current = -1;

void tenon_profile_enter(int32_t call_index)
{
    atomic_store_explicit(&s_current, call_index, memory_order_relaxed);
}

int32_t tenon_profile_current_call(void)
{
    return atomic_load_explicit(&s_current, memory_order_relaxed);
}

void tenon_profile_mark(int32_t call_index)
{
    tenon_profile_enter(call_index);
    if (!s_times || call_index < 0 || call_index >= kMaxCalls) return;
    if (call_index >= s_marks) s_marks = call_index + 1;
    s_times[call_index] = tenon_clock_ns();
}

static int compare(const void* a, const void* b)
{
    double x = *(const double*)a;
    double y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median(double* values, size_t count)
{
    if (count == 0) return 0;
    qsort(values, count, sizeof *values, compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* samples[call * repeats + r] of calls calls; the first run is a warm-up that counts the calls. */
static int record(int (*run)(void*), void* context, size_t repeats, double** samples, size_t* calls)
{
    for (size_t r = 0; r <= repeats; ++r) {
        s_marks = 0;
        if (run(context) != 0) return -1;
        if (s_marks < 1) return tenon_fail("the instrumented library made no marks");
        size_t seen = (size_t)s_marks - 1;
        if (r == 0) {
            *calls = seen;
            *samples = calloc(seen * repeats + 1, sizeof **samples);
            if (!*samples) return tenon_fail("out of memory for times");
            continue;
        }
        if (seen != *calls) return tenon_fail("the number of marks differs from run to run");
        for (size_t call = 0; call < seen; ++call)
            (*samples)[call * repeats + r - 1] = (double)(s_times[call + 1] - s_times[call]) * 1e-9;
    }
    return 0;
}

int tenon_profile_repeats(const tenon_args* args, size_t* out)
{
    int64_t repeats;
    if (tenon_arg_int(args, 0, &repeats) != 0) return -1;
    if (repeats < 1 || repeats > kTenonMaxProfileRepeats)
        return tenon_fail("profile: repeats must be 1 to %d", kTenonMaxProfileRepeats);
    *out = (size_t)repeats;
    return 0;
}

int tenon_profile_return(double* samples, size_t calls, size_t repeats, tenon_result result)
{
    for (size_t call = 0; call < calls; ++call)
        samples[call] = median(samples + call * repeats, repeats);
    return tenon_return_bytes(result, samples, calls * sizeof *samples);
}

int tenon_profile_marks(int (*run)(void* context), void* context, size_t repeats,
                        tenon_result result)
{
    double* samples = NULL;
    size_t calls = 0;
    pthread_mutex_lock(&s_lock);
    s_times = calloc(kMaxCalls, sizeof *s_times);
    int status = s_times ? record(run, context, repeats, &samples, &calls)
                         : tenon_fail("out of memory for marks");
    free(s_times);
    s_times = NULL;
    tenon_profile_enter(-1);
    pthread_mutex_unlock(&s_lock);
    if (status == 0) status = tenon_profile_return(samples, calls, repeats, result);
    free(samples);
    return status;
}
