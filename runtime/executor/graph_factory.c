/* SPDX-License-Identifier: Apache-2.0 */
/* The graph executor factory: what a graph artifact holds beside its kernels. */
#include <stdlib.h>
#include <string.h>

#include "../common/args.h"
#include "../common/error.h"
#include "blob.h"
#include "factory.h"
#include "graph_executor.h"

typedef struct
{
    tenon_module base;
    tenon_module* library; /* keeps the blob's bytes alive; owned reference */
    tenon_arena arena;
    const char* json; /* in the blob, not terminated */
    size_t json_length;
    tenon_params params;
    const char* name;
} graph_factory;

static int make_executor(graph_factory* self, const tenon_args* args, int first,
                         tenon_result result)
{
    if (tenon_check_cpu_devices(args, first) != 0) return -1;
    tenon_graph_executor* executor;
    if (tenon_graph_executor_new(self->json, self->json_length, &self->base, &executor) != 0)
        return -1;
    if (tenon_graph_executor_set_params(executor, &self->params) != 0 ||
        tenon_graph_executor_allocate(executor) != 0) {
        tenon_module_unref(&executor->base);
        return -1;
    }
    return tenon_return_module(result, &executor->base);
}

static int create(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("default");
    return make_executor(resource, &args, 0, result);
}

/* (module name, devices...): the same executor, which can always be debugged. */
static int debug_create(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("debug_create");
    const graph_factory* self = resource;
    const char* name;
    if (tenon_arg_str(&args, 0, &name) != 0) return -1;
    if (strcmp(name, self->name) != 0)
        return tenon_fail("debug_create: there is no module `%s`", name);
    return make_executor(resource, &args, 1, result);
}

static int get_graph_json(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("get_graph_json");
    const graph_factory* self = resource;
    char* text = malloc(self->json_length + 1);
    if (!text) return tenon_fail("get_graph_json: out of memory");
    memcpy(text, self->json, self->json_length);
    text[self->json_length] = 0;
    int status = tenon_return_str(result, text);
    free(text);
    return status;
}

/* The parameters as the bytes of a parameter file. */
static int get_graph_params(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("get_graph_params");
    const graph_factory* self = resource;
    tenon_writer writer = tenon_writer_of(SIZE_MAX / 4);
    tenon_write_params_file(&writer, &self->params);
    int status = writer.failed ? tenon_fail("get_graph_params: out of memory")
                               : tenon_return_bytes(result, writer.data, writer.size);
    tenon_writer_free(&writer);
    return status;
}

static const tenon_method kMethods[] = {
    {"debug_create", debug_create},
    {"get_graph_json", get_graph_json},
    {"get_graph_params", get_graph_params},
};

static int get_function(tenon_module* module, const char* name, tenon_func** out)
{
    graph_factory* self = (graph_factory*)module;
    if (strcmp(name, self->name) == 0) {
        *out = tenon_func_new(create, module, module);
        return *out ? 0 : -1;
    }
    return tenon_module_find_method(module, kMethods, sizeof kMethods / sizeof kMethods[0], name,
                                    out);
}

static void destroy(tenon_module* module)
{
    graph_factory* self = (graph_factory*)module;
    tenon_module_clear(module);
    tenon_module_unref(self->library);
    tenon_arena_free(&self->arena);
    free(self);
}

static const tenon_module_type kType = {"GraphExecutorFactory", get_function, destroy};

static int read_payload(graph_factory* self, tenon_reader* reader)
{
    self->json = tenon_read_string(reader, &self->json_length);
    if (!self->json) return tenon_fail("a graph executor factory is cut off");
    if (tenon_read_factory_params(reader, &self->arena, &self->params) != 0) return -1;
    size_t length;
    const char* name = tenon_read_string(reader, &length);
    if (!name) return tenon_fail("a graph executor factory is cut off");
    self->name = tenon_arena_text(&self->arena, name, length);
    return self->name ? 0 : -1;
}

int tenon_graph_factory_read(tenon_reader* reader, tenon_module* library, tenon_module** out)
{
    graph_factory* self = calloc(1, sizeof *self);
    if (!self) return tenon_fail("out of memory for a module");
    tenon_module_init(&self->base, &kType);
    self->library = tenon_module_ref(library);
    if (read_payload(self, reader) != 0) {
        tenon_module_unref(&self->base);
        return -1;
    }
    *out = &self->base;
    return 0;
}
