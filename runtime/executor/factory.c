/* SPDX-License-Identifier: Apache-2.0 */
/* What the executor factories share, and the executor for libraries without a factory. */
#include "factory.h"

#include <string.h>

#include "../common/error.h"
#include "graph_executor.h"

int tenon_check_cpu_devices(const tenon_args* args, int first)
{
    if (args->count <= first) return tenon_fail("%s: a device is missing", args->who);
    for (int i = first; i < args->count; ++i) {
        DLDevice device;
        if (tenon_arg_device(args, i, &device) != 0) return -1;
        if (device.device_type != kDLCPU || device.device_id != 0)
            return tenon_fail("%s: there is no device type %d id %d here; only CPU 0", args->who,
                              device.device_type, device.device_id);
    }
    return 0;
}

int tenon_graph_executor_create(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("tvm.graph_executor.create");
    const char* json;
    tenon_module* library;
    int64_t device_type;
    int first = 2;
    if (tenon_arg_str(&args, 0, &json) != 0 || tenon_arg_module(&args, 1, &library) != 0) return -1;
    /* An optional function that looks up linked parameters stands before the devices. */
    if (args.count > 2 && args.codes[2] == kTVMPackedFuncHandle) ++first;
    if (tenon_arg_int(&args, first, &device_type) != 0) return -1;
    if (device_type != kDLCPU)
        return tenon_fail("tvm.graph_executor.create: there is no device type %lld here",
                          (long long)device_type);
    tenon_graph_executor* executor;
    if (tenon_graph_executor_new(json, strlen(json), library, &executor) != 0) return -1;
    if (tenon_graph_executor_allocate(executor) != 0) {
        tenon_module_unref(&executor->base);
        return -1;
    }
    return tenon_return_module(result, &executor->base);
}
