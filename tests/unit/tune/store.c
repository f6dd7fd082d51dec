/* SPDX-License-Identifier: Apache-2.0
 * The store from C: where it may be, what comes back, whom it is for.
 */
#include "tune/store.h"
#include "base/fs.h"
#include "base/hash.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct {
    tw_context *ctx;
    char folder[64];
    tw_store *store;
} place;

static int start(void **state) {
    place *p = calloc(1, sizeof *p);
    tw_store *store = NULL;
    strcpy(p->folder, "/tmp/tilewright-store-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    p->ctx = tw_context_create(NULL);
    assert_int_equal(tw_store_open(p->ctx, p->folder, TW_STORE_WRITE, &store), TW_OK);
    p->store = store;
    *state = p;
    return 0;
}

static int end(void **state) {
    place *p = *state;
    tw_store_close(p->store);
    tw_context_destroy(p->ctx);
    twi_remove_tree(p->folder);
    free(p);
    return 0;
}

static const char text[] = "plan k/0 class=free\nframe f: r = grid 4\n";

static twi_wisdom row(tw_context *ctx, const char *tile_text, const char *plan_text) {
    char *tile = twi_alloc(&ctx->arena, 65);
    twi_sha256(&(twi_shelf_part){tile_text, strlen(tile_text)}, 1, tile);
    return (twi_wisdom){
        .tile = tile,
        .numeric = "free",
        .target = "cpu",
        .device = "this one",
        .compiler = "cc 1",
        .emitter = TW_VERSION,
        .plan = twi_format(&ctx->arena, "%016llx",
                           (unsigned long long)twi_hash(plan_text, strlen(plan_text), 0)),
        .kernel = "k",
        .spec = "R=4",
        .text = plan_text,
        .source = "00000000000000ab",
        .verdict = "right",
        .note = "a\tb\\c",
        .samples = "1.5 - 2.5",
        .median_ns = 1.5,
        .ratio = (double)NAN,
        .confirm_ns = 0.1,
        .best = 1};
}

static bool find(const place *p, const char *compiler, int threads, twi_kept_plan *out) {
    const twi_plan_key key = {"tile", "free", "cpu", "this one", compiler, threads};
    const twi_shelf *shelf = p->ctx->shelf;
    return shelf->plan(shelf->user, &p->ctx->arena, &key, out);
}

static void plans(void **state) {
    const place *p = *state;
    twi_kept_plan kept;
    twi_wisdom w = row(p->ctx, "tile", text);
    assert_false(find(p, "cc 1", 0, &kept));
    assert_true(twi_wisdom_write(p->store, &w, 1));
    assert_true(find(p, "cc 1", 0, &kept));
    assert_string_equal(kept.text, text);
    assert_int_equal(kept.source, 0xab);
    assert_true(find(p, NULL, 0, &kept));
    assert_false(find(p, "cc 2", 0, &kept));
    assert_false(find(p, "cc 1", 3, &kept));
    /* another one takes its place */
    twi_wisdom other = row(p->ctx, "tile", "plan k/0 class=free\nframe f: r = loop 4\n");
    assert_true(twi_wisdom_write(p->store, &other, 1));
    assert_true(find(p, "cc 1", 0, &kept));
    assert_string_equal(kept.text, other.text);
    /* no verdict but right, and no text that is not what its name says, is ever found */
    other.verdict = "wrong";
    assert_true(twi_wisdom_write(p->store, &other, 1));
    assert_false(find(p, "cc 1", 0, &kept));
    w.text = "plan k/0 class=free\nframe f: r = grid 5\n";
    assert_true(twi_wisdom_write(p->store, &w, 1));
    assert_false(find(p, "cc 1", 0, &kept));
}

typedef struct {
    char note[32], verdict[16];
    double median, ratio;
    size_t n;
} seen;
static void see(void *user, const tw_wisdom *w) {
    seen *s = user;
    s->n++;
    (void)snprintf(s->note, sizeof s->note, "%s", w->note);
    (void)snprintf(s->verdict, sizeof s->verdict, "%s", w->verdict);
    s->median = w->median_ns;
    s->ratio = w->ratio;
    assert_string_equal(w->trust, "foreign");
}

static void to_text_and_back(void **state) {
    const place *p = *state;
    size_t taken, refused;
    twi_wisdom w = row(p->ctx, "tile", text);
    seen s = {.n = 0};
    twi_kept_plan kept;
    assert_true(twi_wisdom_write(p->store, &w, 1));
    const char *out = tw_wisdom_export(p->store);
    assert_non_null(out);
    char folder[80];
    (void)snprintf(folder, sizeof folder, "%s/other", p->folder);
    tw_context *ctx = tw_context_create(NULL);
    tw_store *store;
    assert_int_equal(tw_store_open(ctx, folder, TW_STORE_WRITE, &store), TW_OK);
    assert_int_equal(tw_wisdom_import(store, (tw_source){"t", out, strlen(out)}, &taken, &refused),
                     TW_OK);
    assert_int_equal(taken, 1);
    assert_int_equal(refused, 0);
    assert_int_equal(tw_wisdom_list(store, see, &s), TW_OK);
    assert_int_equal(s.n, 1);
    assert_string_equal(s.note, "a\tb\\c");
    assert_string_equal(s.verdict, "imported");
    assert_true(s.median == 1.5 && isnan(s.ratio));
    /* a starting point: run does not use it */
    const place there = {.ctx = ctx, .store = store};
    assert_false(find(&there, "cc 1", 0, &kept));
    /* each single byte flipped is noticed */
    const size_t head = strlen("tilewright wisdom 1\n"), n = strlen(out);
    char *bad = strdup(out);
    for (size_t k = head; k < n - 1; k++) {
        bad[k] = (char)(bad[k] ^ 1);
        tw_diag_clear(ctx);
        assert_int_equal(tw_wisdom_import(store, (tw_source){"t", bad, n}, &taken, &refused),
                         TW_OK);
        assert_int_equal(taken, 0);
        assert_true(refused >= 1);
        bad[k] = out[k];
    }
    bad[0] = 'T';
    assert_int_equal(tw_wisdom_import(store, (tw_source){"t", bad, n}, &taken, &refused),
                     TW_ERR_INPUT);
    free(bad);
    tw_store_close(store);
    tw_context_destroy(ctx);
}

static void objects(void **state) {
    const place *p = *state;
    const twi_shelf *shelf = p->ctx->shelf;
    const twi_shelf_part parts[] = {{"ab", 2}, {"c", 1}}, others[] = {{"a", 1}, {"bc", 2}};
    char path[TWI_SHELF_PATH], made[80];
    tw_store_health h;
    (void)snprintf(made, sizeof made, "%s/made", p->folder);
    assert_int_equal(twi_write_file(made, "12345", 5), 0);
    assert_false(shelf->object(shelf->user, parts, 2, path));
    shelf->add_object(shelf->user, parts, 2, made);
    assert_true(shelf->object(shelf->user, parts, 2, path));
    assert_false(shelf->object(shelf->user, others, 2, path));
    assert_int_equal(tw_store_check(p->store, &h), TW_OK);
    assert_true(h.index && h.objects == 1 && h.damaged == 0 && h.bytes == 5);
    assert_int_equal(truncate(path, 4), 0);
    assert_false(shelf->object(shelf->user, parts, 2, path));
    assert_int_equal(tw_store_gc(p->store, &h), TW_OK);
    assert_int_equal(h.damaged, 1);
    assert_int_equal(tw_store_check(p->store, &h), TW_OK);
    assert_true(h.objects == 0 && h.damaged == 0);
}

static const char *memo(const place *p) {
    const twi_shelf *shelf = p->ctx->shelf;
    return shelf->memo(shelf->user, &p->ctx->arena, "name");
}

/* Looked up twice where the index is old enough to be told from what it may become: the answer is
 * kept, the one that there is none too. */
static void assert_kept(const place *p, const char *value) {
    twi_recall *r = &p->store->recall;
    const char *own = NULL, **column = &r->at[0].column[0];
    const char *first = memo(p);
    assert_true(value ? first && strcmp(first, value) == 0 : !first);
    assert_true(r->known && r->n == 1 && r->at[0].found == (value != NULL));
    if (!value)
        return;
    own = *column;
    *column = "no transaction";
    assert_string_equal(memo(p), "no transaction");
    *column = own;
}

/* An index that was written just now is not relied on. */
static void grow_old(void) { (void)nanosleep(&(struct timespec){2, 100000000}, NULL); }

/* What the index says is asked for once, and again as soon as it may say something else: another
 * process (here another context) writes, or it is damaged, or gone. */
static void remembered(void **state) {
    const place *p = *state;
    const twi_shelf *shelf = p->ctx->shelf;
    place other = {.ctx = tw_context_create(NULL)};
    char path[96], log[112], name[8];
    (void)snprintf(path, sizeof path, "%s/index-1.db", p->folder);
    (void)snprintf(log, sizeof log, "%s-wal", path);
    assert_int_equal(tw_store_open(other.ctx, p->folder, TW_STORE_WRITE, &other.store), TW_OK);
    assert_true(shelf->add_memo(shelf->user, "another", "x"));
    assert_null(memo(p));
    assert_false(p->store->recall.known); /* written just now: the next may leave no trace */
    grow_old();
    assert_kept(p, NULL);
    assert_true(other.ctx->shelf->add_memo(other.store, "name", "one"));
    assert_string_equal(memo(p), "one");
    assert_true(other.ctx->shelf->add_memo(other.store, "name", "two"));
    assert_string_equal(memo(p), "two");
    grow_old();
    assert_kept(p, "two");
    assert_true(other.ctx->shelf->add_memo(other.store, "name", "three"));
    grow_old();
    assert_kept(p, "three");
    assert_int_equal(twi_write_file(log, "", 0), 0); /* what counts may lie beside the index */
    assert_string_equal(memo(p), "three");
    assert_false(p->store->recall.known);
    assert_int_equal(unlink(log), 0);
    for (unsigned k = 0; k < 2 * TWI_RECALLED; k++) { /* no more than there is room for */
        (void)snprintf(name, sizeof name, "%u", k);
        assert_null(shelf->memo(shelf->user, &p->ctx->arena, name));
        assert_true(p->store->recall.n <= TWI_RECALLED);
    }
    assert_string_equal(memo(p), "three");
    assert_int_equal(twi_write_file(path, "no index at all", 15), 0);
    assert_null(memo(p));
    (void)unlink(path);
    assert_null(memo(p));
    tw_store_close(other.store);
    tw_context_destroy(other.ctx);
}

/* The same of plans, by all that says whom they are for. */
static void plans_remembered(void **state) {
    const place *p = *state;
    place other = {.ctx = tw_context_create(NULL)};
    twi_kept_plan kept;
    const twi_recall *r = &p->store->recall;
    twi_wisdom w = row(p->ctx, "tile", text);
    assert_int_equal(tw_store_open(other.ctx, p->folder, TW_STORE_WRITE, &other.store), TW_OK);
    assert_true(twi_wisdom_write(other.store, &w, 1));
    grow_old();
    for (unsigned twice = 0; twice < 2; twice++) {
        assert_true(find(p, "cc 1", 0, &kept));
        assert_string_equal(kept.text, text);
        assert_int_equal(kept.hash, twi_hash(text, strlen(text), 0));
        assert_int_equal(kept.source, 0xab);
        assert_true(find(p, NULL, 0, &kept));
        assert_false(find(p, "", 0, &kept));
        assert_false(find(p, "cc 2", 0, &kept));
        assert_false(find(p, "cc 1", 3, &kept));
        assert_true(r->known && r->n == 5);
    }
    w.verdict = "wrong";
    assert_true(twi_wisdom_write(other.store, &w, 1));
    assert_false(find(p, "cc 1", 0, &kept));
    tw_store_close(other.store);
    tw_context_destroy(other.ctx);
}

static void open_folders(void **state) {
    const place *p = *state;
    tw_store *store;
    char folder[80];
    tw_context *ctx = tw_context_create(NULL);
    (void)snprintf(folder, sizeof folder, "%s/open", p->folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    for (unsigned mode = 0700; mode <= 0777; mode++) {
        assert_int_equal(chmod(folder, mode), 0);
        const tw_status status = tw_store_open(ctx, folder, TW_STORE_READ, &store);
        assert_int_equal(status, mode & 022 ? TW_ERR_ENV : TW_OK);
        tw_store_close(store);
        tw_diag_clear(ctx);
    }
    assert_int_equal(chmod(folder, 0700), 0);
    tw_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plans, start, end),
        cmocka_unit_test_setup_teardown(to_text_and_back, start, end),
        cmocka_unit_test_setup_teardown(objects, start, end),
        cmocka_unit_test_setup_teardown(remembered, start, end),
        cmocka_unit_test_setup_teardown(plans_remembered, start, end),
        cmocka_unit_test_setup_teardown(open_folders, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
