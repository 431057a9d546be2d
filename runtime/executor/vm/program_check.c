/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a VM program once, so that running it needs to check its data only. */
#include "../../common/dtype.h"
#include "../../common/error.h"
#include "program.h"

/* Operands by letter, as in vm_code.h; 'd' dtype, '#' a count of the next letter's operands. */
static const char* const kOperands[kTenonVmOpcodeCount] = {
    [kTenonVmEnd] = "",          [kTenonVmConstant] = "tc",
    [kTenonVmAllocate] = "td#s", [kTenonVmView] = "tt#s",
    [kTenonVmCall] = "kn#t#s",   [kTenonVmMove] = "tt",
    [kTenonVmDrop] = "t",        [kTenonVmExtent] = "stw",
    [kTenonVmElement] = "stw",   [kTenonVmArithmetic] = "soss",
    [kTenonVmExpect] = "ossx",   [kTenonVmGoto] = "j",
    [kTenonVmIfZero] = "sj",     [kTenonVmListClear] = "l",
    [kTenonVmListPush] = "lt",   [kTenonVmListStack] = "tld#s",
    [kTenonVmScalar] = "tds",    [kTenonVmPlace] = "tdww#s",
    [kTenonVmWithin] = "sssx",   [kTenonVmCallEach] = "ns#k#w#t#w#s",
};

static bool is_within(int64_t value, size_t count) { return value >= 0 && (uint64_t)value < count; }

vm_each vm_each_at(const int64_t* words)
{
    vm_each each = {.call = words[1], .items = words[2], .kernels = words[3], .kernel = words + 4};
    each.steps = each.kernel + each.kernels + 1;
    const int64_t* tensors = each.steps + words[4 + each.kernels];
    each.tensors = tensors[0];
    each.tensor = tensors + 1;
    each.item_bytes = each.tensor + each.tensors + 1;
    each.sizes = each.item_bytes[each.item_bytes[-1]];
    each.size = each.item_bytes + each.item_bytes[-1] + 1;
    return each;
}

size_t vm_instruction_length(const vm_program* program, size_t at)
{
    if (at >= program->word_count || !is_within(program->code[at], kTenonVmOpcodeCount)) return 0;
    size_t length = 1;
    for (const char* kind = kOperands[program->code[at]]; *kind; ++kind) {
        if (at + length >= program->word_count) return 0;
        int64_t word = program->code[at + length];
        ++length;
        if (*kind != '#') continue;
        if (!is_within(word, program->word_count)) return 0;
        length += (size_t)word;
        ++kind; /* the counted letter */
    }
    return at + length <= program->word_count ? length : 0;
}

static bool is_valid_operand(const vm_program* program, char kind, int64_t word)
{
    switch (kind) {
    case 't': return is_within(word, program->tensor_count);
    case 's': return is_within(word, program->scalar_count);
    case 'l': return is_within(word, program->list_count);
    case 'x': return is_within(word, program->text_count);
    case 'c': return is_within(word, program->constant_count);
    case 'k': return is_within(word, program->kernel_count);
    case 'n': return is_within(word, program->call_count);
    case 'o': return is_within(word, kTenonVmOperationCount);
    case 'j': return is_within(word, program->word_count);
    case 'w': return word >= 0;
    default: return tenon_dtype_bytes(vm_dtype_of(word)) != 0;
    }
}

static bool are_operands_valid(const vm_program* program, size_t at)
{
    size_t next = at + 1;
    bool is_call = program->code[at] == kTenonVmCall || program->code[at] == kTenonVmCallEach;
    for (const char* kind = kOperands[program->code[at]]; *kind; ++kind) {
        int64_t count = 1;
        if (*kind == '#') {
            count = program->code[next++];
            ++kind;
            if (!is_call && count > kTenonVmMaxRank) return false;
        }
        for (int64_t i = 0; i < count; ++i)
            if (!is_valid_operand(program, *kind, program->code[next++])) return false;
    }
    return true;
}

static bool does_call_fit(vm_program* program, size_t at)
{
    const int64_t* words = program->code + at;
    const vm_signature* kernel = &program->kernels[words[1]];
    int64_t sizes = words[4 + words[3]];
    size_t operands = (size_t)(words[3] + sizes);
    if (operands > program->widest_call) program->widest_call = operands;
    return words[3] == kernel->tensors && sizes == kernel->sizes;
}

static bool does_each_fit(vm_program* program, size_t at)
{
    const vm_each each = vm_each_at(program->code + at);
    const int64_t sizes = each.sizes > 0 ? each.sizes + 1 : 0; /* and the first item's number */
    const size_t operands = (size_t)(each.tensors + sizes);
    if (operands > program->widest_call) program->widest_call = operands;
    if (each.kernels == 0 || each.steps[-1] != each.kernels || each.steps[each.kernels - 1] != 1 ||
        each.item_bytes[-1] != each.tensors)
        return false;
    for (int64_t i = 0; i < each.kernels; ++i) {
        const vm_signature* kernel = &program->kernels[each.kernel[i]];
        if (each.steps[i] < 1 || kernel->tensors != each.tensors || kernel->sizes != sizes)
            return false;
    }
    return true;
}

static bool does_place_fit(const vm_program* program, size_t at)
{
    const int64_t* words = program->code + at;
    size_t room = program->arena_bytes;
    return (uint64_t)words[3] <= room && (uint64_t)words[4] <= room - (uint64_t)words[3];
}

static bool does_fit(vm_program* program, size_t at)
{
    switch (program->code[at]) {
    case kTenonVmCall: return does_call_fit(program, at);
    case kTenonVmCallEach: return does_each_fit(program, at);
    case kTenonVmPlace: return does_place_fit(program, at);
    default: return true;
    }
}

/* Jumps must hit the first word of an instruction; `starts` has a mark for each of those. */
static int check_jumps(const vm_program* program, const char* starts)
{
    for (size_t at = 0; at < program->word_count; at += vm_instruction_length(program, at)) {
        const int64_t* words = program->code + at;
        int64_t target = words[0] == kTenonVmGoto     ? words[1]
                         : words[0] == kTenonVmIfZero ? words[2]
                                                      : (int64_t)at;
        if (!starts[target])
            return tenon_fail("word %zu of a VM program jumps into an instruction", at);
    }
    return 0;
}

static int check_values(const vm_program* program, const vm_value* values, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (!is_within(values[i].reg, program->tensor_count))
            return tenon_fail("`%s` of a VM program has no register", values[i].name);
    return 0;
}

int vm_program_check(vm_program* program)
{
    char* starts = tenon_arena_alloc(&program->arena, program->word_count + 1, 1);
    if (!starts) return -1;
    size_t last = program->word_count;
    for (size_t at = 0; at < program->word_count;) {
        size_t length = vm_instruction_length(program, at);
        if (length == 0 || !are_operands_valid(program, at) || !does_fit(program, at))
            return tenon_fail("word %zu of a VM program is no valid instruction", at);
        starts[at] = 1;
        last = at;
        at += length;
    }
    if (last == program->word_count || program->code[last] != kTenonVmEnd)
        return tenon_fail("a VM program does not end");
    for (size_t i = 0; i < program->line_count; ++i)
        if (!is_within(program->lines[i].text, program->text_count))
            return tenon_fail("a VM program names a text that is not there");
    if (check_values(program, program->inputs, program->input_count) != 0 ||
        check_values(program, program->outputs, program->output_count) != 0)
        return -1;
    return check_jumps(program, starts);
}
