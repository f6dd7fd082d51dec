/* SPDX-License-Identifier: Apache-2.0
 * What this machine has: instruction sets from the kernel's own list (/proc/cpuinfo), and the
 * compiler by starting it.
 */
#define _DEFAULT_SOURCE /* syscall */

#include "base/cores.h"
#include "base/fs.h"
#include "target/codes.h"
#include "target/cpu/cpu.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined __linux__ && defined __x86_64__
#include <sys/syscall.h>
#endif

#if defined __x86_64__
#define BUILT_FOR "x86-64"
#elif defined __aarch64__
#define BUILT_FOR "aarch64"
#else
#define BUILT_FOR ""
#endif

/* Best first. The flags of a row are those that gcc's and clang's -march level of the same meaning
 * needs; a process of aarch64 has NEON. The architecture is asked of the build, since an emulator
 * may show the host's list. */
static const struct {
    const char *isa, *caps, *arch, *flags[12];
} levels[] = {
    {"avx512",
     "cpu-avx512",
     "x86-64",
     {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx2", "fma", "f16c", "bmi1",
      "bmi2", "movbe"}},
    {"avx2", "cpu-avx2", "x86-64", {"avx2", "fma", "f16c", "bmi1", "bmi2", "movbe", "abm"}},
    {"neon", "cpu-neon", "aarch64", {NULL}},
    {"baseline", "cpu-baseline", NULL, {NULL}},
};
enum { LEVELS = sizeof levels / sizeof *levels };

/* Is `word` one of the words of the line that starts with "flags" or "Features"? */
static bool has_flag(const char *text, const char *word) {
    const char *line = strstr(text, "flags");
    if (!line)
        line = strstr(text, "Features");
    if (!line)
        return false;
    const char *end = line + strcspn(line, "\n");
    const size_t n = strlen(word);
    const char *at = strstr(line, word);
    while (at && at < end && !(strchr(" \t:", at[-1]) && strchr(" \t:\n", at[n])))
        at = strstr(at + 1, word);
    return at && at < end;
}

static bool has_level(const char *text, unsigned level) {
    if (levels[level].arch && strcmp(levels[level].arch, BUILT_FOR) != 0)
        return false;
    for (unsigned k = 0; k < 12 && levels[level].flags[k]; k++)
        if (!has_flag(text, levels[level].flags[k]))
            return false;
    return true;
}

/* Tiles are state that a process asks its kernel for; its children have it too. That changes the
 * process (signal stacks must be larger), so that what is only looked at is what there is. */
#if defined __linux__ && defined __x86_64__
enum { SUPPORTED_STATES = 0x1021, REQUEST_STATE = 0x1023, TILES = 18 }; /* of arch_prctl */
static bool has_tiles(void) {
    uint64_t states = 0;
    return syscall(SYS_arch_prctl, SUPPORTED_STATES, &states) == 0 && states >> TILES & 1;
}
bool twi_cpu_take_tiles(void) { return syscall(SYS_arch_prctl, REQUEST_STATE, TILES) == 0; }
#else
static bool has_tiles(void) { return false; }
bool twi_cpu_take_tiles(void) { return false; }
#endif

const char *twi_cpu_record(const char *isa) {
    for (unsigned i = 0; i < LEVELS; i++)
        if (strcmp(isa, levels[i].isa) == 0)
            return levels[i].caps;
    return NULL;
}

/* The first processor's part of /proc/cpuinfo, which has one for each and takes the system as long
 * to write: asked for once. */
static const char *first_processor(tw_context *ctx) {
    if (!ctx->processor) {
        const twi_mark mark = twi_arena_mark(&ctx->arena);
        char *text;
        size_t n;
        const bool there = twi_read_file(&ctx->arena, "/proc/cpuinfo", &text, &n) == 0;
        const char *end = there ? strstr(text, "\n\n") : NULL;
        ctx->processor = there ? twi_intern(&ctx->names, text, end ? (size_t)(end - text) : n)
                               : twi_intern_str(&ctx->names, "unknown");
        twi_arena_reset(&ctx->arena, mark);
    }
    return twi_text(&ctx->names, ctx->processor);
}

/* Of the levels that this machine has, the one asked for, or the best; LEVELS: it lacks that. */
static unsigned level_of(const char *text, const char *isa) {
    for (unsigned i = 0; i < LEVELS; i++)
        if (has_level(text, i) && (!isa || strcmp(isa, levels[i].isa) == 0))
            return i;
    return LEVELS;
}

bool twi_cpu_has(tw_context *ctx, const char *isa) {
    return level_of(first_processor(ctx), isa) < LEVELS;
}

