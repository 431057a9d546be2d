/* SPDX-License-Identifier: Apache-2.0 */
/* The global functions that every runtime has. */
#include <limits.h>

#include "../common/args.h"
#include "../common/error.h"
#include "../common/poison.h"
#include "../common/processors.h"
#include "../common/registry.h"
#include "../common/thread_pool.h"
#include "factory.h"
#include "time_evaluator.h"

/* (mode, threads): the mode chooses among cores of unlike speed and is not needed here. */
static int config_threadpool(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("runtime.config_threadpool");
    int64_t mode;
    int64_t threads;
    if (tenon_arg_int(&args, 0, &mode) != 0 || tenon_arg_int(&args, 1, &threads) != 0) return -1;
    if (threads < 0 || threads > INT_MAX) return tenon_fail("runtime.config_threadpool: bad count");
    return tenon_threads_set_count((int)threads) == 0 ? tenon_return_none(result) : -1;
}

static int num_threads(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("runtime.NumThreads");
    return tenon_return_int(result, tenon_threads_count());
}

static int threads_ran(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("tenon.threads_ran");
    return tenon_return_int(result, tenon_threads_ran());
}

static int last_cache_bytes(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("tenon.last_cache_bytes");
    return tenon_return_int(result, tenon_last_cache_bytes());
}

static int usable_processors(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("tenon.usable_processors");
    return tenon_return_int(result, tenon_usable_processors());
}

static int pin_threads(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("tenon.pin_threads");
    int64_t pinned;
    if (tenon_arg_int(&args, 0, &pinned) != 0) return -1;
    return tenon_threads_pin(pinned != 0) == 0 ? tenon_return_none(result) : -1;
}

static int poison_memory(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("tenon.poison_memory");
    int64_t enabled;
    if (tenon_arg_int(&args, 0, &enabled) != 0) return -1;
    tenon_poison_enable(enabled != 0);
    return tenon_return_none(result);
}

/* (path, format) */
static int load_from_file(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("runtime.ModuleLoadFromFile");
    const char* path;
    const char* format = "";
    TVMModuleHandle module;
    if (tenon_arg_str(&args, 0, &path) != 0 ||
        (args.count > 1 && tenon_arg_str(&args, 1, &format) != 0))
        return -1;
    return TVMModLoadFromFile(path, format, &module) == 0 ? tenon_return_module(result, module)
                                                          : -1;
}

const tenon_method tenon_builtin_functions[] = {
    {"runtime.ModuleLoadFromFile", load_from_file},
    {"runtime.NumThreads", num_threads},
    {"runtime.RPCTimeEvaluator", tenon_time_evaluator_create},
    {"runtime.config_threadpool", config_threadpool},
    {"tenon.last_cache_bytes", last_cache_bytes},
    {"tenon.pin_threads", pin_threads},
    {"tenon.poison_memory", poison_memory},
    {"tenon.threads_ran", threads_ran},
    {"tenon.usable_processors", usable_processors},
    {"tvm.graph_executor.create", tenon_graph_executor_create},
    {"tvm.graph_executor_debug.create", tenon_graph_executor_create},
};
const size_t tenon_builtin_function_count =
    sizeof tenon_builtin_functions / sizeof tenon_builtin_functions[0];
