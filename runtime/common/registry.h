/* SPDX-License-Identifier: Apache-2.0 */
/* The global functions: a fixed table of our own and what the embedder registers. */
#ifndef TENON_RUNTIME_REGISTRY_H
#define TENON_RUNTIME_REGISTRY_H

#include "object.h"

/** The functions every runtime has; defined with the executors. */
extern const tenon_method tenon_builtin_functions[];
extern const size_t tenon_builtin_function_count;

#endif
