/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of persistent workers that take part in every launch, one job at a time: each has a share
 * of the tasks, and who is through with its own helps others with theirs. */
#include "thread_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "../include/tenon/c_backend_api.h"
#include "affinity.h"
#include "clock.h"
#include "error.h"
#include "processors.h"
#include "task_group.h"

/* A launch writes the job, then raises `generation`. Each share of the job is taken once per
 * generation, by raising its `taken` to it: by its worker or, when that has not begun by the time
 * the caller is through with its own share, by the caller. A worker that sleeps or waits for a CPU
 * thus never holds a launch up. Only who took a share reads the job, and the caller waits for the
 * workers that did (`remaining`), so a job is never overwritten while one may still read it.
 * Where the pool chooses the number of tasks, a share is several of them in a row: where all cores
 * are as fast, a thread runs the iterations that it would as one task. Where some are slow, or one
 * is held up, what its share has not begun is left to the others. Workers and the caller spin for
 * kSpinNs (about the gap between two kernels), then sleep; a sleeper announces itself before it
 * looks again, so that no wake-up is lost. */
enum
{
    kMaxThreads = 256,
    kSpinNs = 40000,
    kParts = 8,   /* tasks of a share */
    kVictims = 8, /* threads whose shares one looks at; all, where there are no more */
    kErrorCapacity = 1024
};

typedef struct
{
    FTVMParallelLambda fn;
    void* cdata;
    TVMParallelGroupEnv env;
    int threads;  /* that share the tasks */
    bool divides; /* shares are kParts tasks in a row, else every threads-th task */
} job;

/* Tasks of a share that were begun, on a cache line of its own. */
typedef struct
{
    _Alignas(64) atomic_int begun;
} share;

static struct
{
    pthread_mutex_t use;   /* held by the thread whose job runs, and while resizing */
    pthread_mutex_t sleep; /* guards both conditions */
    pthread_cond_t wake;
    pthread_cond_t done;
    pthread_t threads[kMaxThreads];
    atomic_int wanted; /* 0: automatic */
    int count;         /* what `wanted` comes to; 0: not known yet */
    int workers;       /* running threads, the caller excluded */
    int64_t spin_ns;
    bool pinned;
    atomic_bool stop;
    job job;
    tenon_task_group sync;
    char error[kErrorCapacity];     /* of the task that failed first */
    atomic_int cpus[kMaxThreads];   /* where each thread of the job was last seen */
    atomic_uint taken[kMaxThreads]; /* generation of each thread's latest share */
    atomic_bool ran[kMaxThreads];   /* threads that have run a share themselves */
    share shares[kMaxThreads];
    _Alignas(64) atomic_uint generation;
    atomic_int sleepers;
    _Alignas(64) atomic_uint remaining;
    atomic_int caller_sleeps;
} s_pool = {.use = PTHREAD_MUTEX_INITIALIZER,
            .sleep = PTHREAD_MUTEX_INITIALIZER,
            .wake = PTHREAD_COND_INITIALIZER,
            .done = PTHREAD_COND_INITIALIZER};

static _Thread_local bool t_inside; /* a nested launch runs in its own thread */

static bool has_changed(const atomic_uint* value, unsigned from)
{
    return atomic_load(value) != from;
}

static bool is_zero(const atomic_uint* value, unsigned unused)
{
    (void)unused;
    return atomic_load(value) == 0;
}

/* True as soon as the condition holds, false when the spinning time is over. */
static bool spin_for(bool (*condition)(const atomic_uint*, unsigned), const atomic_uint* value,
                     unsigned from)
{
    int64_t end = s_pool.spin_ns ? tenon_clock_ns() + s_pool.spin_ns : 0;
    for (unsigned i = 0; !condition(value, from); ++i) {
        if (i % 32 == 0 && (end == 0 || tenon_clock_ns() >= end)) return condition(value, from);
        tenon_relax();
    }
    return true;
}

/* The scheduler likes to wake a worker on the CPU of its caller, where the two then take turns for
 * as long as both are busy (Sapphire Rapids, SqueezeNet on two threads: 5.1 ms against 2.2 ms). A
 * worker that finds an earlier thread of the job on its CPU therefore moves away. */
static void keep_apart(int thread)
{
    if (s_pool.pinned || s_pool.spin_ns == 0) return;
    int cpu = tenon_affinity_current_cpu();
    int taken[kMaxThreads];
    bool shared = false;
    for (int i = 0; i < thread; ++i) {
        taken[i] = atomic_load_explicit(&s_pool.cpus[i], memory_order_relaxed);
        shared = shared || (taken[i] == cpu && cpu >= 0);
    }
    if (shared) {
        tenon_affinity_leave(taken, thread);
        cpu = tenon_affinity_current_cpu();
    }
    if (atomic_load_explicit(&s_pool.cpus[thread], memory_order_relaxed) != cpu)
        atomic_store_explicit(&s_pool.cpus[thread], cpu, memory_order_relaxed);
}

/* True for the one who may run the thread's share of the generation. */
static bool take_share(int thread, unsigned generation)
{
    unsigned before = generation - 1;
    return atomic_compare_exchange_strong(&s_pool.taken[thread], &before, generation);
}

