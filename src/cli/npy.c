/* SPDX-License-Identifier: Apache-2.0
 * .npy files. The header is a Python dictionary of three entries; the reader takes what NumPy
 * writes, with any spaces and in any order, and nothing else.
 */
#include "cli/npy.h"

#include <string.h>

#define MAGIC "\x93NUMPY"

#define ONE(elem) (1u << (elem))
static const struct {
    const char *descr;
    uint32_t elems;
    tw_elem writes; /* of which element type this is the spelling when written */
} descrs[] = {
    {"<f8", ONE(TW_F64), TW_F64},
    {"<f4", ONE(TW_F32), TW_F32},
    {"<f2", ONE(TW_F16), TW_F16},
    {"<i8", ONE(TW_I64), TW_I64},
    {"<i4", ONE(TW_I32), TW_I32},
    {"<i2", ONE(TW_I16), TW_I16},
    {"|i1", ONE(TW_I8), TW_I8},
    {"<i1", ONE(TW_I8), TW_NONE},
    {"<u8", ONE(TW_U64), TW_U64},
    {"<u4", ONE(TW_U32), TW_U32},
    {"<u2", ONE(TW_U16) | ONE(TW_BF16), TW_U16},
    {"<u2", ONE(TW_U16) | ONE(TW_BF16), TW_BF16},
    {"|u1", ONE(TW_U8) | ONE(TW_F8E4M3) | ONE(TW_F8E5M2), TW_U8},
    {"|u1", ONE(TW_U8) | ONE(TW_F8E4M3) | ONE(TW_F8E5M2), TW_F8E4M3},
    {"|u1", ONE(TW_U8) | ONE(TW_F8E4M3) | ONE(TW_F8E5M2), TW_F8E5M2},
    {"<u1", ONE(TW_U8), TW_NONE},
    {"|b1", ONE(TW_BOOL), TW_BOOL},
    {"<b1", ONE(TW_BOOL), TW_NONE},
    {"<V2", ONE(TW_BF16), TW_NONE},
    {"|V2", ONE(TW_BF16), TW_NONE},
    {"|V1", ONE(TW_F8E4M3) | ONE(TW_F8E5M2), TW_NONE},
};
enum { DESCRS = sizeof descrs / sizeof descrs[0] };

/* A cursor over the header's text. */
typedef struct {
    const char *at, *end;
} cursor;

static void skip(cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t'))
        c->at++;
}

static bool take(cursor *c, char wanted) {
    skip(c);
    if (c->at >= c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

static bool word(cursor *c, const char *wanted) {
    size_t n = strlen(wanted);
    skip(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, wanted, n) != 0)
        return false;
    c->at += n;
    return true;
}

static bool quoted(cursor *c, char *out, size_t cap) {
    skip(c);
    if (c->at >= c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    char quote = *c->at++;
    size_t n = 0;
    for (; c->at < c->end && *c->at != quote; c->at++)
        if (n + 1 < cap)
            out[n++] = *c->at;
    out[n] = 0;
    return take(c, quote);
}

static bool extent(cursor *c, int64_t *v) {
    skip(c);
    const char *from = c->at;
    int64_t x = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        if (x > (INT64_MAX - 9) / 10)
            return false;
        x = x * 10 + (*c->at - '0');
    }
    *v = x;
    return c->at > from;
}

static bool read_shape(cursor *c, npy *out) {
    if (!take(c, '('))
        return false;
    while (!take(c, ')')) {
        if (out->rank == 8 || !extent(c, &out->shape[out->rank]))
            return false;
        out->rank++;
        if (!take(c, ',')) {
            skip(c);
            if (c->at >= c->end || *c->at != ')')
                return false;
        }
    }
    return true;
}

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4 };

static bool entry(cursor *c, npy *out, char descr[32], unsigned *has) {
    char key[32];
    if (!quoted(c, key, sizeof key) || !take(c, ':'))
        return false;
    if (strcmp(key, "descr") == 0) {
        *has |= HAS_DESCR;
        skip(c);
        if (c->at < c->end && *c->at == '[') { /* fields: named by the caller's error */
            (void)memcpy(descr, "[..]", 5);
            while (c->at < c->end && *c->at != ']')
                c->at++;
            return take(c, ']');
        }
        return quoted(c, descr, 32);
    }
    if (strcmp(key, "fortran_order") == 0) {
        *has |= HAS_ORDER;
        out->fortran = word(c, "True");
        return out->fortran || word(c, "False");
    }
    *has |= HAS_SHAPE;
    return strcmp(key, "shape") == 0 && read_shape(c, out);
}

static bool header(cursor c, npy *out, char descr[32]) {
    unsigned has = 0;
    if (!take(&c, '{'))
        return false;
    while (!take(&c, '}')) {
        if (!entry(&c, out, descr, &has))
            return false;
        if (!take(&c, ',')) {
            skip(&c);
            if (c.at >= c.end || *c.at != '}')
                return false;
        }
    }
    return has == (HAS_DESCR | HAS_ORDER | HAS_SHAPE);
}

