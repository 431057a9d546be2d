/* SPDX-License-Identifier: Apache-2.0 */
/* The global functions: a fixed table of our own and what the embedder registers. */
#ifndef TENON_RUNTIME_REGISTRY_H
#define TENON_RUNTIME_REGISTRY_H

#include "object.h"

/** Makes a further fixed table findable for the life of the process; for the RPC server. */
int tenon_registry_add_table(const tenon_method* methods, size_t count);

/** The functions every runtime has; defined with the executors. */
extern const tenon_method tenon_builtin_functions[];
extern const size_t tenon_builtin_function_count;

#endif
