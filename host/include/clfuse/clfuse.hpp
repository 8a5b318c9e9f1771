/* SPDX-License-Identifier: Apache-2.0
 * clfuse for C++17: handles that free themselves, operators, exceptions. Header only, over clfuse.h, which says what everything does.
 *
 *     clfuse::context c;
 *     clfuse::mat X = c.load("X.npy"), v = c.rand(X.cols(), 1, 0, 1), w = c.num(0.5);
 *     clfuse::mat g = t(X) % (w * (X % v));          // recorded: nothing is computed yet; % is the matrix product
 *     std::vector<double> cells = g.read<double>();  // planned, fused, run
 *
 * Operators: + - * / cell by cell, % the matrix product, comparisons and & | ! giving 0 and 1; functions have the names of the C ones
 * (exp, max, ifelse, ...; clfuse/ops.hpp is generated). Numbers mix with matrices.
 * Ownership: a mat keeps its context open, so the order of destruction does not matter; copies share one handle. Do not free handles of
 * mats by epochs of the C interface.
 * Errors: recording never throws; what asks for values throws clfuse::error with the first message. Compiled without exceptions, the
 * program says it on stderr and ends there (std::abort); the C interface has statuses. Runtime type information is not needed. */
#ifndef CLFUSE_CLFUSE_HPP
#define CLFUSE_CLFUSE_HPP
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "clfuse/clfuse.h"

namespace clfuse {

class error : public std::runtime_error {
public:
    error(clf_status st, const std::string &text) : std::runtime_error(text), status_(st) {}
    clf_status status() const noexcept { return status_; }

private:
    clf_status status_;
};

/** The element type behind a C++ type. */
template <class T> struct dtype_of;
template <> struct dtype_of<float> { static constexpr clf_dtype value = CLF_F32; };
template <> struct dtype_of<double> { static constexpr clf_dtype value = CLF_F64; };
template <> struct dtype_of<int32_t> { static constexpr clf_dtype value = CLF_I32; };
template <> struct dtype_of<int64_t> { static constexpr clf_dtype value = CLF_I64; };
template <> struct dtype_of<uint8_t> { static constexpr clf_dtype value = CLF_U8; };

namespace detail {
using ctx_ptr = std::shared_ptr<clf_ctx>;
[[noreturn]] inline void fail(clf_status st, const std::string &text) {
#if defined(__cpp_exceptions)
    throw error(st, text);
#else
    std::fprintf(stderr, "clfuse: error %d: %s\n", static_cast<int>(st), text.c_str());
    std::abort();
#endif
}
inline void check(const ctx_ptr &c, clf_status st) {
    if (st != CLF_OK) fail(st, clf_last_error(c.get()));
}

struct release {
    void operator()(clf_ctx *c) const noexcept { clf_close(c); }
    void operator()(clf_mat *m) const noexcept { clf_free(m); }
    void operator()(clf_fn *f) const noexcept { clf_fn_free(f); }
};
/* A handle and the context that it needs, which goes after it. */
template <class T> struct held {
    ctx_ptr c;
    std::unique_ptr<T, release> at;
};
template <class T> std::shared_ptr<held<T>> hold(ctx_ptr c, T *handle) {
    std::unique_ptr<T, release> at(handle);
    auto h = std::make_shared<held<T>>();
    h->c = std::move(c);
    h->at = std::move(at);
    return h;
}
} // namespace detail

/** A recorded or computed matrix or scalar. Values are immutable; copies are cheap. */
class mat {
public:
    mat() = default;
    /** Take over a handle of the C interface. */
    mat(detail::ctx_ptr c, clf_mat *m) : held_(detail::hold(std::move(c), m)) {}

    clf_mat *get() const noexcept { return held_ ? held_->at.get() : nullptr; }
    const detail::ctx_ptr &ctx() const {
        if (!held_) detail::fail(CLF_E_ARG, "an empty handle");
        return held_->c;
    }
    explicit operator bool() const noexcept { return get() != nullptr; }