bool twi_cpu_caps(tw_context *ctx, const char *isa, twi_caps *caps) {
    const char *text = first_processor(ctx);
    const unsigned level = level_of(text, isa);
    if (level == LEVELS) {
        twi_error(&ctx->diags, TWI_E_BAD_ISA, (twi_loc){0, 0}, NULL,
                  "this machine has no instruction set '%.200s'", isa);
        return false;
    }
    const bool dots = strcmp(levels[level].isa, "avx512") == 0;
    const bool has[] = {dots && has_flag(text, "avx512_vnni"),
                        dots && has_flag(text, "avx512_bf16"),
                        dots && has_flag(text, "amx_bf16") && has_tiles()};
    if (!twi_caps_named(ctx, levels[level].caps, caps))
        return false;
    caps->dpi8 = has[0];
    caps->dpbf16 = has[1];
    caps->tdpbf16 = has[2];
    caps->units = (uint32_t)twi_cores();
#ifdef _SC_LEVEL2_CACHE_SIZE
    const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    caps->cache_bytes = cache > 0 && cache <= INT32_MAX ? (uint32_t)cache : caps->cache_bytes;
#endif
    return true;
}

const char *twi_cpu_model(tw_context *ctx) {
    static const char *const names[] = {"model name", "CPU part"};
    const char *text = first_processor(ctx);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        const char *at = strstr(text, names[k]);
        at = at ? strchr(at, ':') : NULL;
        if (at) {
            at += 1 + strspn(at + 1, " \t");
            return twi_strndup(&ctx->arena, at, strcspn(at, "\n"));
        }
    }
    return "";
}

/* Finds the program's file, and says what changes when it is replaced; false: not found. */
static bool identity(twi_cpu *cpu, const char *program, char text[TWI_SHELF_PATH]) {
    tw_context *ctx = cpu->base.ctx;
    char path[PATH_MAX];
    struct stat st;
    cpu->file = "";
    if (!twi_tool_find(program, ctx->env.path, path) || stat(path, &st) != 0)
        return false;
    cpu->file = twi_text(&ctx->names, twi_intern_str(&ctx->names, path));
    const int n =
        snprintf(text, TWI_SHELF_PATH, "%s %lld %lld.%09ld %llu", path, (long long)st.st_size,
                 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (unsigned long long)st.st_ino);
    return n > 0 && n < TWI_SHELF_PATH;
}

/* The first line that `compiler --version` prints; false: it cannot be started, or hangs. A context
 * that keeps things asks a program once. */
static bool ask_version(twi_cpu *cpu, const char *compiler, twi_tool_result *r) {
    const char *const argv[] = {compiler, "--version", NULL};
    tw_context *ctx = cpu->base.ctx;
    twi_shelf *shelf = ctx->shelf;
    char file[TWI_SHELF_PATH];
    const bool known = shelf && identity(cpu, compiler, file);
    const twi_mark mark = twi_arena_mark(&ctx->arena);
    const char *memo = known ? shelf->memo(shelf->user, &ctx->arena, file) : NULL;
    const bool kept = memo && strlen(memo) < sizeof r->log;
    if (kept) {
        *r = (twi_tool_result){.known = true, .n = strlen(memo)};
        memcpy(r->log, memo, r->n + 1);
    }
    twi_arena_reset(&ctx->arena, mark);
    if (kept)
        return true;
    twi_cpu_tool(cpu, argv, NULL, r);
    r->log[strcspn(r->log, "\n")] = 0;
    const bool answers = r->error == 0 && !r->timed_out && !r->stopped;
    if (known && answers && r->status == 0 && *r->log)
        (void)shelf->add_memo(shelf->user, file, r->log);
    return answers;
}

bool twi_cpu_find_compiler(twi_cpu *cpu) {
    static const char *const usual[] = {"cc", "gcc", "clang"};
    tw_context *ctx = cpu->base.ctx;
    const char *one[] = {cpu->compiler};
    const char *const *names = cpu->given ? one : usual;
    twi_tool_result r = {0};
    if (cpu->compiler && *cpu->base.version)
        return true;
    for (unsigned i = 0; i < (cpu->given ? 1u : 3u); i++) {
        const bool answers = ask_version(cpu, names[i], &r);
        if (r.stopped)
            return twi_cpu_stopped(cpu);
        if (!answers && r.timed_out) {
            twi_error(&ctx->diags, TWI_E_HANGS, (twi_loc){0, 0}, NULL,
                      "%s --version did not end within %lld ms", names[i],
                      (long long)cpu->limit_ms);
            return false;
        }
        if (answers) {
            cpu->compiler = names[i];
            cpu->base.version =
                r.n ? twi_text(&ctx->names, twi_intern_str(&ctx->names, r.log)) : "unknown";
            cpu->clang = strstr(r.log, "clang") != NULL;
            return true;
        }
    }
    if (cpu->given)
        twi_error(&ctx->diags, TWI_E_BAD_COMPILER, (twi_loc){0, 0},
                  "TILEWRIGHT_CC names the program itself, without options",
                  "the compiler %s cannot be started: %s", cpu->compiler, strerror(r.error));
    else
        twi_error(&ctx->diags, TWI_E_NO_COMPILER, (twi_loc){0, 0},
                  "install gcc or clang, or let TILEWRIGHT_CC name one",
                  "no C compiler: cc, gcc and clang are not in PATH");
    return false;
}