static bool element_type(tool *t, const char *path, const char *descr, npy *out) {
    for (size_t k = 0; k < DESCRS; k++)
        if (strcmp(descrs[k].descr, descr) == 0) {
            out->elems = descrs[k].elems;
            tw_elem first = TW_NONE;
            for (unsigned e = TW_NONE + 1; e < TW_ELEMS && !first; e++)
                if (out->elems & ONE(e))
                    first = (tw_elem)e;
            out->item = tw_elem_size(first);
            return true;
        }
    if (descr[0] == '>')
        tool_error(t, 822, "array.astype(array.dtype.newbyteorder('<')) makes it little endian",
                   "%s: big-endian data ('%s')", path, descr);
    else if (strchr(descr, 'O'))
        tool_error(t, 822, NULL, "%s: holds Python objects ('%s'), not numbers", path, descr);
    else
        tool_error(t, 822, NULL, "%s: elements of type '%s', which no tile program has", path,
                   descr);
    return false;
}

static bool count(tool *t, const char *path, npy *out) {
    out->n = 1;
    for (int k = 0; k < out->rank; k++)
        if (out->shape[k] == 0)
            out->n = 0;
    for (int k = 0; out->n && k < out->rank; k++) {
        if (out->n > SIZE_MAX / 16 / (size_t)out->shape[k]) {
            tool_error(t, 821, NULL, "%s: its shape has more elements than memory", path);
            return false;
        }
        out->n *= (size_t)out->shape[k];
    }
    return true;
}

bool npy_parse(tool *t, const char *path, const char *bytes, size_t n, npy *out) {
    *out = (npy){0};
    const unsigned char *b = (const unsigned char *)bytes;
    if (n < 6 || memcmp(bytes, MAGIC, 6) != 0) {
        tool_error(t, 820, NULL,
                   n && n < 6 && memcmp(bytes, MAGIC, n) == 0 ? "%s: cut: it ends inside its header"
                                                              : "%s: not a .npy file",
                   path);
        return false;
    }
    size_t fixed = n > 6 && b[6] >= 2 ? 12 : 10;
    if (n > 6 && (b[6] < 1 || b[6] > 3)) {
        tool_error(t, 820, NULL, "%s: .npy version %u, which is not known (1 to 3 are)", path,
                   (unsigned)b[6]);
        return false;
    }
    size_t length = n < fixed     ? 0
                    : fixed == 10 ? b[8] + 256u * b[9]
                                  : b[8] + 256u * b[9] + 65536u * b[10] + 16777216u * (size_t)b[11];
    if (n < fixed || n - fixed < length) {
        tool_error(t, 821, NULL, "%s: cut: it ends inside its header", path);
        return false;
    }
    char descr[32] = "";
    cursor c = {bytes + fixed, bytes + fixed + length};
    if (!header(c, out, descr)) {
        tool_error(t, 820, NULL, "%s: its header is not one that NumPy writes", path);
        return false;
    }
    if (!element_type(t, path, descr, out) || !count(t, path, out))
        return false;
    size_t have = n - fixed - length, need = out->n * out->item;
    if (have != need) {
        tool_error(t, 821, NULL,
                   have < need ? "%s: cut: %zu of %zu bytes of data are there"
                               : "%s: %zu bytes of data where its shape has %zu",
                   path, have, need);
        return false;
    }
    out->data = bytes + fixed + length;
    return true;
}

void npy_dense(const npy *in, void *out) {
    if (in->n == 0)
        return;
    if (!in->fortran || in->rank < 2) {
        memcpy(out, in->data, in->n * in->item);
        return;
    }
    int64_t at[8] = {0};
    for (size_t k = 0; k < in->n;
         k++) { /* k: row-major; the file counts the first dimension fastest */
        size_t from = 0;
        for (int d = in->rank - 1; d >= 0; d--)
            from = from * (size_t)in->shape[d] + (size_t)at[d];
        memcpy((char *)out + k * in->item, in->data + from * in->item, in->item);
        for (int d = in->rank - 1; d >= 0 && ++at[d] == in->shape[d]; d--)
            at[d] = 0;
    }
}

void npy_print(text *out, tw_elem elem, int rank, const int64_t *shape, const void *data) {
    const char *descr = "";
    size_t n = tw_elem_size(elem);
    for (size_t k = 0; k < DESCRS; k++)
        if (descrs[k].writes == elem)
            descr = descrs[k].descr;
    text head = {.t = out->t};
    text_printf(&head, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int k = 0; k < rank; k++) {
        text_printf(&head, k ? " %lld," : "%lld,", (long long)shape[k]);
        n *= (size_t)shape[k];
    }
    if (rank > 1)
        head.n--; /* (3, 4), but (3,) */
    text_str(&head, "), }");
    while ((10 + head.n + 1) % 64)
        text_str(&head, " ");
    text_str(&head, "\n");
    const char fixed[4] = {1, 0, (char)(head.n & 255), (char)(head.n >> 8)};
    text_add(out, MAGIC, 6);
    text_add(out, fixed, 4);
    text_add(out, head.at, head.n);
    text_add(out, data, n);
}
