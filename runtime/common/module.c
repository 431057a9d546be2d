/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: reference counts, imports, and the functions that generated code asks for by name. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "object.h"

/* A function handed to generated code; lives as long as the module. */
typedef struct tenon_env_entry
{
    struct tenon_env_entry* next;
    tenon_func* func;
    char name[];
} env_entry;

static pthread_mutex_t s_env_lock = PTHREAD_MUTEX_INITIALIZER;

void tenon_module_init(tenon_module* module, const tenon_module_type* type)
{
    atomic_init(&module->refs, 1);
    module->type = type;
    module->imports = NULL;
    module->import_count = 0;
    module->env = NULL;
}

tenon_module* tenon_module_ref(tenon_module* module)
{
    atomic_fetch_add(&module->refs, 1);
    return module;
}

void tenon_module_unref(tenon_module* module)
{
    if (module && atomic_fetch_sub(&module->refs, 1) == 1) module->type->destroy(module);
}

void tenon_module_clear(tenon_module* module)
{
    while (module->env) {
        env_entry* next = module->env->next;
        tenon_func_unref(module->env->func);
        free(module->env);
        module->env = next;
    }
    for (size_t i = 0; i < module->import_count; ++i) tenon_module_unref(module->imports[i]);
    free(module->imports);
    module->imports = NULL;
    module->import_count = 0;
}

static int reaches(const tenon_module* from, const tenon_module* target)
{
    if (from == target) return 1;
    for (size_t i = 0; i < from->import_count; ++i)
        if (reaches(from->imports[i], target)) return 1;
    return 0;
}

int tenon_module_import(tenon_module* module, tenon_module* dependency)
{
    if (reaches(dependency, module)) return tenon_fail("modules would import each other");
    tenon_module** grown =
        realloc(module->imports, (module->import_count + 1) * sizeof(tenon_module*));
    if (!grown) return tenon_fail("out of memory for an import");
    module->imports = grown;
    module->imports[module->import_count++] = tenon_module_ref(dependency);
    return 0;
}

int tenon_module_find(tenon_module* module, const char* name, int query_imports, tenon_func** out)
{
    *out = NULL;
    if (module->type->get_function(module, name, out) != 0) return -1;
    for (size_t i = 0; query_imports && !*out && i < module->import_count; ++i)
        if (tenon_module_find(module->imports[i], name, 1, out) != 0) return -1;
    return 0;
}

int tenon_module_find_method(tenon_module* module, const tenon_method* methods, size_t count,
                             const char* name, tenon_func** out)
{
    for (size_t i = 0; i < count; ++i) {
        if (strcmp(methods[i].name, name) != 0) continue;
        *out = tenon_func_new(methods[i].call, module, module);
        return *out ? 0 : -1;
    }
    return 0;
}

int TVMModImport(TVMModuleHandle mod, TVMModuleHandle dep) { return tenon_module_import(mod, dep); }

int TVMModGetFunction(TVMModuleHandle mod, const char* func_name, int query_imports,
                      TVMFunctionHandle* out)
{
    tenon_func* func = NULL;
    if (!mod) return tenon_fail("a function is wanted from no module");
    int status = tenon_module_find(mod, func_name, query_imports, &func);
    *out = func;
    return status;
}

int TVMModFree(TVMModuleHandle mod)
{
    tenon_module_unref(mod);
    return 0;
}

static int find_for_env(tenon_module* module, const char* name, tenon_func** out)
{
    *out = NULL;
    for (size_t i = 0; module && !*out && i < module->import_count; ++i)
        if (tenon_module_find(module->imports[i], name, 1, out) != 0) return -1;
    if (*out) return 0;
    TVMFunctionHandle global = NULL;
    if (TVMFuncGetGlobal(name, &global) != 0) return -1;
    *out = global;
    return *out ? 0 : tenon_fail("no function `%s` among the imports and globals", name);
}

int TVMBackendGetFuncFromEnv(void* mod_node, const char* func_name, TVMFunctionHandle* out)
{
    tenon_module* module = mod_node;
    if (!module) return tenon_fail("`%s` is wanted without a module", func_name);
    int status = 0;
    pthread_mutex_lock(&s_env_lock);
    env_entry* entry = module->env;
    while (entry && strcmp(entry->name, func_name) != 0) entry = entry->next;
    if (!entry) {
        tenon_func* func = NULL;
        status = find_for_env(module, func_name, &func);
        size_t size = strlen(func_name) + 1;
        entry = status == 0 ? malloc(sizeof *entry + size) : NULL;
        if (entry) {
            memcpy(entry->name, func_name, size);
            entry->func = func;
            entry->next = module->env;
            module->env = entry;
        } else if (status == 0) {
            tenon_func_unref(func);
            status = tenon_fail("out of memory for a function");
        }
    }
    if (status == 0) *out = entry->func;
    pthread_mutex_unlock(&s_env_lock);
    return status;
}
