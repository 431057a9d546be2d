/* SPDX-License-Identifier: Apache-2.0 */
/* Relocations: the four kinds that a linker leaves in a shared object, per processor. */
#include <stdint.h>
#include <string.h>

#include "../common/error.h"
#include "elf_image.h"

/* Numbers: the processors' ELF supplements, as <elf.h> names them. */
#if defined(__x86_64__)
enum
{
    kRelative = R_X86_64_RELATIVE,
    kAbsolute = R_X86_64_64,
    kGlobal = R_X86_64_GLOB_DAT,
    kJump = R_X86_64_JUMP_SLOT
};
#elif defined(__aarch64__)
enum
{
    kRelative = R_AARCH64_RELATIVE,
    kAbsolute = R_AARCH64_ABS64,
    kGlobal = R_AARCH64_GLOB_DAT,
    kJump = R_AARCH64_JUMP_SLOT
};
#elif defined(__arm__)
enum
{
    kRelative = R_ARM_RELATIVE,
    kAbsolute = R_ARM_ABS32,
    kGlobal = R_ARM_GLOB_DAT,
    kJump = R_ARM_JUMP_SLOT
};
#elif defined(__riscv)
enum
{
    kRelative = R_RISCV_RELATIVE,
    kAbsolute = R_RISCV_64,
    kGlobal = R_RISCV_64, /* there is no separate kind */
    kJump = R_RISCV_JUMP_SLOT
};
#endif

/* 32-bit ARM keeps the addend in the place itself, the others in the table. */
#if defined(__arm__)
typedef ElfW(Rel) relocation;
enum
{
    kHasAddend = 0
};
#define TYPE_OF(info) ELF32_R_TYPE(info)
#define SYMBOL_OF(info) ELF32_R_SYM(info)
static ElfW(Addr) addend_of(const relocation* entry)
{
    (void)entry;
    return 0;
}
#else
typedef ElfW(Rela) relocation;
enum
{
    kHasAddend = 1
};
#define TYPE_OF(info) ELF64_R_TYPE(info)
#define SYMBOL_OF(info) ELF64_R_SYM(info)
static ElfW(Addr) addend_of(const relocation* entry) { return (ElfW(Addr))entry->r_addend; }
#endif

static int symbol_value(const tenon_image* image, size_t index, ElfW(Addr) * out)
{
    if (index >= image->symbol_count) return tenon_fail("a relocation names no symbol");
    const ElfW(Sym)* symbol = &image->symbols[index];
    const char* name = tenon_elf_name(image, symbol->st_name);
    if (!name) return tenon_fail("a symbol has no name");
    if (symbol->st_shndx != SHN_UNDEF) {
        if ((symbol->st_info & 15) == STT_GNU_IFUNC)
            return tenon_fail("`%s` is chosen while loading, which this loader does not do", name);
        *out = (ElfW(Addr))(uintptr_t)image->bias + symbol->st_value;
        return 0;
    }
    *out = (ElfW(Addr))(uintptr_t)tenon_abi_symbol(name);
    if (*out == 0 && symbol->st_info >> 4 != STB_WEAK)
        return tenon_fail("it needs `%s`, which the runtime does not offer", name);
    return 0;
}

static int apply(const tenon_image* image, const relocation* entry)
{
    unsigned type = (unsigned)TYPE_OF(entry->r_info);
    ElfW(Addr) value = 0;
    ElfW(Addr) addend = addend_of(entry);
    if (type == 0) return 0; /* NONE */
    void* place = tenon_elf_at(image, entry->r_offset, sizeof value, PF_W);
    if (!place) return tenon_fail("a relocation lies outside of writable memory");
    if (!kHasAddend && (type == kRelative || type == kAbsolute))
        memcpy(&addend, place, sizeof addend);
    if (type == kRelative)
        value = (ElfW(Addr))(uintptr_t)image->bias;
    else if (type != kAbsolute && type != kGlobal && type != kJump)
        return tenon_fail("relocation type %u is not known here", type);
    else if (symbol_value(image, (size_t)SYMBOL_OF(entry->r_info), &value) != 0)
        return -1;
    value += addend;
    memcpy(place, &value, sizeof value);
    return 0;
}

static int apply_table(const tenon_image* image, tenon_elf_table table)
{
    if (table.bytes == 0) return 0;
    const relocation* entries = tenon_elf_at(image, table.at, table.bytes, PF_R);
    if (!entries) return tenon_fail("its relocations are cut off");
    for (size_t i = 0; i < table.bytes / sizeof(relocation); ++i)
        if (apply(image, &entries[i]) != 0) return -1;
    return 0;
}

int tenon_elf_relocate(tenon_image* image)
{
    return apply_table(image, image->relocations) == 0 ? apply_table(image, image->plt_relocations)
                                                       : -1;
}
