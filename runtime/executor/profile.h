/* SPDX-License-Identifier: Apache-2.0 */
/* Times of single calls, and which call is running should the process crash. */
#ifndef TENON_RUNTIME_PROFILE_H
#define TENON_RUNTIME_PROFILE_H

#include "../common/args.h"

enum
{
    kTenonMaxProfileRepeats = 10000
};

/** Called by instrumented libraries before call i, and with their number after the last. */
void tenon_profile_mark(int32_t call_index);
/** Notes the running call; -1 when none runs. Async-signal-safe to read. */
void tenon_profile_enter(int32_t call_index);
int32_t tenon_profile_current_call(void);

/** Runs `run` repeats times with marks recorded; returns Bytes of one f64 per call, the median of
 * its seconds. */
int tenon_profile_marks(int (*run)(void* context), void* context, int64_t repeats,
                        tenon_result result);

/** Median of `count` values, which are reordered. */
double tenon_median(double* values, size_t count);

#endif
