/* SPDX-License-Identifier: Apache-2.0
 * The sparse calls a script can make. Arrays are right ones of a small matrix, then damaged where the script says so; each has exactly the
 * length it claims, so that the sanitizer sees a step beyond. Only right arrays are ever trusted; the checking import takes any. Whose zeros
 * annihilate says nothing of a zero's sign, so once a play has sparse leaves, quotients are API_FREE (api_signs_kind). */
#include "tests/fuzz/api_value.h"

enum { MOST_EXTENT = 8, MOST_DAMAGE = 3 };

/* Compressed rows, or columns, of `outer` by `inner` cells; or triples. */
typedef struct arrays {
    clf_dtype t;
    int64_t outer, inner, nnz;
    int64_t *ptr, *first; /* offsets; triples: the outer index of each entry */
    int32_t *idx;
    void *val;
} arrays;

static void *zeroed(size_t n, size_t each) {
    void *p = calloc(n ? n : 1, each);
    FUZZ_MUST(p);
    return p;
}

/* About one cell in `every`; some of the values are zeros. */
static arrays make(api_player *s) {
    arrays a = {.t = (clf_dtype)(api_byte(s) % 5), .outer = api_byte(s) % MOST_EXTENT, .inner = api_byte(s) % MOST_EXTENT};
    unsigned seed = api_byte(s), every = 1 + seed % 5;
    int64_t most = a.outer * a.inner;
    a.ptr = zeroed((size_t)a.outer + 1, sizeof *a.ptr);
    a.first = zeroed((size_t)most, sizeof *a.first);
    a.idx = zeroed((size_t)most, sizeof *a.idx);
    a.val = zeroed((size_t)most, sizeof(double));
    for (int64_t i = 0; i < a.outer; i++) {
        for (int64_t j = 0; j < a.inner; j++) {
            if ((unsigned)(i * 31 + j * 17 + i * j * 7) % 97 * (seed + 1) % 89 % every != 0) continue;
            api_store(a.val, a.nnz, a.t, (int)((unsigned)a.nnz * 5 + seed) % 17 - 8);
            a.first[a.nnz] = i;
            a.idx[a.nnz++] = (int32_t)j;
        }
        a.ptr[i + 1] = a.nnz;
    }
    a.first = realloc(a.first, (size_t)(a.nnz ? a.nnz : 1) * sizeof *a.first);
    a.idx = realloc(a.idx, (size_t)(a.nnz ? a.nnz : 1) * sizeof *a.idx);
    FUZZ_MUST(a.first && a.idx);
    return a;
}

static void drop(arrays *a) {
    free(a->ptr);
    free(a->first);
    free(a->idx);
    free(a->val);
}

static int64_t wild(api_player *s) {
    static const int64_t limits[] = {-1, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, (int64_t)1 << 32, 0x7fc00000, MOST_EXTENT};
    unsigned k = api_byte(s);
    return k < 192 ? (int64_t)(k % 32) : limits[k % 8];
}

/* Overwrite a few numbers. True if there was any damage. */
static bool damage(api_player *s, arrays *a) {
    unsigned n = api_byte(s);
    n = n < 160 ? 0 : n % MOST_DAMAGE + 1;
    for (unsigned k = 0; k < n; k++) {
        unsigned which = api_byte(s) % 3, at = api_byte(s);
        int64_t x = wild(s);
        if (which == 0) a->ptr[at % (unsigned)(a->outer + 1)] = x;
        if (which == 1 && a->nnz) a->idx[at % (unsigned)a->nnz] = (int32_t)x;
        if (which == 2 && a->nnz) a->first[at % (unsigned)a->nnz] = x;
    }
    return n > 0;
}

/* n numbers in 4 bytes each. owns: free() */
static int32_t *narrowed(const int64_t *p, int64_t n) {
    int32_t *q = zeroed((size_t)n, sizeof *q);
    for (int64_t i = 0; i < n; i++) q[i] = (int32_t)p[i];
    return q;
}

static double bound_of(const arrays *a, bool add) { return a->t == CLF_U8 ? 255 : add ? 8.0 * (double)a->nnz + 8 : 8; }

/* ---- leaves ---- */

/* No extent that is legal and wants gigabytes of offsets. */
static int64_t unkind(api_player *s) {
    int64_t x = wild(s);
    return x > 1 << 16 && x <= INT32_MAX ? -x : x;
}