    int64_t rows() const { return info().rows; }
    int64_t cols() const { return info().cols; }
    clf_dtype type() const { return info().type; }
    bool scalar() const { return info().scalar; }

    /** The number that a scalar or 1x1 matrix is. */
    double value() const {
        double x;
        detail::check(ctx(), clf_read_f64(get(), &x));
        return x;
    }
    /** All cells, row-major. T must be the element type: nothing is converted (cast does). */
    template <class T> std::vector<T> read() const {
        shape s = info();
        if (s.type != dtype_of<T>::value) detail::fail(CLF_E_TYPE, std::string("read: the cells are ") + clf_dtype_name(s.type));
        std::vector<T> cells(static_cast<size_t>(s.rows) * static_cast<size_t>(s.cols));
        detail::check(ctx(), clf_read(get(), cells.data(), cells.size() * sizeof(T)));
        return cells;
    }
    /** The cells in place, valid as long as this handle or a copy of it. */
    template <class T> const T *data() const {
        if (type() != dtype_of<T>::value) detail::fail(CLF_E_TYPE, std::string("data: the cells are ") + clf_dtype_name(type()));
        const void *p;
        detail::check(ctx(), clf_data(get(), &p));
        return static_cast<const T *>(p);
    }
    void save(const std::string &path) const { detail::check(ctx(), clf_save(get(), path.c_str(), nullptr)); }
    mat &label(const std::string &name) {
        detail::check(ctx(), clf_label(get(), name.c_str()));
        return *this;
    }
    /** Behind borrowed memory the contents changed. */
    void changed() { detail::check(ctx(), clf_changed(get())); }

private:
    struct shape {
        int64_t rows, cols;
        clf_dtype type;
        bool scalar;
    };
    shape info() const {
        shape s;
        clf_status st = clf_info(get(), &s.rows, &s.cols, &s.type, &s.scalar);
        const char *text = "an empty handle";
        if (st != CLF_OK && get()) clf_status_of(get(), &text);
        if (st != CLF_OK) detail::fail(st, text);
        return s;
    }
    std::shared_ptr<detail::held<clf_mat>> held_;
};

/** An operand: a matrix or a number. */
class operand {
public:
    operand(const mat &m) : m_(&m), x_(0) {}
    operand(double x) : m_(nullptr), x_(x) {}
    const mat *matrix() const noexcept { return m_; }
    mat in(const detail::ctx_ptr &c) const { return m_ ? *m_ : mat(c, clf_num(c.get(), x_)); }

private:
    const mat *m_;
    double x_;
};

namespace detail {
/** The context of the first operand that is a matrix; overloads are found through one of them. */
inline const ctx_ptr &common(std::initializer_list<const operand *> all) {
    for (const operand *o : all)
        if (o->matrix() && *o->matrix()) return o->matrix()->ctx();
    fail(CLF_E_ARG, "an operator without a matrix");
}
inline mat call(clf_mat *(*f)(clf_mat *), const mat &a) { return mat(a.ctx(), f(a.get())); }
inline mat call(clf_mat *(*f)(clf_mat *, clf_mat *), const operand &a, const operand &b) {
    const ctx_ptr &c = common({&a, &b});
    mat x = a.in(c), y = b.in(c);
    return mat(c, f(x.get(), y.get()));
}
inline mat call(clf_mat *(*f)(clf_mat *, clf_mat *, clf_mat *), const operand &a, const operand &b, const operand &x) {
    const ctx_ptr &c = common({&a, &b, &x});
    mat p = a.in(c), q = b.in(c), r = x.in(c);
    return mat(c, f(p.get(), q.get(), r.get()));
}
inline std::vector<clf_mat *> handles(const std::vector<mat> &all) {
    std::vector<clf_mat *> h;
    for (const mat &m : all) h.push_back(m.get());
    return h;
}
/* Takes what the library writes. */
inline void append(void *text, const char *piece, size_t n) { static_cast<std::string *>(text)->append(piece, n); }

} // namespace detail

inline mat operator+(const operand &a, const operand &b) { return detail::call(clf_add, a, b); }
inline mat operator-(const operand &a, const operand &b) { return detail::call(clf_sub, a, b); }
inline mat operator*(const operand &a, const operand &b) { return detail::call(clf_mul, a, b); }
inline mat operator/(const operand &a, const operand &b) { return detail::call(clf_div, a, b); }
inline mat operator<(const operand &a, const operand &b) { return detail::call(clf_lt, a, b); }
inline mat operator<=(const operand &a, const operand &b) { return detail::call(clf_le, a, b); }
inline mat operator>(const operand &a, const operand &b) { return detail::call(clf_gt, a, b); }
inline mat operator>=(const operand &a, const operand &b) { return detail::call(clf_ge, a, b); }
inline mat operator==(const operand &a, const operand &b) { return detail::call(clf_eq, a, b); }
inline mat operator!=(const operand &a, const operand &b) { return detail::call(clf_ne, a, b); }
inline mat operator&(const operand &a, const operand &b) { return detail::call(clf_and, a, b); }
inline mat operator|(const operand &a, const operand &b) { return detail::call(clf_or, a, b); }
inline mat operator-(const mat &a) { return detail::call(clf_neg, a); }
inline mat operator!(const mat &a) { return detail::call(clf_not, a); }
/** The matrix product. */
inline mat operator%(const mat &a, const mat &b) { return mat(a.ctx(), clf_matmul(a.get(), b.get())); }

inline mat t(const mat &x) { return detail::call(clf_t, x); }
inline mat sum(const mat &x) { return detail::call(clf_sum, x); }
inline mat mean(const mat &x) { return detail::call(clf_mean, x); }
inline mat row_sums(const mat &x) { return detail::call(clf_row_sums, x); }
inline mat col_sums(const mat &x) { return detail::call(clf_col_sums, x); }
inline mat fold(clf_fold_code f, clf_dir dir, const mat &x) { return mat(x.ctx(), clf_fold(f, dir, x.get())); }
inline mat min(const mat &x) { return fold(CLF_FOLD_CODE_MIN, CLF_ALL, x); }
inline mat max(const mat &x) { return fold(CLF_FOLD_CODE_MAX, CLF_ALL, x); }
inline mat cum(clf_fold_code f, const mat &x) { return mat(x.ctx(), clf_cum(f, x.get())); }
inline mat cast(const mat &x, clf_dtype type) { return mat(x.ctx(), clf_cast(x.get(), type)); }
inline mat outer(clf_op_code op, const mat &u, const mat &v) { return mat(u.ctx(), clf_outer(op, u.get(), v.get())); }
/** Rows r0..r1 and columns c0..c1, from 1 and inclusive; r1 == 0, c1 == 0: to the last. */
inline mat index(const mat &x, int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
    return mat(x.ctx(), clf_index(x.get(), r0, r1, c0, c1));
}
inline mat cbind(const mat &a, const mat &b) { return mat(a.ctx(), clf_cbind(a.get(), b.get())); }
inline mat rbind(const mat &a, const mat &b) { return mat(a.ctx(), clf_rbind(a.get(), b.get())); }
inline mat diag(const mat &x) { return detail::call(clf_diag, x); }
inline mat rev(const mat &x) { return detail::call(clf_rev, x); }
inline mat reshape(const mat &x, int64_t rows, int64_t cols) { return mat(x.ctx(), clf_reshape(x.get(), rows, cols)); }
inline mat order(const mat &x, int64_t by, bool decreasing = false, bool index = false) {
    return mat(x.ctx(), clf_order(x.get(), by, decreasing, index));
}
inline mat to_dense(const mat &x) { return detail::call(clf_to_dense, x); }
inline mat to_sparse(const mat &x) { return detail::call(clf_to_sparse, x); }

/** Evaluate several results as one program. */
inline void eval(const std::vector<mat> &results) {
    std::vector<clf_mat *> h = detail::handles(results);
    if (!h.empty()) detail::check(results[0].ctx(), clf_eval(h.size(), h.data()));
}
/** Derivatives of a scalar loss (clf_grad). */
inline std::vector<mat> grad(const mat &loss, const std::vector<mat> &wrt) {
    std::vector<clf_mat *> h = detail::handles(wrt), out(wrt.size());
    clf_status st = clf_grad(loss.get(), h.size(), h.data(), out.data());
    std::vector<mat> all;
    for (clf_mat *m : out)
        if (m) all.emplace_back(loss.ctx(), m);
    detail::check(loss.ctx(), st);
    return all;
}
/** What the plan of several results looks like; given profile files, for those devices, the first being the host (clf_explain_for). */
inline std::string explain(const std::vector<mat> &results, clf_explain_format format = CLF_TEXT, unsigned flags = 0,
                           const std::vector<std::string> &profiles = {}) {
    std::string text;
    std::vector<clf_mat *> h = detail::handles(results);
    std::vector<const char *> files;
    for (const std::string &p : profiles) files.push_back(p.c_str());
    if (h.empty()) return text;
    detail::check(results[0].ctx(), files.empty() ? clf_explain(h.size(), h.data(), format, flags, detail::append, &text)
                                                  : clf_explain_for(files.size(), files.data(), h.size(), h.data(), format, flags,
                                                                    detail::append, &text));
    return text;
}

/** A program recorded once. */
class function {
public:
    function(detail::ctx_ptr c, clf_fn *f, size_t results) : held_(detail::hold(std::move(c), f)), results_(results) {}
    /** Run; arguments in the order of the parameters. */
    std::vector<mat> operator()(const std::vector<mat> &args) const {
        std::vector<clf_mat *> h = detail::handles(args), out(results_, nullptr);
        const detail::ctx_ptr &c = held_->c;
        detail::check(c, clf_call(held_->at.get(), h.size(), h.data(), out.size(), out.data()));
        std::vector<mat> all;
        for (clf_mat *m : out) all.emplace_back(c, m);
        return all;
    }

private:
    std::shared_ptr<detail::held<clf_fn>> held_;
    size_t results_;
};

/** Everything hangs off a context; it closes when the last mat and the context itself are gone. */
class context {
public:
    using variables = std::vector<std::pair<std::string, mat>>;
    using listener = std::function<bool(const clf_progress &)>;

