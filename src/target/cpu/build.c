/* SPDX-License-Identifier: Apache-2.0
 * Source to module: a temporary folder of our own, one translation unit for all modules of a call,
 * the compiler, and a look at what it left (its exit status alone proves nothing). The folder is
 * gone before build returns; a loaded object needs no file. What a context keeps from an earlier
 * process is loaded instead (base/shelf.h).
 */
#include "base/fs.h"
#include "emit/emit.h"
#include "loop/legalize.h"
#include "target/codes.h"
#include "target/cpu/cpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ARGS = 24 };

#define V4 "-march=x86-64-v4"
#define V3 "-march=x86-64-v3"
#define WIDE "-mprefer-vector-width=512"
static const twi_cpu_machine machines[] = {
    {"avx512",
     "",
     {V4, WIDE},
     V4 " " WIDE,
     "defined __AVX512F__ && defined __AVX512VL__ && defined __AVX512BW__ && defined __AVX512DQ__"},
    {"avx2", "", {V3, NULL}, V3, "defined __AVX2__ && defined __FMA__"},
    {"neon", "aarch64", {NULL, NULL}, "", "defined __aarch64__"},
    {"baseline", "", {NULL, NULL}, "", ""},
};

const twi_cpu_machine *twi_cpu_machine_of(const char *isa) {
    for (unsigned i = 0; i < sizeof machines / sizeof *machines; i++)
        if (strcmp(isa, machines[i].isa) == 0)
            return &machines[i];
    return NULL;
}

const twi_cpu_extra twi_cpu_extras[TWI_CPU_EXTRAS] = {
    {TW_I8, 4, "-mavx512vnni", "defined __AVX512VNNI__"},
    {TW_BF16, 2, "-mavx512bf16", "defined __AVX512BF16__"},
    {TW_BF16, 32, "-mamx-bf16", "(defined __AMX_BF16__ || defined __AMXBF16__)"},
};

bool twi_cpu_has_extra(const twi_caps *caps, unsigned k) {
    const bool has[TWI_CPU_EXTRAS] = {caps->dpi8, caps->dpbf16, caps->tdpbf16};
    return has[k];
}

static void command(const twi_cpu *cpu, const char *source, const char *product,
                    const char *argv[MOST_ARGS]) {
    static const char *const fixed[] = {"-std=gnu11",
                                        "-shared",
                                        "-fPIC",
                                        "-ffp-contract=off",
                                        "-fwrapv",
                                        "-fno-math-errno",
                                        "-fno-trapping-math",
                                        "-fno-strict-aliasing"};
    const char *isa = twi_text(&cpu->base.ctx->names, cpu->base.caps.isa);
    unsigned n = 0;
    argv[n++] = cpu->compiler;
    argv[n++] = cpu->clang ? "-O3" : "-O2"; /* gcc's -O3 takes tiles out of registers */
    for (unsigned i = 0; i < sizeof fixed / sizeof *fixed; i++)
        argv[n++] = fixed[i];
    const twi_cpu_machine *machine = twi_cpu_machine_of(isa);
    for (unsigned k = 0; machine && k < 2 && machine->flag[k]; k++)
        argv[n++] = machine->flag[k];
    for (unsigned k = 0; k < TWI_CPU_EXTRAS; k++)
        if (twi_cpu_has_extra(&cpu->base.caps, k))
            argv[n++] = twi_cpu_extras[k].flag;
    argv[n++] = "-o";
    argv[n++] = product;
    argv[n++] = source;
    argv[n++] = "-lm";
    argv[n] = NULL;
}

/* A name for function f of module k: several plans of one kernel share a unit. */
static const char *unit_name(twi_arena *arena, const char *name, unsigned k, unsigned n) {
    return n == 1 ? name : twi_format(arena, "%s_m%u", name, k);
}

static const twi_loop *legal(twi_target *t, const twi_loop *loop, twi_arena *arena) {
    return twi_legalize(loop, arena, &t->caps);
}

void twi_cpu_source(twi_target *t, const twi_loop *loop, twi_sb *out) {
    twi_emit(legal(t, loop, out->arena), &twi_dialect_c, out);
}

static bool explicit_lanes(twi_target *t, const twi_loop *loop) {
    for (uint32_t i = 0; i < loop->func.n; i++) {
        if (loop->func.at[i].explicit_lanes)
            continue;
        twi_error(&t->ctx->diags, TWI_E_LANES, (twi_loc){0, 0}, NULL,
                  "%s is made for implicit lanes; the target cpu has explicit ones",
                  twi_text(&t->ctx->names, loop->func.at[i].name));
        return false;
    }
    return true;
}

