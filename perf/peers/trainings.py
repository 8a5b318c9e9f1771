# SPDX-License-Identifier: Apache-2.0
"""The algorithms of examples/ for array libraries: the same iterations from the same start, each a generator of the objective after every
iteration. Written once for NumPy with SciPy and for JAX: `o` is how arrays are worked on (o.xp), what compiles (o.jit) and how a dense or
sparse X is multiplied; where the best forms differ, there are two. d: inputs (X, y, start) and parameters (d.p).

What runs between two decisions is one function, so that JAX compiles it as a whole; numbers that nobody decides by stay where they are."""
import math


def l2svm(o, d):
    xp, lam, tol = o.xp, d.p["lambda"], d.p["tolerance"]

    @o.jit
    def direction(X, w, s, g, b):
        s2 = g + b * s
        return s2, o.mm(X, s2), xp.sum(w * s2), xp.sum(s2 * s2), xp.sum(s2 * g)

    @o.jit
    def line(y, Xw, Xd, a):
        slack = 1 - y * (Xw + a * Xd)
        active = slack > 0
        return xp.sum(active * slack * y * Xd), xp.sum(active * Xd * Xd)

    @o.jit
    def move(X, y, w, s, g, Xw, Xd, a):
        w2, Xw2 = w + a * s, Xw + a * Xd
        slack = xp.maximum(1 - y * Xw2, 0)
        g2 = o.tmm(X, slack * y) - lam * w2
        return w2, Xw2, g2, 0.5 * xp.sum(slack * slack) + 0.5 * lam * xp.sum(w2 * w2), xp.sum(g2 * g2), xp.sum(g2 * g)

    w = s = g = o.put(xp.zeros((d.m, 1)))
    Xw = Xd = o.put(xp.zeros((d.n, 1)))
    w, Xw, g, objective, gg, _ = move(d.X, d.y, w, s, g, Xw, Xd, 0.0)
    objective, b = float(objective), 0.0
    while True:
        s, Xd, ws, ss, sg = direction(d.X, w, s, g, b)
        ws, ss, sg, gg = float(ws), float(ss), float(sg), float(gg)
        a, first, second = 0.0, 1.0, 0.0
        for _ in range(30):
            if first * first <= tol * objective * second:
                break
            u, v = line(d.y, Xw, Xd, a)
            first, second = lam * (ws + a * ss) - float(u), lam * ss + float(v)
            if not second > 0:
                break
            a -= first / second
        w, Xw, g, objective, gg2, g2g = move(d.X, d.y, w, s, g, Xw, Xd, a)
        objective, b, gg = float(objective), max(0.0, (float(gg2) - float(g2g)) / gg), gg2
        yield objective
        if not a * sg > tol * objective:
            return


# ---- trust region Newton method (Lin, Weng, Keerthi, JMLR 9, 2008)

def next_radius(radius, length, gain, alpha):
    there = min(alpha * length, 4 * radius)
    if not gain >= 1e-4:
        return min(max(alpha, 0.25) * length, 0.5 * radius)
    if gain < 0.25:
        return max(0.25 * radius, min(there, 0.5 * radius))
    return max(0.25 * radius if gain < 0.75 else radius, there)


