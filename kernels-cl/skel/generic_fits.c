/* SPDX-License-Identifier: Apache-2.0
 * What cell.generic serves (see generic_plan.h), and which cells a work-item takes: strips of a power of two, or rows where those are
 * folded. Every other value, sink and operand is somebody else's. */
#include "kernels-cl/skel/generic_plan.h"

enum { CHUNKS_PER_CORE = 32, MIN_CHUNK_CELLS = 4096, WIDE_CHUNKS_PER_CORE = 8, WIDE_COLS = 2048 }; /* as in cell_plan.c */

static bool value_fits(const clf_value *v, clf_dtype t) {
    return v->dtype == t && (clf_op_is_cell(v->op) || v->op == CLF_V_LOAD || v->op == CLF_V_PARAM);
}

static bool sink_fits(const clf_cell *p, const clf_sink *s, clf_dtype t) {
    clf_dtype out = (clf_dtype)p->c->out[s->out[0]].dtype;
    if (s->kind == CLF_SINK_STORE) return out == t && (p->live == 0 || (s->keep & p->live) == p->live);
    clf_fold_id f = (clf_fold_id)s->fold;
    return clf_cell_fold_of(p, s) == CLF_CELL_FULLFOLD && s->value[1] < 0 && clf_fold_value_type(f, t) == t &&
           out == clf_fold_result_type(f, t) && clf_cell_states(s) <= CLF_GEN_STATE;
}

void clf_generic_used(const clf_cplan *c, bool *used) {
    for (int s = 0; s < c->nsink; s++) used[c->sink[s].value[0]] = true;
    for (int v = c->nvalue - 1; v >= 0; v--)
        for (int k = 0; used[v] && k < clf_generic_arity(&c->value[v]); k++) used[c->value[v].in[k]] = true;
}

int clf_generic_way(const clf_cell *p, const clf_cell_at *at) {
    uint32_t live = at->axes & p->live;
    bool rows = p->i && p->live == (p->i | p->j);
    if (live == p->live) {
        if (rows) return at->si == p->cols && at->sj == 1 ? CLF_GEN_ALONG : -1;
        return !live ? 0 : (live == p->j ? at->sj : at->si) == 1 ? CLF_GEN_ALONG : -1;
    }
    if (!live) return 0;
    return live == p->i ? CLF_GEN_COLUMN : at->sj == 1 ? CLF_GEN_ROW : -1;
}

static bool is_row_fold(const clf_cell *p, const clf_sink *k) {
    return k->kind == CLF_SINK_FOLD && p->i && k->keep == p->i && p->rows != 1 && p->cols > 0;
}

static bool is_column_fold(const clf_cell *p, const clf_sink *k) {
    return k->kind == CLF_SINK_FOLD && p->i && k->keep == p->j && p->cols > 0;
}

/* Folds are those of all cells, of each row, or of each column. */
static bool folds_fit(clf_generic *g, const clf_cplan *c) {
    int full = 0, row = 0, column = 0;
    for (int s = 0; s < c->nsink; s++) {
        const clf_sink *k = &c->sink[s];
        bool of_rows = is_row_fold(&g->cell, k), of_columns = is_column_fold(&g->cell, k);
        if (k->kind != CLF_SINK_FOLD) continue;
        if (k->keep && !of_rows && !of_columns && !(k->keep == g->cell.i && g->cell.rows == 1)) return false;
        row += of_rows;
        column += of_columns;
        full += !of_rows && !of_columns;
    }
    g->rowwise = row ? CLF_GEN_OF_ROWS : column ? CLF_GEN_OF_COLUMNS : 0;
    return (row > 0) + (column > 0) + (full > 0) < 2;
}

/* A work-item's cells; rows that are folded are not cut, nor blocks of rows whose columns are. */
static void cut(clf_generic *g, int cores) {
    clf_cell *p = &g->cell;
    bool columns = g->rowwise == CLF_GEN_OF_COLUMNS;
    int64_t most = (columns && p->cols > WIDE_COLS ? WIDE_CHUNKS_PER_CORE : CHUNKS_PER_CORE) * (int64_t)(cores > 0 ? cores : 1);
    int64_t rows = g->block = columns ? clf_col_block(p->rows, p->cols) : 1;
    g->run = p->chunk * CLF_LEAF;
    if (!g->rowwise) return;
    while (rows < p->rows && (rows * p->cols < MIN_CHUNK_CELLS || (p->rows + rows - 1) / rows > most)) rows *= 2;
    g->run = rows * p->cols;
    p->chunks = p->rows > rows ? (p->rows + rows - 1) / rows : 1;
    for (g->levels = 1; g->block << (g->levels - 1) < rows; g->levels++) {
    }
}

/* Rows and columns may be repeated. */
static bool flattened(clf_generic *g, const clf_cplan *c, int cores) {
    clf_cell *p = &g->cell;
    clf_cell_at at;
    if (!folds_fit(g, c)) return false;
    for (int a = 0; a < c->naccess && p->kind != CLF_CELL_FLAT; a++)
        if (!clf_cell_access(p, &c->access[a], &at) || clf_generic_way(p, &at) < 0) return false;
    if (p->kind != CLF_CELL_FLAT) clf_cell_flatten(p, cores);
    cut(g, cores);
    return true;
}

static bool parts_fit(clf_generic *g, const clf_cplan *c) {
    bool used[CLF_GEN_VALUES] = {false};
    if (c->nvalue < 1 || c->nvalue > CLF_GEN_VALUES || c->nin > CLF_GEN_INPUTS || c->nout > CLF_GEN_OUTPUTS || c->nparam > CLF_GEN_PARAMS)
        return false;
    clf_generic_used(c, used);
    g->t = c->nsink ? (clf_dtype)c->value[c->sink[0].value[0]].dtype : CLF_U8;
    if (g->t != CLF_F64 && g->t != CLF_F32) return false;
    for (int v = 0; v < c->nvalue; v++)
        if (used[v] && !value_fits(&c->value[v], g->t)) return false;
    for (int k = 0; k < c->nparam; k++)
        if (c->param[k] != g->t) return false;
    for (int k = 0; k < c->nin; k++)
        if (c->in[k].dtype != g->t) return false;
    for (int s = 0; s < c->nsink; s++)
        if (!sink_fits(&g->cell, &c->sink[s], g->t)) return false;
    return true;
}

bool clf_generic_fits(clf_generic *g, const clf_cplan *c, int cores) { return flattened(g, c, cores) && parts_fit(g, c); }
