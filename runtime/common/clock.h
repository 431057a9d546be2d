/* SPDX-License-Identifier: Apache-2.0 */
/* The monotonic clock in nanoseconds. */
#ifndef TENON_RUNTIME_CLOCK_H
#define TENON_RUNTIME_CLOCK_H

#include <stdint.h>

int64_t tenon_clock_ns(void);

#endif
