/* SPDX-License-Identifier: Apache-2.0
 * ViennaCL, a C++ library of linear algebra on OpenCL: each case by its operators, everything on the device beforehand. Dense matrices that
 * are only added and multiplied by cells are put as vectors, too, which is its fastest form of them. Compiled by native.py. */
#include <cstring>
#include <map>
#include <memory>
#include <vector>
#define VIENNACL_WITH_OPENCL
#include <viennacl/compressed_matrix.hpp>
#include <viennacl/linalg/inner_prod.hpp>
#include <viennacl/linalg/prod.hpp>
#include <viennacl/linalg/sum.hpp>
#include <viennacl/matrix.hpp>
#include <viennacl/vector.hpp>
#include <viennacl/version.hpp>
#include "native_peer.h"

namespace vcl = viennacl;
namespace la = viennacl::linalg;
typedef vcl::vector<double> vec;
typedef vcl::matrix<double> mat;
typedef vcl::compressed_matrix<double> csr;

namespace {
struct host {
    int64_t rows, cols, nnz;
    const double *values;
    const int32_t *ptr, *idx;
};
struct result {
    int64_t rows, cols;
    std::vector<double> at;
};
std::map<int, host> given;
std::map<int, std::unique_ptr<vec>> vectors;
std::map<int, std::unique_ptr<mat>> matrices;
std::map<int, std::unique_ptr<csr>> sparse;
std::map<char, vec> kept; /* results and steps on the way, made once */
std::map<char, mat> kept_matrix;
std::vector<result> results;
char shown; /* the vector or matrix in which a dense result stays until it is asked for */

vec &v(int name) {
    std::unique_ptr<vec> &p = vectors[name];
    if (!p) {
        const host &h = given[name];
        p.reset(new vec((size_t)(h.rows * h.cols)));
        vcl::fast_copy(h.values, h.values + h.rows * h.cols, p->begin());
    }
    return *p;
}

mat &m(int name) {
    std::unique_ptr<mat> &p = matrices[name];
    if (!p) {
        const host &h = given[name];
        p.reset(new mat((size_t)h.rows, (size_t)h.cols));
        std::vector<double> padded(p->internal_size(), 0.0);
        for (int64_t i = 0; i < h.rows; i++) std::memcpy(&padded[i * p->internal_size2()], h.values + i * h.cols, h.cols * sizeof(double));
        vcl::fast_copy(padded.data(), padded.data() + padded.size(), *p);
    }
    return *p;
}

csr &s(int name) {
    std::unique_ptr<csr> &p = sparse[name];
    if (!p) {
        const host &h = given[name];
        p.reset(new csr());
        p->set(h.ptr, h.idx, h.values, (size_t)h.rows, (size_t)h.cols, (size_t)h.nnz);
    }
    return *p;
}

vec &room(char name, size_t n) {
    vec &x = kept[name];
    if (x.size() != n) x.resize(n, false);
    return x;
}

mat &room(char name, size_t rows, size_t cols) {
    mat &x = kept_matrix[name];
    if (x.size1() != rows || x.size2() != cols) x.resize(rows, cols, false);
    return x;
}

void number(double value) { results.push_back({1, 1, {value}}); }

/* A result on the device: fetched when it is looked at. */
void on_device(char name, int64_t rows, int64_t cols) {
    results.push_back({rows, cols, {}});
    shown = name;
}

void fetch(result &r) {
    if (kept_matrix.count(shown)) {
        mat &x = kept_matrix[shown];
        std::vector<double> padded(x.internal_size());
        vcl::fast_copy(x, padded.data());
        for (int64_t i = 0; i < r.rows; i++)
            r.at.insert(r.at.end(), &padded[i * x.internal_size2()], &padded[i * x.internal_size2()] + r.cols);
    } else {
        r.at.resize(r.rows * r.cols);
        vcl::fast_copy(kept[shown].begin(), kept[shown].end(), r.at.begin());
    }
}

void sum_xyz() {
    vec &t = room('t', v('X').size());
    t = la::element_prod(v('X'), v('Y'));
    number(la::inner_prod(t, v('Z')));
}

void three_aggs() {
    double p = la::inner_prod(v('X'), v('Y')), q = la::inner_prod(v('X'), v('Z')), r = la::inner_prod(v('X'), v('X'));
    number(p);
    number(q);
    number(r);
}

vec &fill() {
    vec &a = room('a', v('X').size());
    a = la::element_prod(v('X'), v('Y'));
    a += v('Z');
    return a;
}

void no_agg() {
    fill();
    on_device('a', given['X'].rows, given['X'].cols);
}

void tap() {
    vcl::scalar<double> total = la::sum(fill());
    number(total);
    on_device('a', given['X'].rows, given['X'].cols);
}

void sigmoid_loss() {
    vec &t = room('t', v('X').size()), &one = kept['1'];
    if (one.size() != t.size()) one = vcl::scalar_vector<double>(t.size(), 1.0);
    t = la::element_prod(v('X'), v('Y'));
    t *= -1.0;
    t = la::element_exp(t);
    t += one;
    t = la::element_log(t);
    number(la::inner_prod(t, v('Z')));
}

void chain() {
    const size_t n = given['X'].rows, cols = given['X'].cols, k = given['V'].cols;
    if (k == 1) {
        vec &t = room('t', n), &r = room('r', cols);
        t = la::prod(m('X'), v('V'));
        t = la::element_prod(t, v('W'));
        r = la::prod(vcl::trans(m('X')), t);
        on_device('r', cols, 1);
        return;
    }
    mat &t = room('T', n, k), &r = room('R', cols, k);
    t = la::prod(m('X'), m('V'));
    t = la::element_prod(t, m('W'));
    r = la::prod(vcl::trans(m('X')), t);
    on_device('R', cols, k);
}

void spmv() {
    vec &r = room('r', given['X'].rows);
    r = la::prod(s('X'), v('V'));
    on_device('r', given['X'].rows, 1);
}
} // namespace