/* Written once, so that threads do not take the line from one another. */
static void note_run(int thread)
{
    if (!atomic_load_explicit(&s_pool.ran[thread], memory_order_relaxed))
        atomic_store_explicit(&s_pool.ran[thread], true, memory_order_relaxed);
}

static void run_task(int task)
{
    const job* current = &s_pool.job;
    TVMParallelGroupEnv env = current->env;
    if (current->fn(task, &env, current->cdata) == 0) return;
    if (atomic_exchange(&s_pool.sync.failed, 1) == 0)
        snprintf(s_pool.error, sizeof s_pool.error, "%s", TVMGetLastError());
}

/* What is left of a divided share. */
static void run_parts(int thread)
{
    atomic_int* begun = &s_pool.shares[thread].begun;
    while (atomic_load_explicit(begun, memory_order_relaxed) < kParts) {
        int part = atomic_fetch_add(begun, 1);
        if (part < kParts) run_task(thread * kParts + part);
    }
}

static void run_share(int thread)
{
    const job* current = &s_pool.job;
    if (current->divides) {
        run_parts(thread);
        return;
    }
    for (int task = thread; task < current->env.num_task; task += current->threads) run_task(task);
}

/* Parts of other shares that nobody has begun. Who calls it has a share that is not yet reported,
 * so that the job lasts. */
static void help_others(int thread)
{
    int threads = s_pool.job.threads;
    if (!s_pool.job.divides) return;
    for (int i = 1; i < threads && i <= kVictims; ++i) run_parts((thread + i) % threads);
}

static void* worker(void* argument)
{
    int thread = (int)(intptr_t)argument;
    unsigned seen = 0;
    t_inside = true;
    if (s_pool.pinned) tenon_affinity_pin_self(thread);
    for (;;) {
        if (!spin_for(has_changed, &s_pool.generation, seen)) {
            pthread_mutex_lock(&s_pool.sleep);
            atomic_fetch_add(&s_pool.sleepers, 1);
            while (atomic_load(&s_pool.generation) == seen)
                pthread_cond_wait(&s_pool.wake, &s_pool.sleep);
            atomic_fetch_sub(&s_pool.sleepers, 1);
            pthread_mutex_unlock(&s_pool.sleep);
        }
        seen = atomic_load(&s_pool.generation);
        if (atomic_load(&s_pool.stop)) return NULL;
        keep_apart(thread);
        if (!take_share(thread, seen)) continue;
        note_run(thread);
        run_share(thread);
        help_others(thread);
        if (atomic_fetch_sub(&s_pool.remaining, 1) == 1 && atomic_load(&s_pool.caller_sleeps)) {
            pthread_mutex_lock(&s_pool.sleep);
            pthread_cond_signal(&s_pool.done);
            pthread_mutex_unlock(&s_pool.sleep);
        }
    }
}

/* Runs what no worker has begun. A task that meets others in a barrier returns only when all have
 * begun, so none of them is left here. */
static void run_what_waits(void)
{
    unsigned generation = atomic_load(&s_pool.generation);
    for (int thread = 1; thread <= s_pool.workers; ++thread) {
        if (!take_share(thread, generation)) continue;
        run_share(thread);
        atomic_fetch_sub(&s_pool.remaining, 1);
    }
}

static void announce(void)
{
    atomic_store(&s_pool.remaining, (unsigned)s_pool.workers);
    atomic_fetch_add(&s_pool.generation, 1);
    if (atomic_load(&s_pool.sleepers) == 0) return;
    pthread_mutex_lock(&s_pool.sleep);
    pthread_cond_broadcast(&s_pool.wake);
    pthread_mutex_unlock(&s_pool.sleep);
}

static void await_workers(void)
{
    if (spin_for(is_zero, &s_pool.remaining, 0)) return;
    pthread_mutex_lock(&s_pool.sleep);
    /* An exchange, not a store: the load below must not pass it, and emulators have let a plain
     * store and load of aarch64 do so. A worker would see nobody to wake. */
    atomic_exchange(&s_pool.caller_sleeps, 1);
    while (atomic_load(&s_pool.remaining) != 0) pthread_cond_wait(&s_pool.done, &s_pool.sleep);
    atomic_store(&s_pool.caller_sleeps, 0);
    pthread_mutex_unlock(&s_pool.sleep);
}

static void stop_workers(void)
{
    if (s_pool.workers == 0) return;
    atomic_store(&s_pool.stop, true);
    announce();
    for (int i = 0; i < s_pool.workers; ++i) pthread_join(s_pool.threads[i], NULL);
    atomic_store(&s_pool.stop, false);
    s_pool.workers = 0;
}

/* The threads of the parent do not exist in a forked child. */
static void forget_after_fork(void)
{
    pthread_mutex_init(&s_pool.use, NULL);
    pthread_mutex_init(&s_pool.sleep, NULL);
    pthread_cond_init(&s_pool.wake, NULL);
    pthread_cond_init(&s_pool.done, NULL);
    atomic_store(&s_pool.sleepers, 0);
    s_pool.workers = 0;
}

