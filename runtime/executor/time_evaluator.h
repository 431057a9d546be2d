/* SPDX-License-Identifier: Apache-2.0 */
/* The time evaluator: warm-up, then repeated timed batches of calls. */
#ifndef TENON_RUNTIME_TIME_EVALUATOR_H
#define TENON_RUNTIME_TIME_EVALUATOR_H

#include "../common/args.h"

/** runtime.RPCTimeEvaluator: 12 arguments to a function that yields Bytes of `repeat` f64 seconds.
 */
int tenon_time_evaluator_create(TENON_PACKED_PARAMETERS);

#endif
