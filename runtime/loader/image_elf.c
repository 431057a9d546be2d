/* SPDX-License-Identifier: Apache-2.0 */
/* Shared objects through our own loader: a static program has no system loader, and a board's may
 * want another C library. Segments are mapped from the file, so that tools know whose code runs. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/error.h"
#include "elf_image.h"

#if defined(__x86_64__)
enum
{
    kMachine = EM_X86_64
};
#elif defined(__aarch64__)
enum
{
    kMachine = EM_AARCH64
};
#elif defined(__arm__)
enum
{
    kMachine = EM_ARM
};
#elif defined(__riscv) && __riscv_xlen == 64
enum
{
    kMachine = EM_RISCV
};
#else
#error "the loader does not know this processor"
#endif

static const struct
{
    unsigned machine;
    const char* name;
} kMachines[] = {{EM_X86_64, "x86-64"},
                 {EM_AARCH64, "AArch64"},
                 {EM_ARM, "ARM"},
                 {EM_RISCV, "RISC-V"},
                 {EM_386, "i386"}};

static const char* machine_name(unsigned machine)
{
    for (size_t i = 0; i < sizeof kMachines / sizeof kMachines[0]; ++i)
        if (kMachines[i].machine == machine) return kMachines[i].name;
    return "another machine";
}

/* The ways to pass floating-point numbers must agree. */
static bool has_our_float_abi(unsigned flags)
{
#if defined(__arm__)
    return (flags & EF_ARM_ABI_FLOAT_SOFT) == 0;
#elif defined(__riscv)
    return (flags & EF_RISCV_FLOAT_ABI) == EF_RISCV_FLOAT_ABI_DOUBLE;
#else
    (void)flags;
    return true;
#endif
}

static int check_header(const ElfW(Ehdr) * header)
{
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return tenon_fail("this is no ELF shared object");
    if (header->e_machine != kMachine)
        return tenon_fail("it is code for %s, but this board is %s",
                          machine_name(header->e_machine), machine_name(kMachine));
    if (header->e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_type != ET_DYN)
        return tenon_fail("it is no shared object of this board's word size and byte order");
    if (!has_our_float_abi(header->e_flags))
        return tenon_fail("it passes floating-point numbers in another way (float ABI)");
    if (header->e_phentsize != sizeof(ElfW(Phdr)) || header->e_phnum == 0 ||
        header->e_phnum > kTenonMaxSegments)
        return tenon_fail("it has %u program headers", header->e_phnum);
    return 0;
}

static bool read_at(int fd, void* data, size_t size, size_t offset)
{
    return pread(fd, data, size, (off_t)offset) == (ssize_t)size;
}

static int read_headers(tenon_image* image, int fd)
{
    ElfW(Ehdr) header;
    memset(&header, 0, sizeof header);
    /* A smaller file is recognised by its first bytes or not at all. */
    if (pread(fd, &header, sizeof header, 0) < EI_NIDENT)
        return tenon_fail("this is no ELF shared object");
    if (check_header(&header) != 0) return -1;
    image->segment_count = header.e_phnum;
    if (!read_at(fd, image->segments, sizeof(ElfW(Phdr)) * header.e_phnum, header.e_phoff))
        return tenon_fail("its program headers are cut off");
    return 0;
}

static ElfW(Addr) page_floor(ElfW(Addr) address, size_t page) { return address & ~(page - 1); }

/* What a segment's address is to be a multiple of, beside a page: with megabytes of weights, of the
 * pages that the system has for as much. No more than these, whatever a damaged file says. */
static size_t alignment_of(const ElfW(Phdr) * segment, size_t page)
{
    const size_t most = (size_t)2 << 20;
    const size_t wanted = (size_t)segment->p_align;
    return (wanted & (wanted - 1)) == 0 && wanted > page && wanted <= most ? wanted : page;
}

/* Addresses from one on that differs from `low` by a multiple of the alignment; or MAP_FAILED. */
static char* reserve_aligned(size_t span, ElfW(Addr) low, size_t alignment, size_t page)
{
    const size_t all = span + (alignment - page);
    char* memory = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return memory;
    const size_t lead = (size_t)(low - (uintptr_t)memory) & (alignment - 1);
    if (lead > 0) munmap(memory, lead);
    if (all - lead > span) munmap(memory + lead + span, all - lead - span);
    return memory + lead;
}

/* Checks the segments and reserves the range they need. */
static int reserve(tenon_image* image, size_t file_size, size_t page)
{
    ElfW(Addr) low = (ElfW(Addr)) - 1;
    ElfW(Addr) high = 0;
    size_t alignment = page;
    for (int i = 0; i < image->segment_count; ++i) {
        const ElfW(Phdr)* segment = &image->segments[i];
        if (segment->p_type == PT_TLS)
            return tenon_fail("thread-local variables are not supported");
        if (segment->p_type != PT_LOAD) continue;
        ElfW(Addr) end = segment->p_vaddr + segment->p_memsz;
        if (segment->p_filesz > segment->p_memsz || segment->p_offset > file_size ||
            segment->p_filesz > file_size - segment->p_offset || end < segment->p_vaddr ||
            end > SIZE_MAX / 2)
            return tenon_fail("the file is cut off or damaged");
        if ((segment->p_vaddr - segment->p_offset) % page != 0)
            return tenon_fail("it was linked for smaller pages than this board's %zu bytes", page);
        if (segment->p_vaddr < low) low = segment->p_vaddr;
        if (end > high) high = end;
        const size_t wanted = alignment_of(segment, page);
        if (wanted > alignment) alignment = wanted;
    }
    if (high == 0) return tenon_fail("it has nothing to load");
    low = page_floor(low, page);
    image->span = (size_t)(page_floor(high + page - 1, page) - low);
    char* memory = reserve_aligned(image->span, low, alignment, page);
    if (memory == MAP_FAILED) return tenon_fail("no memory to load it: %s", strerror(errno));
    image->memory = memory;
    image->bias = image->memory - low;
    return 0;
}