static void add_module(const twi_loop *lawful, unsigned k, unsigned n, twi_sb *out) {
    const char *name;
    for (uint32_t i = 0; n > 1 && i < lawful->func.n; i++) {
        name = twi_emit_name(lawful, &twi_dialect_c, i, out->arena);
        twi_sb_printf(out, "#define %s %s\n", name, unit_name(out->arena, name, k, n));
    }
    twi_emit(lawful, &twi_dialect_c, out);
    for (uint32_t i = 0; n > 1 && i < lawful->func.n; i++)
        twi_sb_printf(out, "#undef %s\n", twi_emit_name(lawful, &twi_dialect_c, i, out->arena));
}

typedef struct {
    char folder[PATH_MAX], source[PATH_MAX], product[PATH_MAX];
} places;

static bool fail_temporary(tw_context *ctx, const char *what, int error) {
    twi_error(&ctx->diags, TWI_E_TEMPORARY, (twi_loc){0, 0},
              "TMPDIR names the folder for temporary files", "%s: %s", what, strerror(error));
    return false;
}

static bool make_places(tw_context *ctx, places *p) {
    const char *base = ctx->env.tmpdir ? ctx->env.tmpdir : "/tmp";
    const int n = snprintf(p->folder, sizeof p->folder - 16, "%s/tilewright-XXXXXX", base);
    if (n < 0 || (size_t)n >= sizeof p->folder - 16)
        return fail_temporary(ctx, base, ENAMETOOLONG);
    if (!mkdtemp(p->folder))
        return fail_temporary(ctx, p->folder, errno);
    memcpy(p->source, p->folder, (size_t)n);
    memcpy(p->source + n, "/unit.c", 8);
    memcpy(p->product, p->folder, (size_t)n);
    memcpy(p->product + n, "/unit.so", 9);
    return true;
}

