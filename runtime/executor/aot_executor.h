/* SPDX-License-Identifier: Apache-2.0 */
/* The AOT executor: the library runs the whole model; here are its inputs, outputs and pools. */
#ifndef TENON_RUNTIME_AOT_EXECUTOR_H
#define TENON_RUNTIME_AOT_EXECUTOR_H

#include "../common/object.h"

/** Asks `root` (a factory) for its metadata and entry point and allocates what a run needs. */
int tenon_aot_executor_new(tenon_module* root, tenon_module** out);

#endif