    context() : context(options()) {}
    /** device and fuse as in clf_options; "" for the default. */
    explicit context(const std::string &device, const std::string &fuse = "") : context(options(device, fuse)) {}
    explicit context(const clf_options &o) {
        clf_ctx *c = nullptr;
        clf_status st = clf_open(&c, &o);
        if (st != CLF_OK) detail::fail(st, clf_open_error());
        std::unique_ptr<clf_ctx, detail::release> opened(c);
        own_ = std::make_shared<owner>();
        own_->at = std::move(opened);
        c_ = detail::ctx_ptr(own_, c);
    }

    clf_ctx *get() const noexcept { return c_.get(); }
    void set(const std::string &knob, const std::string &value) { detail::check(c_, clf_set(get(), knob.c_str(), value.c_str())); }

    mat num(double x) const { return mat(c_, clf_num(get(), x)); }
    mat integer(int64_t x) const { return mat(c_, clf_int(get(), x)); }
    mat fill(int64_t rows, int64_t cols, double x, clf_dtype type = CLF_F64) const { return mat(c_, clf_fill(get(), type, rows, cols, x)); }
    mat seq(double from, double to, double by = 0) const { return mat(c_, clf_seq(get(), from, to, by)); }
    mat rand(int64_t rows, int64_t cols, double min, double max, double sparsity = 1, uint64_t seed = 0, clf_dtype type = CLF_F64) const {
        return mat(c_, clf_rand(get(), type, rows, cols, min, max, sparsity, seed));
    }
    /** Copied, row-major. */
    template <class T> mat matrix(int64_t rows, int64_t cols, const std::vector<T> &cells) const {
        if (rows < 0 || cols < 0 || (cols && static_cast<uint64_t>(rows) > cells.size() / static_cast<uint64_t>(cols)) ||
            static_cast<uint64_t>(rows) * static_cast<uint64_t>(cols) != cells.size())
            detail::fail(CLF_E_SHAPE, "matrix: " + std::to_string(cells.size()) + " cells for " + std::to_string(rows) + " x " + std::to_string(cols));
        return mat(c_, clf_matrix(get(), dtype_of<T>::value, rows, cols, cells.data()));
    }
    /** Used in place, unchanged as long as anything made from it lives (see changed). */
    template <class T> mat borrow(int64_t rows, int64_t cols, const T *cells) const {
        return mat(c_, clf_borrow(get(), dtype_of<T>::value, rows, cols, cells, nullptr, nullptr));
    }
    mat csr(clf_dtype type, int64_t rows, int64_t cols, int64_t nnz, const int64_t *offsets, const int32_t *indices, const void *values) const {
        return mat(c_, clf_sparse_csr(get(), type, rows, cols, nnz, offsets, indices, values, nullptr));
    }
    mat load(const std::string &path) const { return mat(c_, clf_load(get(), path.c_str())); }

