/* SPDX-License-Identifier: Apache-2.0 */
/* Per-thread state, freed by a thread-specific key when the thread ends. */
#include "thread_state.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_once_t s_once = PTHREAD_ONCE_INIT;
static pthread_key_t s_key;
static _Thread_local tenon_thread_state* t_state;

static void destroy(void* pointer)
{
    tenon_thread_state* state = pointer;
    tenon_workspace_release(state->workspace);
    free(state->returned_memory);
    free(state);
    t_state = NULL;
}

static void create_key(void) { pthread_key_create(&s_key, destroy); }

tenon_thread_state* tenon_thread_state_get(void)
{
    if (t_state) return t_state;
    pthread_once(&s_once, create_key);
    tenon_thread_state* state = calloc(1, sizeof *state);
    if (state && pthread_setspecific(s_key, state) != 0) {
        free(state);
        state = NULL;
    }
    t_state = state;
    return state;
}