/* The start of an ELF file for shared objects (or, on other systems, anything that is no text). */
static bool looks_loadable(const char *path) {
    unsigned char head[18] = {0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t got = read(fd, head, sizeof head);
    (void)close(fd);
    return got == (ssize_t)sizeof head && memcmp(head, "\177ELF", 4) == 0 &&
           (head[16] == 3 || head[17] == 3); /* ET_DYN in either byte order */
}

static void report(twi_cpu *cpu, int code, const char *what, const twi_tool_result *r) {
    tw_context *ctx = cpu->base.ctx;
    twi_error(&ctx->diags, (uint16_t)code, (twi_loc){0, 0}, NULL, "%s %s%s%s", cpu->compiler, what,
              r->n ? "; it said:\n" : " and said nothing", r->log);
}

void twi_cpu_tool(const twi_cpu *cpu, const char *const *argv, const char *tmpdir,
                  twi_tool_result *r) {
    tw_context *ctx = cpu->base.ctx;
    twi_hold(ctx);
    twi_tool_run(argv,
                 &(twi_tool_way){.limit_ms = cpu->limit_ms,
                                 .tmpdir = tmpdir,
                                 .stop = ctx->interrupt ? &ctx->interrupt->asked : NULL,
                                 .grouped = ctx->grouped},
                 r);
    twi_let_go(ctx);
}

bool twi_cpu_stopped(twi_cpu *cpu) {
    twi_error(&cpu->base.ctx->diags, TWI_E_STOPPED, (twi_loc){0, 0}, NULL,
              "interrupted before there was anything to run");
    return false;
}

static bool compile(twi_cpu *cpu, const places *p) {
    const char *argv[MOST_ARGS];
    twi_tool_result r;
    struct stat st;
    command(cpu, p->source, p->product, argv);
    twi_cpu_tool(cpu, argv, p->folder, &r);
    const bool left = stat(p->product, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
    if (r.error)
        twi_error(&cpu->base.ctx->diags, TWI_E_BAD_COMPILER, (twi_loc){0, 0}, NULL,
                  "the compiler %s cannot be started: %s", cpu->compiler, strerror(r.error));
    else if (r.stopped)
        return twi_cpu_stopped(cpu);
    else if (r.timed_out)
        report(cpu, TWI_E_HANGS,
               twi_format(&cpu->base.ctx->arena, "did not end within %lld ms",
                          (long long)cpu->limit_ms),
               &r);
    else if (r.known && r.status != 0)
        report(cpu, TWI_E_COMPILE,
               twi_format(&cpu->base.ctx->arena, "refused the emitted source (exit status %d)",
                          r.status),
               &r);
    else if (!left)
        report(cpu, TWI_E_NO_PRODUCT, "ended without leaving a shared object", &r);
    else if (!looks_loadable(p->product))
        report(cpu, TWI_E_BAD_PRODUCT, "left something that is no shared object", &r);
    else
        return true;
    return false;
}

static bool fail_load(twi_cpu *cpu) {
    const char *why = dlerror();
    twi_error(&cpu->base.ctx->diags, TWI_E_LOAD, (twi_loc){0, 0}, NULL,
              "what %s made cannot be loaded: %s", cpu->compiler, why ? why : "no reason given");
    return false;
}

/* Code with tiles runs where the system lets this process have them. */
static bool may_run(twi_cpu *cpu, const char *text) {
    if (!strstr(text, "tw_tiles_for(") || twi_cpu_take_tiles())
        return true;
    twi_error(&cpu->base.ctx->diags, TWI_E_LOAD, (twi_loc){0, 0},
              "a larger signal stack, or --pin 'value ..: atom fma' of the dot",
              "the system gives this process no AMX tiles (arch_prctl), which the plan needs");
    return false;
}

static size_t module_size(uint32_t n) { return sizeof(twi_cpu_module) + n * sizeof(twi_cpu_func); }

/* Everything that a module holds comes from the context's memory, so that it can be given back. */
static twi_cpu_module *new_module(twi_cpu *cpu, const twi_loop *loop, const twi_loop *lawful,
                                  twi_library *library) {
    twi_mem *mem = &cpu->base.ctx->mem;
    twi_cpu_module *m = twi_mem_get(mem, module_size(lawful->func.n));
    uint64_t scratch = 0;
    *m = (twi_cpu_module){.base = {&cpu->base, loop}, .library = library, .n = lawful->func.n};
    for (uint32_t i = 0; i < m->n; i++) {
        m->func[i] = (twi_cpu_func){NULL, twi_emit_scratch(&lawful->func.at[i])};
        scratch = m->func[i].scratch > scratch ? m->func[i].scratch : scratch;
    }
    twi_buffers_init(&m->scratch, scratch);
    library->users++;
    return m;
}

static bool find_functions(twi_cpu_module *m, const twi_loop *lawful, unsigned k, unsigned n,
                           twi_arena *arena) {
    for (uint32_t i = 0; i < m->n; i++) {
        const char *name = twi_emit_name(lawful, &twi_dialect_c, i, arena);
        void *symbol = dlsym(m->library->handle, unit_name(arena, name, k, n));
        if (!symbol)
            return false;
        memcpy(&m->func[i].fn, &symbol, sizeof symbol); /* POSIX: data pointers hold functions */
    }
    return true;
}

void twi_cpu_release(twi_module *base) {
    if (!base)
        return;
    twi_cpu_module *m = (twi_cpu_module *)base;
    twi_mem *mem = &base->target->ctx->mem;
    if (--m->library->users == 0) {
        if (m->library->handle)
            (void)dlclose(m->library->handle);
        twi_mem_put(mem, m->library, sizeof *m->library);
    }
    twi_buffers_fini(&m->scratch);
    twi_mem_put(mem, m, module_size(m->n));
}

/* One call of build: what must be let go if memory runs out on the way. */
typedef struct {
    twi_cpu *cpu;
    twi_arena arena;
    places places;
    bool placed;
    twi_library *library;
    void *handle; /* until the library has it */
    const twi_loop **lawful;
    twi_module **out;
    unsigned n;
} unit;

static void release_all(unit *u) {
    for (unsigned k = 0; k < u->n; k++) {
        twi_cpu_release(u->out[k]);
        u->out[k] = NULL;
    }
}

static void drop(unit *u) {
    if (u->placed)
        twi_remove_tree(u->places.folder);
    if (u->handle)
        (void)dlclose(u->handle);
    twi_arena_fini(&u->arena);
}

/* All that an object depends on: which compiler, told what, of which text. */
enum { PARTS = 3 };
static void parts_of(unit *u, const char *text, size_t n, twi_shelf_part part[PARTS]) {
    const char *argv[MOST_ARGS];
    twi_sb words;
    twi_sb_init(&words, &u->arena);
    command(u->cpu, "", "", argv);
    twi_sb_printf(&words, "%s ", u->cpu->file);
    for (unsigned k = 1; argv[k]; k++)
        twi_sb_printf(&words, "%s ", argv[k]);
    part[0] = (twi_shelf_part){u->cpu->base.version, strlen(u->cpu->base.version)};
    part[1] = (twi_shelf_part){twi_sb_text(&words), words.n};
    part[2] = (twi_shelf_part){text, n};
}

/* An object that an earlier process kept. One that cannot be loaded is made anew. */
static bool load_kept(unit *u, const twi_shelf_part part[PARTS]) {
    const twi_shelf *shelf = u->cpu->base.ctx->shelf;
    char path[TWI_SHELF_PATH];
    if (!shelf || shelf->rebuild || !shelf->object(shelf->user, part, PARTS, path))
        return false;
    u->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return u->handle != NULL;
}

/* Source text to loaded object, in u->handle. */
static bool make_object(unit *u, const char *text, size_t n) {
    tw_context *ctx = u->cpu->base.ctx;
    twi_shelf_part part[PARTS];
    parts_of(u, text, n, part);
    if (!may_run(u->cpu, text))
        return false;
    if (load_kept(u, part))
        return true;
    u->placed = make_places(ctx, &u->places);
    if (!u->placed)
        return false;
    const int error = twi_write_file(u->places.source, text, n);
    if (error)
        return fail_temporary(ctx, u->places.source, error);
    if (!compile(u->cpu, &u->places))
        return false;
    u->handle = dlopen(u->places.product, RTLD_NOW | RTLD_LOCAL);
    if (u->handle && ctx->shelf)
        ctx->shelf->add_object(ctx->shelf->user, part, PARTS, u->places.product);
    return u->handle || fail_load(u->cpu);
}

/* The text of all modules; *n: its length. */
static const char *print_unit(unit *u, const twi_loop *const *loop, const twi_printed *had,
                              size_t *n) {
    twi_sb text;
    u->lawful = TWI_NEW_N(&u->arena, const twi_loop *, u->n);
    if (had && u->n == 1 && had->loop == loop[0] && had->dialect == &twi_dialect_c) {
        u->lawful[0] = had->lawful;
        *n = had->n;
        return had->text;
    }
    twi_sb_init(&text, &u->arena);
    for (unsigned k = 0; k < u->n; k++) {
        u->lawful[k] = legal(&u->cpu->base, loop[k], &u->arena);
        add_module(u->lawful[k], k, u->n, &text);
    }
    *n = text.n;
    return twi_sb_text(&text);
}

static tw_status build_unit(unit *u, const twi_loop *const *loop, const twi_printed *printed) {
    tw_context *ctx = u->cpu->base.ctx;
    size_t n;
    const char *text = print_unit(u, loop, printed, &n);
    if (twi_interrupted(ctx) ? !twi_cpu_stopped(u->cpu) : !make_object(u, text, n))
        return TW_ERR_ENV;
    u->library = twi_mem_get(&ctx->mem, sizeof *u->library);
    *u->library = (twi_library){u->handle, 1}; /* one user: this call */
    u->handle = NULL;
    for (unsigned k = 0; k < u->n; k++) {
        twi_cpu_module *m = new_module(u->cpu, loop[k], u->lawful[k], u->library);
        u->out[k] = &m->base;
        if (!find_functions(m, u->lawful[k], k, u->n, &u->arena)) {
            (void)fail_load(u->cpu);
            return TW_ERR_ENV;
        }
    }
    return TW_OK;
}

/* The call's own hold on the library ends. */
static void leave_library(unit *u) {
    if (u->library && --u->library->users == 0) {
        (void)dlclose(u->library->handle);
        twi_mem_put(&u->cpu->base.ctx->mem, u->library, sizeof *u->library);
    }
}

tw_status twi_cpu_build(twi_target *t, const twi_loop *const *loop, unsigned n,
                        const twi_printed *printed, twi_module **out) {
    unit u = {.cpu = (twi_cpu *)t, .out = out, .n = n};
    jmp_buf spot, *saved;
    memset(out, 0, n * sizeof(twi_module *));
    for (unsigned k = 0; k < n; k++)
        if (!explicit_lanes(t, loop[k]))
            return TW_ERR_INPUT;
    if (!twi_cpu_find_compiler(u.cpu))
        return TW_ERR_ENV;
    twi_arena_init(&u.arena, &t->ctx->mem);
    twi_hold(t->ctx);
    if (TWI_GUARD(&t->ctx->mem, spot, saved)) {
        TWI_UNGUARD(&t->ctx->mem, saved);
        release_all(&u);
        leave_library(&u);
        drop(&u);
        twi_let_go(t->ctx);
        twi_mem_fail(&t->ctx->mem);
    }
    const tw_status status = n ? build_unit(&u, loop, printed) : TW_OK;
    TWI_UNGUARD(&t->ctx->mem, saved);
    if (status != TW_OK)
        release_all(&u);
    leave_library(&u);
    drop(&u);
    twi_let_go(t->ctx);
    return status;
}