    /** One expression of the language. */
    mat expr(const std::string &text, const variables &vars = {}) const {
        std::vector<clf_binding> b = bindings(vars);
        return mat(c_, clf_expr(get(), text.c_str(), b.data(), b.size()));
    }
    mat param(clf_dtype type, int64_t rows, int64_t cols) const { return mat(c_, clf_param(get(), type, rows, cols, false)); }
    mat scalar_param(clf_dtype type = CLF_F64) const { return mat(c_, clf_param(get(), type, 0, 0, true)); }
    /** A function of recorded results. */
    class function function(const std::vector<mat> &params, const std::vector<mat> &results) const {
        std::vector<clf_mat *> p = detail::handles(params), r = detail::handles(results);
        clf_fn *f = nullptr;
        detail::check(c_, clf_fn_new(get(), p.size(), p.data(), r.size(), r.data(), &f));
        return {c_, f, r.size()};
    }
    /** Have f told how far what takes long is; it answers whether to stop (clf_set_progress). An exception stops the call, too, and is
     *  thrown by it as error CLF_E_CANCELLED. Must not use the context. nullptr: no more. */
    void progress(listener f) {
        std::unique_ptr<listener> next(f ? new listener(std::move(f)) : nullptr);
        detail::check(c_, clf_set_progress(get(), next ? tell : nullptr, next.get()));
        own_->told = std::move(next);
    }
    /** The figures that plans for device i are made with, as a profile file has them: see explain. */
    std::string profile(int i = 0) const {
        std::string text;
        detail::check(c_, clf_device_profile(get(), i, detail::append, &text));
        return text;
    }
    clf_stats stats() const {
        clf_stats s = {};
        s.struct_size = sizeof s;
        detail::check(c_, clf_get_stats(get(), &s));
        return s;
    }
    std::string last_error() const { return clf_last_error(get()); }

private:
    /* The listener lives as long as what may call it. */
    struct owner {
        std::unique_ptr<listener> told;
        std::unique_ptr<clf_ctx, detail::release> at;
    };
    static int tell(void *user, const clf_progress *p) {
#if defined(__cpp_exceptions)
        try {
            return (*static_cast<listener *>(user))(*p);
        } catch (...) {
            return 1;
        }
#else
        return (*static_cast<listener *>(user))(*p);
#endif
    }
    static clf_options options() {
        clf_options o = {};
        o.struct_size = sizeof o;
        return o;
    }
    static clf_options options(const std::string &device, const std::string &fuse) {
        clf_options o = options();
        if (!device.empty()) o.device = device.c_str();
        if (!fuse.empty()) o.fuse = fuse.c_str();
        return o;
    }
    static std::vector<clf_binding> bindings(const variables &vars) {
        std::vector<clf_binding> b;
        for (const auto &v : vars) b.push_back({v.first.c_str(), v.second.get()});
        return b;
    }
    std::shared_ptr<owner> own_;
    detail::ctx_ptr c_; /* of what own_ holds */
};

} // namespace clfuse

#include "clfuse/ops.hpp"
#endif