/* What is claimed instead of the truth now and then: never more than there is. */
static void lie(api_player *s, arrays *a) {
    unsigned k = api_byte(s);
    if (k < 230) return;
    if (k < 236 && a->outer) a->outer--;
    if (k >= 236 && k < 242) a->inner = unkind(s);
    if (k >= 242 && k < 248 && a->nnz) a->nnz--;
    if (k >= 248) *(k % 2 ? &a->outer : &a->nnz) = -1 - (int64_t)(k % 5);
}

static void call_compressed(api_player *s) {
    arrays a = make(s);
    unsigned how = api_byte(s);
    bool narrow = how & 1, rows = how & 2, hurt = damage(s, &a);
    int64_t outer = a.outer, inner = a.inner, nnz = a.nnz;
    int32_t *ptr4 = narrow ? narrowed(a.ptr, a.outer + 1) : NULL;
    lie(s, &a);
    hurt = hurt || outer != a.outer || inner != a.inner || nnz != a.nnz;
    clf_sparse_options o = {.struct_size = sizeof o, .offset_bytes = narrow ? 4 : how & 16 ? 0 : 8, .trusted = (how & 4) && !hurt};
    if (how >= 250) o.offset_bytes = 3;
    const void *ptr = narrow ? (const void *)ptr4 : a.ptr, *val = how == 249 ? NULL : a.val;
    clf_mat *m = rows ? clf_sparse_csr(s->c, a.t, a.outer, a.inner, a.nnz, ptr, a.idx, val, narrow || how & 4 || how >= 250 ? &o : NULL)
                      : clf_sparse_csc(s->c, a.t, a.inner, a.outer, a.nnz, ptr, a.idx, val, narrow || how & 4 || how >= 250 ? &o : NULL);
    s->sparse = true;
    api_put(s, m, API_EXACT, bound_of(&a, false));
    free(ptr4);
    drop(&a);
}

static void call_triples(api_player *s) {
    arrays a = make(s);
    unsigned how = api_byte(s);
    bool wide = how & 1;
    (void)damage(s, &a);
    int64_t *idx8 = zeroed((size_t)a.nnz, sizeof *idx8);
    int32_t *first4 = narrowed(a.first, a.nnz);
    for (int64_t i = 0; i < a.nnz; i++) idx8[i] = a.idx[i];
    lie(s, &a);
    clf_sparse_options o = {.struct_size = sizeof o, .index_bytes = wide ? 8 : how & 8 ? 0 : 4, .add = how & 2};
    if (how >= 250) o.index_bytes = 5;
    const void *row = wide ? (const void *)a.first : first4, *col = wide ? (const void *)idx8 : a.idx;
    s->sparse = true;
    api_put(s,
            clf_sparse_coo(s->c, a.t, a.outer, a.inner, a.nnz, row, how & 4 ? row : col, a.val, wide || how & 10 || how >= 250 ? &o : NULL),
            API_EXACT, bound_of(&a, true));
    free(idx8);
    free(first4);
    drop(&a);
}

/* Rows of 2, 0, 3 and 1 entries. */
void api_lend_right(api_player *s) {
    static const int64_t ptr[API_LENT_ROWS + 1] = {0, 2, 2, 5, 6};
    static const int32_t idx[API_LENT] = {0, 3, 1, 2, 4, 0};
    memcpy(s->lent_ptr, ptr, sizeof ptr);
    memcpy(s->lent_idx, idx, sizeof idx);
    for (int i = 0; i < API_LENT; i++) s->lent_val[i] = i - 2;
}

/* One leaf a play: every change must be declared to all that lie over the arrays. */
static void call_lend(api_player *s) {
    clf_sparse_options o = {.struct_size = sizeof o, .borrow = true};
    if (s->lent_serial) return;
    s->sparse = true;
    s->lent = clf_sparse_csr(s->c, CLF_F64, API_LENT_ROWS, API_LENT_COLS, API_LENT, s->lent_ptr, s->lent_idx, s->lent_val, &o);
    s->lent_serial = api_put(s, s->lent, API_EXACT, 300)->serial;
}

static clf_mat *lent_leaf(const api_player *s) {
    clf_storage st = {.struct_size = sizeof st};
    for (int i = 0; s->lent && i < API_OTHER; i++)
        if (s->slot[i].m == s->lent && s->slot[i].serial == s->lent_serial && clf_storage_of(s->lent, &st) == CLF_OK && st.borrowed)
            return s->lent;
    return NULL;
}

