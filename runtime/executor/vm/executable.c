/* SPDX-License-Identifier: Apache-2.0 */
/* The VM executable: a checked program beside the library that holds its kernels. */
#include <stdlib.h>
#include <string.h>

#include "../../common/args.h"
#include "../../common/error.h"
#include "../blob.h"
#include "../factory.h"
#include "executor.h"

typedef struct
{
    tenon_module base;
    vm_program program;
} vm_executable;

static int create(tenon_module* module, tenon_result result)
{
    tenon_module* executor;
    if (vm_executor_new(module, &((vm_executable*)module)->program, &executor) != 0) return -1;
    return tenon_return_module(result, executor);
}

static int create_on_device(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("default");
    if (tenon_args_count(&args, 1, 1) != 0 || tenon_check_cpu_devices(&args, 0) != 0) return -1;
    return create(resource, result);
}

static int load_executable(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("vm_load_executable");
    return tenon_args_count(&args, 0, 0) == 0 ? create(resource, result) : -1;
}

static int get_function(tenon_module* module, const char* name, tenon_func** out)
{
    const vm_executable* self = (const vm_executable*)module;
    TVMBackendPackedCFunc call = NULL;
    if (strcmp(name, self->program.name) == 0) call = create_on_device;
    if (strcmp(name, "vm_load_executable") == 0) call = load_executable;
    if (!call) return 0;
    *out = tenon_func_new(call, module, module);
    return *out ? 0 : -1;
}

static void destroy(tenon_module* module)
{
    vm_executable* self = (vm_executable*)module;
    tenon_module_clear(module);
    vm_program_free(&self->program);
    free(self);
}

static const tenon_module_type kType = {"TenonVmExecutable", get_function, destroy};

int tenon_vm_executable_read(tenon_reader* reader, tenon_module* library, tenon_module** out)
{
    (void)library; /* reached through the import tree */
    vm_executable* self = calloc(1, sizeof *self);
    if (!self) return tenon_fail("out of memory for a module");
    tenon_module_init(&self->base, &kType);
    if (vm_program_read(reader, &self->program) != 0) {
        tenon_module_unref(&self->base);
        return -1;
    }
    *out = &self->base;
    return 0;
}
