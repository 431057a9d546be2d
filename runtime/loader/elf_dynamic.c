/* SPDX-License-Identifier: Apache-2.0 */
/* The dynamic section: where symbols, relocations and constructors are. */
#include <stdint.h>
#include <string.h>

#include "../common/error.h"
#include "elf_image.h"

void* tenon_elf_at(const tenon_image* image, ElfW(Addr) at, size_t size, ElfW(Word) needed_flags)
{
    for (int i = 0; i < image->segment_count; ++i) {
        const ElfW(Phdr)* segment = &image->segments[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & needed_flags) == needed_flags &&
            at >= segment->p_vaddr && at - segment->p_vaddr <= segment->p_memsz &&
            size <= segment->p_memsz - (at - segment->p_vaddr))
            return image->bias + at;
    }
    return NULL;
}

const char* tenon_elf_name(const tenon_image* image, size_t offset)
{
    if (offset >= image->names_size) return NULL;
    const char* name = image->names + offset;
    return memchr(name, 0, image->names_size - offset) ? name : NULL;
}

/* Where the tables of interest are, as the dynamic section says. */
typedef struct
{
    ElfW(Addr) symbols, hash, gnu_hash;
    tenon_elf_table names;
    bool is_unsupported;
} findings;

static void note(tenon_image* image, findings* found, const ElfW(Dyn) * entry)
{
    ElfW(Addr) at = entry->d_un.d_ptr;
    size_t value = (size_t)entry->d_un.d_val;
    switch (entry->d_tag) {
    case DT_SYMTAB: found->symbols = at; break;
    case DT_HASH: found->hash = at; break;
    case DT_GNU_HASH: found->gnu_hash = at; break;
    case DT_STRTAB: found->names.at = at; break;
    case DT_STRSZ: found->names.bytes = value; break;
    case DT_REL:
    case DT_RELA: image->relocations.at = at; break;
    case DT_RELSZ:
    case DT_RELASZ: image->relocations.bytes = value; break;
    case DT_JMPREL: image->plt_relocations.at = at; break;
    case DT_PLTRELSZ: image->plt_relocations.bytes = value; break;
    case DT_INIT_ARRAY: image->constructors.at = at; break;
    case DT_INIT_ARRAYSZ: image->constructors.bytes = value; break;
    case DT_FINI_ARRAY: image->destructors.at = at; break;
    case DT_FINI_ARRAYSZ: image->destructors.bytes = value; break;
    case DT_TEXTREL:
    case 35: /* DT_RELRSZ, newer than the oldest headers we build with */
        found->is_unsupported = true;
        break;
    default: break;
    }
}

/* The GNU table has no count of symbols: its last chain ends with the last symbol. */
static size_t count_by_gnu_hash(const tenon_image* image, ElfW(Addr) at)
{
    const uint32_t* head = tenon_elf_at(image, at, 16, PF_R);
    if (!head) return 0;
    uint32_t buckets = head[0];
    uint32_t last = 0;
    ElfW(Addr) first_bucket = at + 16 + (ElfW(Addr))head[2] * sizeof(ElfW(Addr));
    const uint32_t* bucket = tenon_elf_at(image, first_bucket, (size_t)buckets * 4, PF_R);
    for (uint32_t i = 0; bucket && i < buckets; ++i)
        if (bucket[i] > last) last = bucket[i];
    if (last < head[1]) return head[1]; /* nothing but undefined symbols */
    ElfW(Addr) chain = first_bucket + (ElfW(Addr))buckets * 4 + (ElfW(Addr))(last - head[1]) * 4;
    for (;; chain += 4, ++last) {
        const uint32_t* link = tenon_elf_at(image, chain, 4, PF_R);
        if (!link) return 0;
        if (*link & 1) return (size_t)last + 1;
    }
}

static size_t count_symbols(const tenon_image* image, const findings* found)
{
    if (found->hash) {
        const uint32_t* head = tenon_elf_at(image, found->hash, 8, PF_R);
        return head ? head[1] : 0;
    }
    return found->gnu_hash ? count_by_gnu_hash(image, found->gnu_hash) : 0;
}

static const ElfW(Phdr) * dynamic_segment(const tenon_image* image)
{
    for (int i = 0; i < image->segment_count; ++i)
        if (image->segments[i].p_type == PT_DYNAMIC) return &image->segments[i];
    return NULL;
}

int tenon_elf_read_dynamic(tenon_image* image)
{
    findings found;
    memset(&found, 0, sizeof found);
    const ElfW(Phdr)* segment = dynamic_segment(image);
    const ElfW(Dyn)* entry =
        segment ? tenon_elf_at(image, segment->p_vaddr, segment->p_memsz, PF_R) : NULL;
    if (!entry) return tenon_fail("it has no dynamic section");
    size_t entries = segment->p_memsz / sizeof *entry;
    for (size_t i = 0; i < entries && entry[i].d_tag != DT_NULL; ++i)
        note(image, &found, &entry[i]);
    if (found.is_unsupported)
        return tenon_fail("it has relocations of a kind that this loader does not know");
    image->symbol_count = count_symbols(image, &found);
    image->symbols =
        tenon_elf_at(image, found.symbols, image->symbol_count * sizeof(ElfW(Sym)), PF_R);
    image->names = tenon_elf_at(image, found.names.at, found.names.bytes, PF_R);
    image->names_size = found.names.bytes;
    if (!image->symbols || !image->names || image->symbol_count == 0)
        return tenon_fail("its symbol table is missing or damaged");
    return 0;
}
