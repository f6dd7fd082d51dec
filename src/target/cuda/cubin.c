/* SPDX-License-Identifier: Apache-2.0
 * Reading a cubin: a little-endian ELF64 image. Shared bytes and code are sizes of the sections
 * .nv.shared.KERNEL and .text.KERNEL; registers and stack stand in .nv.info as attributes (kind,
 * attribute, size, then symbol and value). Every offset is checked: images may be cut.
 */
#include "target/cuda/cubin.h"

#include <string.h>

enum { HEADER = 64, SECTION = 64, SYMBOL = 24, MACHINE_CUDA = 190 };
enum { OF_MACHINE = 18, OF_SECTIONS = 40, OF_SECTION_COUNT = 60, OF_NAMES = 62 };
enum { KIND_SYMTAB = 2, KIND_NOBITS = 8, KIND_INFO = 0x70000000 };
enum { FORM_SIZED = 4, ATTR_FRAME = 0x11, ATTR_REGISTERS = 0x2f };

typedef struct {
    const unsigned char *at;
    size_t n;
} bytes;

typedef struct {
    uint32_t name, kind, link;
    uint64_t size;
    bytes content; /* empty for NOBITS */
} section;

typedef struct {
    bytes image, names;
    uint64_t table;
    unsigned sections;
} elf;

static uint64_t number(const unsigned char *at, unsigned size) {
    uint64_t v = 0;
    for (unsigned k = 0; k < size; k++)
        v |= (uint64_t)at[k] << 8 * k;
    return v;
}

static bool part(bytes whole, uint64_t from, uint64_t n, bytes *out) {
    if (from > whole.n || n > whole.n - from)
        return false;
    *out = (bytes){whole.at + from, (size_t)n};
    return true;
}

static bool section_at(const elf *e, unsigned k, section *s) {
    bytes head;
    if (k >= e->sections || !part(e->image, e->table + (uint64_t)k * SECTION, SECTION, &head))
        return false;
    *s = (section){.name = (uint32_t)number(head.at, 4),
                   .kind = (uint32_t)number(head.at + 4, 4),
                   .link = (uint32_t)number(head.at + 40, 4),
                   .size = number(head.at + 32, 8)};
    return s->kind == KIND_NOBITS || part(e->image, number(head.at + 24, 8), s->size, &s->content);
}

static bool open_elf(elf *e, const void *image, size_t n) {
    section names;
    *e = (elf){.image = {image, n}};
    if (n < HEADER || memcmp(image, "\177ELF\2\1", 6) != 0 ||
        number(e->image.at + OF_MACHINE, 2) != MACHINE_CUDA)
        return false;
    e->table = number(e->image.at + OF_SECTIONS, 8);
    e->sections = (unsigned)number(e->image.at + OF_SECTION_COUNT, 2);
    if (e->table > n || !section_at(e, (unsigned)number(e->image.at + OF_NAMES, 2), &names))
        return false;
    e->names = names.content;
    return true;
}

/* Is the string at an offset of a table prefix + name? */
static bool is_named(bytes table, uint32_t at, const char *prefix, const char *name) {
    const size_t p = strlen(prefix), n = strlen(name) + 1;
    bytes text;
    return part(table, at, p + n, &text) && memcmp(text.at, prefix, p) == 0 &&
           memcmp(text.at + p, name, n) == 0;
}

/* Number of the kernel's symbol; 0: none. */
static uint32_t find_symbol(const elf *e, const char *kernel) {
    section table, strings;
    for (unsigned k = 0; k < e->sections; k++) {
        if (!section_at(e, k, &table) || table.kind != KIND_SYMTAB ||
            !section_at(e, table.link, &strings))
            continue;
        for (uint32_t i = 1; i < table.content.n / SYMBOL; i++) {
            const unsigned char *s = table.content.at + (size_t)i * SYMBOL;
            if ((s[4] & 15) == 2 && /* a function */
                is_named(strings.content, (uint32_t)number(s, 4), "", kernel))
                return i;
        }
    }
    return 0;
}

static bool read_attributes(bytes info, uint32_t symbol, twi_cubin_figures *f) {
    bool known = false;
    for (size_t at = 0; at + 4 <= info.n;) {
        const unsigned char *a = info.at + at;
        const size_t size = a[0] == FORM_SIZED ? (size_t)number(a + 2, 2) : 0;
        if (size > info.n - at - 4)
            return false;
        if (size == 8 && number(a + 4, 4) == symbol) {
            const uint32_t value = (uint32_t)number(a + 8, 4);
            known = known || a[1] == ATTR_REGISTERS;
            if (a[1] == ATTR_REGISTERS)
                f->registers = value;
            if (a[1] == ATTR_FRAME)
                f->local = value;
        }
        at += 4 + size;
    }
    return known;
}

bool twi_cubin_read(const void *image, size_t n, const char *kernel, twi_cubin_figures *figures) {
    elf e;
    section s;
    bool known = false;
    *figures = (twi_cubin_figures){0};
    if (!open_elf(&e, image, n))
        return false;
    const uint32_t symbol = find_symbol(&e, kernel);
    for (unsigned k = 1; symbol && k < e.sections; k++) {
        if (!section_at(&e, k, &s))
            return false;
        if (is_named(e.names, s.name, ".text.", kernel))
            figures->code = (uint32_t)s.size;
        if (is_named(e.names, s.name, ".nv.shared.", kernel))
            figures->shared = (uint32_t)s.size;
        if (s.kind == KIND_INFO && is_named(e.names, s.name, ".nv.info", ""))
            known = read_attributes(s.content, symbol, figures) || known;
    }
    return known && figures->code > 0;
}