def trust(o, d, k, point, curve, sharp=False):
    xp, lam, least = o.xp, d.p["lambda"], max(d.p["tolerance"], 16 * 2.220446049250313e-16)

    @o.jit
    def step(X, W, S, R, V, rr, radius2):
        HV = o.tmm(X, curve(W, o.mm(X, V))) + lam * V
        c, sv, vv, ss = xp.sum(V * HV), xp.sum(S * V), xp.sum(V * V), xp.sum(S * S)
        there = rr / c
        inside = (c > 0) & (ss + there * (2 * sv + there * vv) <= radius2)
        room = xp.maximum(radius2 - ss, 0)
        a = xp.where(inside, there, room / (sv + xp.sqrt(sv * sv + vv * room)))
        S2, R2 = S + a * V, R - a * HV
        rr2 = xp.sum(R2 * R2)
        return S2, R2, R2 + (rr2 / rr) * V, rr2, xp.where(inside, rr2, 0.0)

    @o.jit
    def move(X, y, B, S, R, N):
        B2 = B + S
        loss, D, W2 = point(y, o.mm(X, B2))
        N2 = o.tmm(X, D) - lam * B2
        return B2, N2, W2, xp.sum(N2 * N2), loss + 0.5 * lam * xp.sum(B2 * B2), xp.sum(S * N), xp.sum(S * R), xp.sum(S * S)

    zero = o.put(xp.zeros((d.m, k)))
    radius = 0.5 * math.sqrt(d.m) / d.longest_row
    B, N, W, steep, objective, _, _, _ = move(d.X, d.y, zero, zero, zero, zero)
    steep, objective, first = float(steep), float(objective), True
    while True:
        S, R, V, rr, rest = zero, N, N, o.number(steep), steep
        enough = steep * (min(0.25, math.sqrt(steep)) if sharp else 0.01)
        for _ in range(d.p["inner"] or d.m * k):
            if not rest > enough:
                break
            S, R, V, rr, rest = step(d.X, W, S, R, V, rr, radius * radius)
            rest = float(rest)
        B2, N2, W2, steep2, objective2, slope, left, length = move(d.X, d.y, B, S, R, N)
        steep2, objective2, slope, left, length = (float(v) for v in (steep2, objective2, slope, left, length))
        length, promise = math.sqrt(length), 0.5 * (slope + left)
        gain, excess = (objective - objective2) / promise, objective2 - objective + slope
        radius = min(radius, length) if first else radius
        radius, first = next_radius(radius, length, gain, 4 if excess <= 0 else max(0.25, 0.5 * slope / excess)), False
        if gain > 1e-4:
            B, N, W, steep, objective = B2, N2, W2, steep2, objective2
        yield objective
        if promise <= least * abs(objective):
            return


def mlogreg(o, d):
    xp, classes = o.xp, o.put(o.xp.arange(1, d.k)[None, :])

    def point(y, L):
        top = xp.maximum(xp.max(L, 1, keepdims=True), 0)
        E = xp.exp(L - top)
        total = xp.sum(E, 1, keepdims=True) + xp.exp(-top)
        W, Y = E / total, y == classes
        return xp.sum(xp.log(total) + top) - xp.sum(Y * L), Y - W, W

    def curve(W, Z):
        Q = W * Z
        return Q - W * xp.sum(Q, 1, keepdims=True)
    return trust(o, d, d.k - 1, point, curve)


def glm_probit(o, d):
    xp, log_ndtr, half = o.xp, o.log_ndtr, 0.91893853320467274

    def point(y, L):
        tail, other = log_ndtr(y * L), log_ndtr(-y * L)
        density = -0.5 * L * L - half
        return -xp.sum(tail), y * xp.exp(density - tail), xp.exp(2 * density - tail - other)
    return trust(o, d, 1, point, lambda W, Z: W * Z, sharp=True)


def glm_poisson(o, d):
    xp = o.xp
    rest = float(xp.sum(xp.where(d.y > 0, d.y * xp.log(xp.maximum(d.y, 1)), 0) - d.y))

    def point(y, L):
        W = xp.exp(L)
        return xp.sum(W - y * L) + rest, y - W, W
    return trust(o, d, 1, point, lambda W, Z: W * Z, sharp=True)


# ---- clusters, factors, networks, graphs

def kmeans(o, d):
    xp = o.xp

    @o.jit
    def step(X, C):
        D = -2 * o.mm(X, C.T) + xp.sum(C * C, 1)[None, :]
        near = xp.min(D, 1, keepdims=True)
        P = D <= near
        P = P / xp.sum(P, 1, keepdims=True)
        size = xp.sum(P, 0)[:, None]
        return xp.where(size > 0, o.tmm(X, P).T / xp.maximum(size, 1e-300), C), xp.sum(near)
    C, squares = o.put(d.start[0].reshape(d.k, d.m)), d.squares
    while True:
        C, rest = step(d.X, C)
        yield max(squares + float(rest), 0.0)


