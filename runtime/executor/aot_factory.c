/* SPDX-License-Identifier: Apache-2.0 */
/* The AOT executor factory: what an AOT artifact holds beside its code. */
#include <stdlib.h>
#include <string.h>

#include "../common/args.h"
#include "../common/error.h"
#include "aot_executor.h"
#include "blob.h"
#include "factory.h"
#include "params.h"

typedef struct
{
    tenon_module base;
    tenon_arena arena;
    const char* name;
} aot_factory;

static int create(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("default");
    aot_factory* self = resource;
    tenon_module* executor;
    if (tenon_args_count(&args, 1, 1) != 0 || tenon_check_cpu_devices(&args, 0) != 0 ||
        tenon_aot_executor_new(&self->base, &executor) != 0)
        return -1;
    return tenon_return_module(result, executor);
}

static int get_function(tenon_module* module, const char* name, tenon_func** out)
{
    const aot_factory* self = (const aot_factory*)module;
    if (strcmp(name, self->name) != 0) return 0;
    *out = tenon_func_new(create, module, module);
    return *out ? 0 : -1;
}

static void destroy(tenon_module* module)
{
    aot_factory* self = (aot_factory*)module;
    tenon_module_clear(module);
    tenon_arena_free(&self->arena);
    free(self);
}

static const tenon_module_type kType = {"AotExecutorFactory", get_function, destroy};

static int read_payload(aot_factory* self, tenon_reader* reader)
{
    tenon_params unused; /* constants live in the code or in the metadata */
    if (tenon_read_factory_params(reader, &self->arena, &unused) != 0) return -1;
    size_t length;
    const char* name = tenon_read_string(reader, &length);
    if (!name) return tenon_fail("an AOT executor factory is cut off");
    self->name = tenon_arena_text(&self->arena, name, length);
    return self->name ? 0 : -1;
}

int tenon_aot_factory_read(tenon_reader* reader, tenon_module* library, tenon_module** out)
{
    (void)library; /* reached through the import tree */
    aot_factory* self = calloc(1, sizeof *self);
    if (!self) return tenon_fail("out of memory for a module");
    tenon_module_init(&self->base, &kType);
    if (read_payload(self, reader) != 0) {
        tenon_module_unref(&self->base);
        return -1;
    }
    *out = &self->base;
    return 0;
}
