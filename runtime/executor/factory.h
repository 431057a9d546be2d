/* SPDX-License-Identifier: Apache-2.0 */
/* What the executor factories share. */
#ifndef TENON_RUNTIME_FACTORY_H
#define TENON_RUNTIME_FACTORY_H

#include "../common/args.h"

/** The arguments from `first` on must be devices, and all of them CPU 0. */
int tenon_check_cpu_devices(const tenon_args* args, int first);

/** Globals: tvm.graph_executor.create(json, module, device type, device id, ...). */
int tenon_graph_executor_create(TENON_PACKED_PARAMETERS);

#endif
