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

/** The first argument of `profile`: how often to run, 1 to kTenonMaxProfileRepeats. */
int tenon_profile_repeats(const tenon_args* args, size_t* out);
/** Returns Bytes of one f64 per call: the median of samples[call * repeats + r], in seconds.
 * Reorders the samples. */
int tenon_profile_return(double* samples, size_t calls, size_t repeats, tenon_result result);

/** Runs `run` repeats times with marks recorded and returns as above. */
int tenon_profile_marks(int (*run)(void* context), void* context, size_t repeats,
                        tenon_result result);

#endif