/* One number of the lent arrays changes, or all are mended. What was recorded over the old contents says nothing any more. */
static void call_lent_changed(api_player *s) {
    clf_mat *m = lent_leaf(s);
    unsigned which = api_byte(s) % 5, at = api_byte(s);
    if (!m) return;
    if (which == 0) s->lent_ptr[at % (API_LENT_ROWS + 1)] = wild(s);
    if (which == 1) s->lent_idx[at % API_LENT] = (int32_t)wild(s);
    if (which == 2) s->lent_val[at % API_LENT] = api_byte(s);
    if (which >= 3) api_lend_right(s);
    for (int i = 0; i < API_OTHER; i++) s->slot[i].kind = API_FREE;
    api_log(s, clf_changed(m));
}

static void call_param_sparse(api_player *s) {
    clf_dtype t = (clf_dtype)(api_byte(s) % 6);
    int64_t rows = wild(s) % 64, cols = wild(s) % 64, nnz = wild(s);
    s->sparse = true;
    api_put(s, clf_param_sparse(s->c, t, rows, cols, nnz), API_EXACT, 8);
}

/* ---- what is asked of any value ---- */

static void call_stored_as(api_player *s) {
    clf_mat *(*const form[])(clf_mat *) = {clf_to_sparse, clf_to_dense};
    unsigned which = api_byte(s) % 2;
    const api_value *x = api_take(s);
    s->sparse = true;
    api_put(s, form[which](x->m), x->kind, x->bound);
}

/* Entries are in order and in range; those that are not zero are what clf_nnz counts. */
static int64_t entries_right(const int64_t *ptr, const int32_t *idx, int64_t nnz, int64_t rows, int64_t cols) {
    FUZZ_MUST(ptr[0] == 0 && ptr[rows] == nnz);
    for (int64_t i = 0; i < rows; i++) {
        FUZZ_MUST(ptr[i] <= ptr[i + 1]);
        for (int64_t k = ptr[i]; k < ptr[i + 1]; k++) FUZZ_MUST(idx[k] >= 0 && idx[k] < cols && (k == ptr[i] || idx[k - 1] < idx[k]));
    }
    return nnz;
}

static void call_entries(api_player *s) {
    const api_value *x = api_take(s);
    int64_t nnz = 0, count = 0, rows, cols;
    const int64_t *ptr = NULL;
    const int32_t *idx = NULL;
    const void *val = NULL;
    api_shape(x->m, &rows, &cols);
    clf_status st = clf_data_csr(x->m, &nnz, &ptr, &idx, &val);
    api_log(s, st);
    clf_status counted = clf_nnz(x->m, &count);
    api_log(s, counted);
    if (st == CLF_OK) (void)entries_right(ptr, idx, nnz, rows, cols);
    /* another leaf over the same memory may have been declared changed, and not this one, whose entries were found before */
    if (st == CLF_OK && counted == CLF_OK && !s->changed) FUZZ_MUST(count <= nnz);
    if (counted == CLF_OK && x->kind != API_FREE) api_log(s, (double)count);
    if (api_byte(s) == 255) api_log(s, clf_data_csr(x->m, NULL, NULL, NULL, NULL));
}

static void call_storage(api_player *s) {
    const api_value *x = api_take(s);
    clf_storage st = {.struct_size = api_byte(s) == 255 ? 0 : sizeof st};
    int64_t rows, cols;
    api_shape(x->m, &rows, &cols);
    clf_status r = clf_storage_of(x->m, &st);
    api_log(s, r);
    if (r != CLF_OK) return;
    FUZZ_MUST(strcmp(st.format, "none") == 0 || strcmp(st.format, "dense") == 0 || strcmp(st.format, "csr") == 0);
    FUZZ_MUST(st.nnz >= 0 && st.nnz <= rows * cols);
    api_log(s, st.structural);
}

const api_call api_sparse_calls[] = {call_compressed,   call_compressed, call_triples, call_lend,   call_lent_changed,
                                     call_param_sparse, call_stored_as,  call_entries, call_storage};
const unsigned api_nsparse_calls = sizeof api_sparse_calls / sizeof *api_sparse_calls;