extern "C" const char *peer_version(void) {
    static char text[64];
    try {
        if (!vcl::ocl::current_device().double_support()) return NULL;
        snprintf(text, sizeof text, "%d.%d.%d (%s)", VIENNACL_MAJOR_VERSION, VIENNACL_MINOR_VERSION, VIENNACL_PATCH_VERSION,
                 vcl::ocl::current_device().name().substr(0, 30).c_str());
        return text;
    } catch (...) {
        return NULL;
    }
}

extern "C" void peer_clear(void) {
    given.clear();
    vectors.clear();
    matrices.clear();
    sparse.clear();
    kept.clear();
    kept_matrix.clear();
    results.clear();
}

extern "C" int peer_put(int name, int64_t rows, int64_t cols, int64_t nnz, const double *values, const int32_t *ptr, const int32_t *idx) {
    given[name] = {rows, cols, nnz, values, ptr, idx};
    return 1;
}

extern "C" int peer_run(const char *sequence) {
    static const struct {
        const char *name;
        void (*run)();
    } all[] = {{"sum_xyz", sum_xyz},           {"three_aggs", three_aggs}, {"no_agg", no_agg}, {"tap", tap},
               {"sigmoid_loss", sigmoid_loss}, {"chain", chain},           {"spmv", spmv}};
    results.clear();
    for (const auto &each : all)
        if (strcmp(each.name, sequence) == 0) try {
                each.run();
                vcl::backend::finish();
                return 1;
            } catch (...) {
                return 0;
            }
    return 0;
}

extern "C" int peer_result(int i, int64_t *rows, int64_t *cols, const double **data) {
    if (i < 0 || (size_t)i >= results.size()) return 0;
    result &r = results[i];
    if (r.at.empty()) fetch(r);
    *rows = r.rows;
    *cols = r.cols;
    *data = r.at.data();
    return 1;
}
