/* SPDX-License-Identifier: Apache-2.0
 * LIBRARY steps: matrix products, operands used transposed in place. Recording made both operands the product's type. */
#include "host/run/run.h"

clf_status clf_product_run(const clf_host_call *h, clf_err *err) {
    const clf_gnode *a = &h->g->node[h->node->in[0]], *b = &h->g->node[h->node->in[1]];
    int64_t m = clf_rows(h->node), n = clf_cols(h->node), k = clf_cols(a);
    /* a and b are the operands as written; memory holds their transposes when ta, tb say so */
    int64_t lda = h->ta ? clf_rows(a) : clf_cols(a), ldb = h->tb ? clf_rows(b) : clf_cols(b);
    return clf_blas_gemm(h->c->run->blas, (clf_dtype)h->node->dtype, h->ta, h->tb, m, n, k, h->in[0], lda > 0 ? lda : 1, h->in[1],
                         ldb > 0 ? ldb : 1, h->out, n > 0 ? n : 1, err);
}
