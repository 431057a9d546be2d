/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin of QEMU's code translator that counts the instructions a user-mode guest executes.
 *
 * usage: qemu-ARCH -plugin libcount_plugin.so,out=FILE[,blocks=on] PROGRAM...
 * The guest marks the ends of regions by close(kMark), which fails and changes nothing: FILE gets a
 * line `region INSTRUCTIONS LOADS STORES` at each mark; the last two are 0 where the guest is no
 * AArch64, whose instructions are told apart. With blocks=on, `block ADDRESS INSTRUCTIONS TIMES
 * CODE` lines before it say where the region's instructions were; CODE is the beginning in
 * hexadecimal. Counts are of one guest thread: increments of several are not atomic. */
#include "tests/benchmarks/aarch64_access.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is used of the interface, version 1, as qemu.org's "QEMU TCG Plugins" describes it; Debian
 * packages the emulator without its header. */
typedef uint64_t plugin_id;
typedef struct machine
{
    const char* target_name; /* and more behind it */
} machine;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*translated)(plugin_id, struct qemu_plugin_tb*);
typedef void (*called)(plugin_id, unsigned vcpu, int64_t number, uint64_t, uint64_t, uint64_t,
                       uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, translated);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id, called);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb*, int op, void*, uint64_t);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb*);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb*, size_t);
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn*);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn*);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(plugin_id id, const machine* guest, int argc, char** argv);

enum
{
    kAdd = 0,
    kMark = 0x7e404000, /* also in runtime/footprint/runner.c; no file has this number */
    kCodeBytes = 64
};

/* A translated block; translating it again makes another. */
typedef struct block
{
    struct block* next;
    uint64_t address;
    uint64_t instructions;
    uint64_t times;
    size_t code_bytes;
    unsigned char code[kCodeBytes];
} block;

static FILE* out;
static bool list_blocks;
static bool is_aarch64;
static block* blocks;
static uint64_t instructions, loads, stores;

static void remember(struct qemu_plugin_tb* tb, size_t count)
{
    block* self = calloc(1, sizeof *self);
    if (!self) abort();
    self->address = qemu_plugin_tb_vaddr(tb);
    self->instructions = count;
    for (size_t i = 0; i < count; ++i) {
        const struct qemu_plugin_insn* one = qemu_plugin_tb_get_insn(tb, i);
        const size_t size = qemu_plugin_insn_size(one);
        if (self->code_bytes + size > kCodeBytes) break;
        memcpy(self->code + self->code_bytes, qemu_plugin_insn_data(one), size);
        self->code_bytes += size;
    }
    self->next = blocks;
    blocks = self;
    qemu_plugin_register_vcpu_tb_exec_inline(tb, kAdd, &self->times, 1);
}

static void count_accesses(struct qemu_plugin_tb* tb, size_t count)
{
    uint64_t kinds[kAccessKinds] = {0};
    for (size_t i = 0; i < count; ++i) {
        const struct qemu_plugin_insn* one = qemu_plugin_tb_get_insn(tb, i);
        uint32_t word;
        memcpy(&word, qemu_plugin_insn_data(one), sizeof word);
        ++kinds[aarch64_access(word)];
    }
    if (kinds[kLoad]) qemu_plugin_register_vcpu_tb_exec_inline(tb, kAdd, &loads, kinds[kLoad]);
    if (kinds[kStore]) qemu_plugin_register_vcpu_tb_exec_inline(tb, kAdd, &stores, kinds[kStore]);
}

static void on_translated(plugin_id id, struct qemu_plugin_tb* tb)
{
    (void)id;
    const size_t count = qemu_plugin_tb_n_insns(tb);
    qemu_plugin_register_vcpu_tb_exec_inline(tb, kAdd, &instructions, count);
    if (is_aarch64) count_accesses(tb, count);
    if (list_blocks) remember(tb, count);
}

static void print_block(block* self)
{
    if (self->times == 0) return;
    fprintf(out, "block %#" PRIx64 " %" PRIu64 " %" PRIu64 " ", self->address, self->instructions,
            self->times);
    for (size_t i = 0; i < self->code_bytes; ++i) fprintf(out, "%02x", self->code[i]);
    fprintf(out, "\n");
    self->times = 0;
}

static void on_call(plugin_id id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
                    uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)vcpu, (void)number, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7,
        (void)a8;
    if (a1 != kMark) return;
    for (block* self = blocks; self; self = self->next) print_block(self);
    fprintf(out, "region %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", instructions, loads, stores);
    fflush(out);
    instructions = loads = stores = 0;
}

int qemu_plugin_install(plugin_id id, const machine* guest, int argc, char** argv)
{
    is_aarch64 = strcmp(guest->target_name, "aarch64") == 0;
    for (int i = 0; i < argc; ++i) {
        if (strncmp(argv[i], "out=", 4) == 0) out = fopen(argv[i] + 4, "w");
        if (strcmp(argv[i], "blocks=on") == 0) list_blocks = true;
    }
    if (!out) {
        fprintf(stderr, "count_plugin: out=FILE is missing, or that file cannot be written\n");
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
    qemu_plugin_register_vcpu_syscall_cb(id, on_call);
    return 0;
}
