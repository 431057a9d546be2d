/* SPDX-License-Identifier: Apache-2.0 */
/* The interface by which GDB and LLDB learn of code that no system loader announced: a list of
 * object files in memory and a function that they set a breakpoint in. The names are theirs. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf_image.h"

enum
{
    kDebugNone = 0,
    kDebugAdd = 1,
    kDebugRemove = 2
};

typedef struct tenon_debug_entry
{
    struct tenon_debug_entry* next;
    struct tenon_debug_entry* previous;
    const char* file;
    uint64_t file_size;
} debug_entry;

typedef struct
{
    uint32_t version;
    uint32_t action;
    debug_entry* relevant;
    debug_entry* first;
} debug_descriptor;

extern debug_descriptor __jit_debug_descriptor;
extern void __jit_debug_register_code(void);

debug_descriptor __jit_debug_descriptor = {.version = 1};

__attribute__((noinline)) void __jit_debug_register_code(void)
{
    __asm__ volatile("" ::: "memory");
}

static void announce(uint32_t action, debug_entry* entry)
{
    __jit_debug_descriptor.action = action;
    __jit_debug_descriptor.relevant = entry;
    __jit_debug_register_code();
    __jit_debug_descriptor.action = kDebugNone;
}

/* Nothing but a symbol table over the mapped code: weights and code are not copied. */
typedef struct
{
    ElfW(Ehdr) header;
    ElfW(Shdr) sections[5];
    char section_names[40];
} description;

enum
{
    kCode = 1,
    kSymbols = 2,
    kNames = 3,
    kSectionNames = 4
};

static const char kSectionNameText[40] = "\0.text\0.symtab\0.strtab\0.shstrtab";

/* A symbol table with its names, read from the file: local functions have names only there. */
typedef struct
{
    ElfW(Sym) * symbols;
    size_t count;
    char* names;
    size_t names_size;
} symbol_table;

static void* read_section(int fd, const ElfW(Shdr) * section, size_t extra)
{
    size_t size = (size_t)section->sh_size;
    if (size > (size_t)64 << 20) return NULL;
    char* data = calloc(1, size + extra);
    if (data && pread(fd, data, size, (off_t)section->sh_offset) == (ssize_t)size) return data;
    free(data);
    return NULL;
}

static int read_symbols(int fd, symbol_table* table)
{
    ElfW(Ehdr) header;
    ElfW(Shdr) sections[64];
    if (pread(fd, &header, sizeof header, 0) != (ssize_t)sizeof header || header.e_shnum > 64 ||
        header.e_shentsize != sizeof(ElfW(Shdr)))
        return -1;
    ssize_t bytes = (ssize_t)(header.e_shnum * sizeof(ElfW(Shdr)));
    if (pread(fd, sections, (size_t)bytes, (off_t)header.e_shoff) != bytes) return -1;
    for (int i = 0; i < header.e_shnum; ++i) {
        if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= header.e_shnum) continue;
        table->symbols = read_section(fd, &sections[i], 0);
        table->count = (size_t)sections[i].sh_size / sizeof(ElfW(Sym));
        table->names = read_section(fd, &sections[sections[i].sh_link], 1);
        table->names_size = (size_t)sections[sections[i].sh_link].sh_size + 1;
        return table->symbols && table->names ? 0 : -1;
    }
    return -1;
}

/* Keeps functions, with the addresses they have in memory. */
static void move_symbols(const tenon_image* image, symbol_table* table)
{
    size_t kept = 1;
    for (size_t i = 1; i < table->count; ++i) {
        ElfW(Sym) symbol = table->symbols[i];
        if ((symbol.st_info & 15) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
            symbol.st_name >= table->names_size)
            continue;
        symbol.st_value += (ElfW(Addr))(uintptr_t)image->bias;
        symbol.st_shndx = kCode;
        symbol.st_info = (unsigned char)(STB_GLOBAL << 4 | STT_FUNC);
        table->symbols[kept++] = symbol;
    }
    if (table->count > 0) table->count = kept;
}

static void describe_code(const tenon_image* image, ElfW(Shdr) * section)
{
    for (int i = 0; i < image->segment_count; ++i) {
        const ElfW(Phdr)* segment = &image->segments[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
        section->sh_addr = (ElfW(Addr))(uintptr_t)(image->bias + segment->p_vaddr);
        section->sh_size = segment->p_memsz;
    }
    section->sh_type = SHT_NOBITS; /* the debugger reads the code from memory */
    section->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    section->sh_addralign = 16;
}

/* The whole object file, in one piece of memory behind its entry. */
static debug_entry* describe(const tenon_image* image, const symbol_table* table, int fd)
{
    size_t symbol_bytes = table->count * sizeof(ElfW(Sym));
    size_t size = sizeof(description) + symbol_bytes + table->names_size;
    debug_entry* entry = calloc(1, sizeof *entry + size);
    if (!entry) return NULL;
    description* file = (description*)(entry + 1);
    if (pread(fd, &file->header, sizeof file->header, 0) != (ssize_t)sizeof file->header) {
        free(entry);
        return NULL;
    }
    file->header.e_phnum = 0;
    file->header.e_phoff = 0;
    file->header.e_entry = 0;
    file->header.e_shoff = offsetof(description, sections);
    file->header.e_shnum = 5;
    file->header.e_shstrndx = kSectionNames;
    memcpy(file->section_names, kSectionNameText, sizeof kSectionNameText);
    file->sections[kCode].sh_name = 1;
    describe_code(image, &file->sections[kCode]);
    file->sections[kSymbols] = (ElfW(Shdr)){.sh_name = 7,
                                            .sh_type = SHT_SYMTAB,
                                            .sh_offset = sizeof(description),
                                            .sh_size = symbol_bytes,
                                            .sh_link = kNames,
                                            .sh_info = 1,
                                            .sh_addralign = 8,
                                            .sh_entsize = sizeof(ElfW(Sym))};
    file->sections[kNames] = (ElfW(Shdr)){.sh_name = 15,
                                          .sh_type = SHT_STRTAB,
                                          .sh_offset = sizeof(description) + symbol_bytes,
                                          .sh_size = table->names_size,
                                          .sh_addralign = 1};
    file->sections[kSectionNames] = (ElfW(Shdr)){.sh_name = 23,
                                                 .sh_type = SHT_STRTAB,
                                                 .sh_offset = offsetof(description, section_names),
                                                 .sh_size = sizeof kSectionNameText,
                                                 .sh_addralign = 1};
    memcpy((char*)file + sizeof(description), table->symbols, symbol_bytes);
    memcpy((char*)file + sizeof(description) + symbol_bytes, table->names, table->names_size);
    entry->file = (const char*)file;
    entry->file_size = size;
    return entry;
}

void tenon_elf_debug_add(tenon_image* image, int fd)
{
    symbol_table table = {0};
    if (read_symbols(fd, &table) == 0) {
        move_symbols(image, &table);
        image->debug = describe(image, &table, fd);
    }
    free(table.symbols);
    free(table.names);
    debug_entry* entry = image->debug;
    if (!entry) return;
    entry->next = __jit_debug_descriptor.first;
    if (entry->next) entry->next->previous = entry;
    __jit_debug_descriptor.first = entry;
    announce(kDebugAdd, entry);
}

void tenon_elf_debug_remove(tenon_image* image)
{
    debug_entry* entry = image->debug;
    if (!entry) return;
    if (entry->previous)
        entry->previous->next = entry->next;
    else
        __jit_debug_descriptor.first = entry->next;
    if (entry->next) entry->next->previous = entry->previous;
    announce(kDebugRemove, entry);
    free(entry);
}
