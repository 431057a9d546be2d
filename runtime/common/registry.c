/* SPDX-License-Identifier: Apache-2.0 */
/* The global function registry. */
#include "registry.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* The registry is process-wide by the definition of the ABI; one lock guards all of it. A list
 * suffices: it holds what an embedder registers by hand, and generated code caches its look-ups. */
typedef struct entry
{
    struct entry* next;
    tenon_func* func;
    char name[];
} entry;

static pthread_mutex_t s_lock = PTHREAD_MUTEX_INITIALIZER;
static entry* s_entries;
static const char** s_names; /* the answer of the last TVMFuncListGlobalNames */

static const tenon_method* find_fixed(const char* name)
{
    for (size_t i = 0; i < tenon_builtin_function_count; ++i)
        if (strcmp(tenon_builtin_functions[i].name, name) == 0) return &tenon_builtin_functions[i];
    return NULL;
}

static entry** find_slot(const char* name)
{
    entry** slot = &s_entries;
    while (*slot && strcmp((*slot)->name, name) != 0) slot = &(*slot)->next;
    return slot;
}

static int insert(entry** slot, const char* name, tenon_func* func)
{
    size_t size = strlen(name) + 1;
    entry* added = malloc(sizeof *added + size);
    if (!added) return tenon_fail("out of memory for a global function");
    memcpy(added->name, name, size);
    added->func = tenon_func_ref(func);
    added->next = NULL;
    *slot = added;
    return 0;
}

int TVMFuncRegisterGlobal(const char* name, TVMFunctionHandle f, int override)
{
    int status = 0;
    tenon_func* replaced = NULL;
    pthread_mutex_lock(&s_lock);
    entry** slot = find_slot(name);
    if ((*slot || find_fixed(name)) && !override) {
        status = tenon_fail("global function `%s` is already registered", name);
    } else if (*slot) {
        replaced = (*slot)->func;
        (*slot)->func = tenon_func_ref(f);
    } else {
        status = insert(slot, name, f);
    }
    pthread_mutex_unlock(&s_lock);
    tenon_func_unref(replaced);
    return status;
}

int TVMFuncRemoveGlobal(const char* name)
{
    pthread_mutex_lock(&s_lock);
    entry** slot = find_slot(name);
    entry* removed = *slot;
    if (removed) *slot = removed->next;
    pthread_mutex_unlock(&s_lock);
    if (!removed) return tenon_fail("no registered global function `%s`", name);
    tenon_func_unref(removed->func);
    free(removed);
    return 0;
}

int TVMFuncGetGlobal(const char* name, TVMFunctionHandle* out)
{
    *out = NULL;
    const tenon_method* fixed = NULL;
    pthread_mutex_lock(&s_lock);
    entry* found = *find_slot(name);
    if (found)
        *out = tenon_func_ref(found->func);
    else
        fixed = find_fixed(name);
    pthread_mutex_unlock(&s_lock);
    if (!fixed) return 0;
    *out = tenon_func_new(fixed->call, NULL, NULL);
    return *out ? 0 : -1;
}

static size_t list_names(const char** names)
{
    size_t count = 0;
    for (size_t i = 0; i < tenon_builtin_function_count; ++i, ++count)
        if (names) names[count] = tenon_builtin_functions[i].name;
    for (const entry* at = s_entries; at; at = at->next) {
        if (find_fixed(at->name)) continue;
        if (names) names[count] = at->name;
        ++count;
    }
    return count;
}

int TVMFuncListGlobalNames(int* out_size, const char*** out_array)
{
    int status = 0;
    pthread_mutex_lock(&s_lock);
    size_t count = list_names(NULL);
    const char** names = realloc(s_names, (count + 1) * sizeof *names);
    if (names) {
        s_names = names;
        list_names(names);
        *out_size = (int)count;
        *out_array = names;
    } else {
        status = tenon_fail("out of memory for the list of functions");
    }
    pthread_mutex_unlock(&s_lock);
    return status;
}