static int protection_of(const ElfW(Phdr) * segment)
{
    return (segment->p_flags & PF_R ? PROT_READ : 0) | (segment->p_flags & PF_W ? PROT_WRITE : 0) |
           (segment->p_flags & PF_X ? PROT_EXEC : 0);
}

static int map_segment(const tenon_image* image, const ElfW(Phdr) * segment, int fd, size_t page)
{
    const int flags = MAP_PRIVATE | MAP_FIXED;
    char* start = image->bias + page_floor(segment->p_vaddr, page);
    char* file_end = image->bias + segment->p_vaddr + segment->p_filesz;
    char* end = image->bias + segment->p_vaddr + segment->p_memsz;
    int protection = protection_of(segment);
    char* mapped_end = start;
    if (segment->p_filesz > 0) {
        off_t offset = (off_t)page_floor(segment->p_offset, page);
        if (mmap(start, (size_t)(file_end - start), protection, flags, fd, offset) == MAP_FAILED)
            return tenon_fail("cannot map it: %s", strerror(errno));
        mapped_end =
            image->bias + page_floor(segment->p_vaddr + segment->p_filesz + page - 1, page);
        /* The rest of the last page shows the file's next bytes; it belongs to zeroed memory. */
        if ((segment->p_flags & PF_W) && end > file_end)
            memset(file_end, 0, (size_t)((end < mapped_end ? end : mapped_end) - file_end));
    }
    if (end > mapped_end && mmap(mapped_end, (size_t)(end - mapped_end), protection,
                                 flags | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        return tenon_fail("no memory to load it: %s", strerror(errno));
    return 0;
}

static int map_segments(tenon_image* image, int fd, size_t page)
{
    for (int i = 0; i < image->segment_count; ++i)
        if (image->segments[i].p_type == PT_LOAD &&
            map_segment(image, &image->segments[i], fd, page) != 0)
            return -1;
    return 0;
}

/* After relocation: what need not change any more becomes read-only, and the instruction cache
 * forgets what was at these addresses before. */
static void seal(tenon_image* image, size_t page)
{
    for (int i = 0; i < image->segment_count; ++i) {
        const ElfW(Phdr)* segment = &image->segments[i];
        char* start = image->bias + segment->p_vaddr;
        if (segment->p_type == PT_GNU_RELRO &&
            tenon_elf_at(image, segment->p_vaddr, segment->p_memsz, PF_W)) {
            char* first = image->bias + page_floor(segment->p_vaddr, page);
            char* last = image->bias + page_floor(segment->p_vaddr + segment->p_memsz, page);
            if (last > first) mprotect(first, (size_t)(last - first), PROT_READ);
        }
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X))
            __builtin___clear_cache(start, start + segment->p_memsz);
    }
}

static void call_all(const tenon_image* image, tenon_elf_table table, bool backwards)
{
    typedef void (*function)(void);
    size_t count = table.bytes / sizeof(function);
    const function* all = tenon_elf_at(image, table.at, count * sizeof(function), PF_R);
    for (size_t i = 0; all && i < count; ++i) {
        function call = all[backwards ? count - 1 - i : i];
        if (call && (uintptr_t)call != UINTPTR_MAX) call();
    }
}

static int load(tenon_image* image, int fd)
{
    struct stat about;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
        return tenon_fail("this is no regular file");
    if (read_headers(image, fd) != 0 || reserve(image, (size_t)about.st_size, page) != 0 ||
        map_segments(image, fd, page) != 0 || tenon_elf_read_dynamic(image) != 0 ||
        tenon_elf_relocate(image) != 0)
        return -1;
    seal(image, page);
    tenon_elf_debug_add(image, fd);
    return 0;
}

static void unmap(tenon_image* image)
{
    tenon_elf_debug_remove(image);
    if (image->memory) munmap(image->memory, image->span);
    free(image);
}

tenon_image* tenon_image_open(const char* path)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait for a writer */
    if (fd < 0) {
        tenon_fail("cannot load `%s`: %s", path, strerror(errno));
        return NULL;
    }
    const bool is_file = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    tenon_image* image = calloc(1, sizeof *image);
    int status = !is_file ? tenon_fail("not a regular file")
                 : image  ? load(image, fd)
                          : tenon_fail("out of memory for a module");
    close(fd);
    if (status != 0) {
        char context[1200];
        snprintf(context, sizeof context, "cannot load `%s`", path);
        tenon_fail_within(context);
        if (image) unmap(image);
        return NULL;
    }
    call_all(image, image->constructors, false);
    return image;
}

void tenon_image_close(tenon_image* image)
{
    call_all(image, image->destructors, true);
    unmap(image);
}

void* tenon_image_symbol(const tenon_image* image, const char* name, size_t* size)
{
    for (size_t i = 1; i < image->symbol_count; ++i) {
        const ElfW(Sym)* symbol = &image->symbols[i];
        if (symbol->st_shndx == SHN_UNDEF) continue;
        const char* found = tenon_elf_name(image, symbol->st_name);
        if (!found || strcmp(found, name) != 0) continue;
        if (size) *size = symbol->st_size ? symbol->st_size : SIZE_MAX;
        return image->bias + symbol->st_value;
    }
    return NULL;
}