def als_cg(o, d):
    xp, lam = o.xp, d.p["lambda"]

    @o.jit
    def begin(X, F, G, nf, ng):
        E = o.dots(X, F, G) - o.values(X)
        R = -o.weighted(X, E, G) - lam * nf * F
        return R, xp.sum(R * R), xp.sum(E * E) + lam * (xp.sum(nf * F * F) + xp.sum(ng * G * G))

    @o.jit
    def step(X, F, G, R, S, rr, b, nf):
        D = R + b * S
        H = o.weighted(X, o.dots(X, D, G), G) + lam * nf * D
        c = xp.sum(D * H)
        a = xp.where(c > 0, rr / c, 0.0)
        R2 = R - a * H
        rr2 = xp.sum(R2 * R2)
        return F + a * D, R2, D, rr2, rr2 / rr

    def solve(X, F, G, R, nf, norm):
        stop, S, rr, b = 1e-9 * norm, xp.zeros_like(F), o.number(norm), o.number(0.0)
        for _ in range(d.p["inner"] or d.k):
            if not norm > stop:
                break
            F, R, S, rr, b = step(X, F, G, R, S, rr, b, nf)
            norm = float(rr)
        return F
    U, V = (o.put(d.start[i].reshape(-1, d.k)) for i in (0, 1))
    nu, nv = o.put(d.row_counts), o.put(d.col_counts)
    R, norm, _ = begin(d.X, U, V, nu, nv)
    while True:
        U = solve(d.X, U, V, R, nu, float(norm))
        R, norm, _ = begin(d.XT, V, U, nv, nu)
        V = solve(d.XT, V, U, R, nv, float(norm))
        R, norm, loss = begin(d.X, U, V, nu, nv)
        yield float(loss)


def gnmf(o, d):
    xp = o.xp

    @o.jit
    def update(X, F, G, GG):
        P = o.mm(X, G)
        F2 = F * P / (F @ GG + 1e-15)
        FF = F2.T @ F2
        return F2, FF, xp.sum(F2 * P), xp.sum(FF * GG)
    W, H = (o.put(d.start[i].reshape(-1, d.k)) for i in (0, 1))
    WW = W.T @ W
    while True:
        H, HH, _, _ = update(d.XT, H, W, WW)
        W, WW, cross, norm = update(d.X, W, H, HH)
        yield max(d.squares - 2 * float(cross) + float(norm), 0.0)


def autoencoder(o, d):
    width = [d.m, d.k, 2, d.k, d.m]
    state = []
    for i in range(4):
        state += [o.put(d.start[i].reshape(width[i], width[i + 1])), o.put(o.xp.zeros((1, width[i + 1])))]
    momentum, step, at, batch = [0 * w for w in state], d.p["step"], 0, d.p["batch"]
    learn = o.network()
    while True:
        X = d.X[at:at + batch]
        state, momentum, loss = learn(X, state, momentum, step / X.shape[0])
        yield float(loss)
        at += X.shape[0]
        if at >= d.n:
            at, step = 0, step * 0.95


def pagerank(o, d):
    xp, lam = o.xp, d.p["lambda"]
    out = o.mm(d.X, o.put(xp.ones((d.m, 1))))
    w = xp.where(out > 0, lam / xp.where(out > 0, out, 1), 0)

    @o.jit
    def step(X, p, w):
        q = o.tmm(X, w * p)
        p2 = q + (1 - xp.sum(q)) / d.n
        return p2, xp.sum(xp.abs(p2 - p))
    p = o.put(xp.full((d.n, 1), 1 / d.n, dtype="float64"))
    while True:
        p, change = step(d.X, p, w)
        yield float(change)


TRAININGS = {f.__name__: f for f in (l2svm, mlogreg, glm_probit, glm_poisson, kmeans, als_cg, gnmf, autoencoder, pagerank)}
