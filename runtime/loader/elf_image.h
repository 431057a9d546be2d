/* SPDX-License-Identifier: Apache-2.0 */
/* What our own loader knows of a mapped ELF file. */
#ifndef TENON_RUNTIME_ELF_IMAGE_H
#define TENON_RUNTIME_ELF_IMAGE_H

#include <link.h>
#include <stdbool.h>

#include "image.h"

enum
{
    kTenonMaxSegments = 16
};

/** A table of the dynamic section. */
typedef struct
{
    ElfW(Addr) at; /* as the file counts addresses */
    size_t bytes;
} tenon_elf_table;

struct tenon_image
{
    char* memory; /* the reserved range: all segments and the holes between them */
    size_t span;
    char* bias; /* address of the file's address 0 */
    ElfW(Phdr) segments[kTenonMaxSegments];
    int segment_count;
    const ElfW(Sym) * symbols;
    size_t symbol_count;
    const char* names;
    size_t names_size;
    tenon_elf_table relocations;
    tenon_elf_table plt_relocations;
    tenon_elf_table constructors;
    tenon_elf_table destructors;
    struct tenon_debug_entry* debug;
};

/** `size` bytes at the file's address `at`, when a loaded segment holds all of them; else NULL. */
void* tenon_elf_at(const tenon_image* image, ElfW(Addr) at, size_t size, ElfW(Word) needed_flags);

/** A name of the symbol table, or NULL when it is cut off. */
const char* tenon_elf_name(const tenon_image* image, size_t offset);

/** Symbol table, relocations and constructors from the dynamic section. */
int tenon_elf_read_dynamic(tenon_image* image);

/** Applies all relocations; undefined symbols are looked up in the runtime's ABI. */
int tenon_elf_relocate(tenon_image* image);

/** Address of a function of the runtime's ABI, or NULL. */
void* tenon_abi_symbol(const char* name);

/** Tells debuggers which functions lie where; what fails here only makes debugging harder. */
void tenon_elf_debug_add(tenon_image* image, int fd);
void tenon_elf_debug_remove(tenon_image* image);

#endif
