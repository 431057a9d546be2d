/* SPDX-License-Identifier: MIT-0 */
/* What the board has counted, as numbers of 64 bits. */
#include "micro_answer.h"

enum
{
    kStatisticsVersion = 1
};

/* Version; workspace; stack at its peak and as a whole; runs and their nanoseconds; frames that
 * came whole, damaged, again; arrays at their peak and as a whole; calls per run, and how often
 * each ran. */
void micro_return_statistics(micro_server* self)
{
    const micro_subject* subject = self->subject;
    const micro_counters* counted = &self->counters;
    const uint64_t numbers[] = {kStatisticsVersion,
                                subject->workspace_bytes,
                                subject->stack_peak ? subject->stack_peak() : 0,
                                subject->stack_bytes,
                                counted->runs,
                                counted->run_ns,
                                counted->frames,
                                counted->bad_frames,
                                counted->repeated,
                                counted->array_peak,
                                subject->array_bytes,
                                subject->call_count};
    const size_t count = sizeof numbers / sizeof *numbers;
    micro_return_bytes(self, (count + subject->call_count) * sizeof(uint64_t));
    for (size_t i = 0; i < count; ++i) micro_write_u64(&self->reply, numbers[i]);
    for (uint32_t i = 0; i < subject->call_count; ++i)
        micro_write_u64(&self->reply, subject->call_counts[i]);
}

/* Nanoseconds of each call of one run. */
void micro_return_profile(micro_server* self)
{
    const micro_subject* subject = self->subject;
    int32_t code = 0;
    if (subject->call_count == 0) {
        micro_reply_failure(self, "this executor does not note when its calls begin");
        return;
    }
    const uint64_t* instants = subject->profile(&code);
    if (code != 0) {
        micro_reply_failure(self, code > 0 ? subject->fault(code) : "the model cannot run");
        return;
    }
    micro_return_bytes(self, subject->call_count * sizeof(uint64_t));
    for (uint32_t i = 0; i < subject->call_count; ++i)
        micro_write_u64(&self->reply, instants[i + 1] - instants[i]);
}