static void register_fork_hook(void) { pthread_atfork(NULL, NULL, forget_after_fork); }

/* Starts what is missing; a machine that refuses more threads gets by with fewer. */
static void start_workers(int count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_fork_hook);
    s_pool.spin_ns = count < tenon_affinity_cpu_count() ? kSpinNs : 0;
    atomic_store(&s_pool.generation, 0);
    for (int i = 0; i < kMaxThreads; ++i) atomic_store(&s_pool.taken[i], 0);
    while (s_pool.workers < count) {
        void* index = (void*)(intptr_t)(s_pool.workers + 1);
        if (pthread_create(&s_pool.threads[s_pool.workers], NULL, worker, index) != 0) break;
        ++s_pool.workers;
    }
}

static int automatic_count(void)
{
    const char* text = getenv("TENON_NUM_THREADS");
    if (!text) text = getenv("TVM_NUM_THREADS");
    long wanted = text ? strtol(text, NULL, 10) : 0;
    if (wanted < 1) wanted = tenon_usable_processors();
    return wanted > kMaxThreads ? kMaxThreads : (int)wanted;
}

int tenon_threads_count(void)
{
    int wanted = atomic_load(&s_pool.wanted);
    return wanted ? wanted : automatic_count();
}

int tenon_threads_set_count(int count)
{
    if (count < 0 || count > kMaxThreads)
        return tenon_fail("the number of threads must be 0 to %d, not %d", kMaxThreads, count);
    if (t_inside) return tenon_fail("the number of threads cannot change inside a parallel region");
    pthread_mutex_lock(&s_pool.use);
    if (count != atomic_load(&s_pool.wanted)) stop_workers();
    atomic_store(&s_pool.wanted, count);
    s_pool.count = 0;
    for (int i = 0; i < kMaxThreads; ++i) atomic_store(&s_pool.ran[i], false);
    pthread_mutex_unlock(&s_pool.use);
    return 0;
}

int tenon_threads_ran(void)
{
    int count = 0;
    for (int i = 0; i < kMaxThreads; ++i) count += atomic_load(&s_pool.ran[i]);
    return count;
}

int tenon_threads_pin(bool pinned)
{
    if (t_inside) return tenon_fail("threads cannot be pinned inside a parallel region");
    pthread_mutex_lock(&s_pool.use);
    if (pinned != s_pool.pinned) stop_workers();
    s_pool.pinned = pinned;
    int status = pinned ? tenon_affinity_pin_self(0) : tenon_affinity_free_self();
    pthread_mutex_unlock(&s_pool.use);
    return status;
}

/* All tasks one after the other; a barrier then holds only for a single task. */
static int run_serially(FTVMParallelLambda fn, void* cdata, int num_task)
{
    tenon_task_group sync = {.all_run_at_once = num_task <= 1};
    TVMParallelGroupEnv env = {&sync, num_task > 0 ? num_task : 1};
    bool was_inside = t_inside;
    int status = 0;
    t_inside = true;
    for (int task = 0; status == 0 && task < env.num_task; ++task) status = fn(task, &env, cdata);
    t_inside = was_inside;
    return status == 0 ? 0 : -1;
}

static int run_on_pool(FTVMParallelLambda fn, void* cdata, int num_task)
{
    int threads = s_pool.workers + 1;
    bool divides = num_task == 0;
    int tasks = divides ? threads * kParts : num_task;
    for (int i = 0; divides && i < threads; ++i) atomic_store(&s_pool.shares[i].begun, 0);
    atomic_store(&s_pool.sync.arrived, 0);
    atomic_store(&s_pool.sync.phase, 0);
    atomic_store(&s_pool.sync.failed, 0);
    s_pool.sync.all_run_at_once = !divides && num_task <= threads;
    s_pool.job = (job){fn, cdata, {&s_pool.sync, tasks}, threads, divides};
    keep_apart(0);
    announce();
    t_inside = true;
    note_run(0);
    run_share(0);
    help_others(0);
    run_what_waits();
    t_inside = false;
    await_workers();
    return atomic_load(&s_pool.sync.failed) ? tenon_fail("%s", s_pool.error) : 0;
}

int TVMBackendParallelLaunch(FTVMParallelLambda flambda, void* cdata, int num_task)
{
    if (num_task < 0) return tenon_fail("a launch of %d tasks", num_task);
    if (t_inside || num_task == 1) return run_serially(flambda, cdata, num_task);
    if (pthread_mutex_trylock(&s_pool.use) != 0) {
        /* While another thread's job runs, a job of any size works alone rather than wait; one
         * that counts on several tasks may need them to meet in a barrier. */
        if (num_task == 0) return run_serially(flambda, cdata, num_task);
        pthread_mutex_lock(&s_pool.use);
    }
    if (s_pool.count == 0) s_pool.count = tenon_threads_count();
    int count = s_pool.count;
    if (s_pool.workers == 0 && count > 1) start_workers(count - 1);
    int status = s_pool.workers == 0 ? run_serially(flambda, cdata, num_task)
                                     : run_on_pool(flambda, cdata, num_task);
    pthread_mutex_unlock(&s_pool.use);
    return status;
}
