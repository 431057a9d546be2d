/* SPDX-License-Identifier: Apache-2.0 */
/* Failing: the text of the last error of this thread. */
#ifndef TENON_RUNTIME_ERROR_H
#define TENON_RUNTIME_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/** Records the text and returns -1, so that `return tenon_fail(...)` reads as one step. */
int tenon_fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

/** Puts `context: ` before the recorded text and returns -1. */
int tenon_fail_within(const char* context);

#ifdef __cplusplus
}
#endif

#endif
