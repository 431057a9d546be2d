/* SPDX-License-Identifier: Apache-2.0 */
/* The barrier in which tasks of a launch meet. */
#include "task_group.h"

#include <sched.h>

#include "../include/tenon/c_backend_api.h"
#include "error.h"

int TVMBackendParallelBarrier(int task_id, TVMParallelGroupEnv* penv)
{
    (void)task_id;
    tenon_task_group* sync = penv->sync_handle;
    if (!sync->all_run_at_once)
        return tenon_fail("a barrier among %d tasks that share fewer threads", penv->num_task);
    int phase = atomic_load(&sync->phase);
    if (atomic_fetch_add(&sync->arrived, 1) + 1 == penv->num_task) {
        atomic_store(&sync->arrived, 0);
        atomic_fetch_add(&sync->phase, 1);
        return 0;
    }
    for (unsigned i = 0; atomic_load(&sync->phase) == phase; ++i) {
        if (atomic_load(&sync->failed)) return tenon_fail("another task of the launch failed");
        if (i < 2000)
            tenon_relax();
        else
            sched_yield();
    }
    return 0;
}
