# SPDX-License-Identifier: Apache-2.0
"""The trainings (trainings.py) as scripts for Apache SystemDS with its code generator, in a Java process of its own: a script reads the
inputs, does as many iterations, and prints after each its objective and the time. What the just-in-time compiler needs to be warm is there
after the first half of the iterations: the median over the second half counts."""
import os
import re
import shutil
import statistics
import subprocess
import tempfile

import numpy as np
from scipy import io, sparse

from systemds import CONFIG, _home, version  # version: for those who import this

TRUST = """
next_radius = function(double radius, double length, double gain, double alpha) return (double out) {
  there = min(alpha * length, 4 * radius)
  if (gain < 1e-4) { out = min(max(alpha, 0.25) * length, 0.5 * radius) }
  else if (gain < 0.25) { out = max(0.25 * radius, min(there, 0.5 * radius)) }
  else if (gain < 0.75) { out = max(0.25 * radius, there) }
  else { out = max(radius, there) }
}
@point@
zero = matrix(0, rows=ncol(X), cols=K)
B = zero
[objective, N, W] = point(X, y, B, lambda)
steep = sum(N^2)
radius = 0.5 * sqrt(ncol(X)) / sqrt(max(rowSums(X^2)))
it = 0
going = TRUE
while (going) {
  S = zero; R = N; V = N; rr = steep; rest = steep; turn = 0; enough = steep * @share@
  while (turn < inner & rest > enough) {
    Z = X %*% V
    @curve@
    HV = t(X) %*% C + lambda * V
    c = sum(V * HV); sv = sum(S * V); vv = sum(V^2); ss = sum(S^2)
    there = rr / c
    inside = c > 0 & ss + there * (2 * sv + there * vv) <= radius^2
    room = max(radius^2 - ss, 0)
    a = ifelse(inside, there, room / (sv + sqrt(sv^2 + vv * room)))
    S = S + a * V; R = R - a * HV
    rr2 = sum(R^2)
    V = R + (rr2 / rr) * V
    rr = rr2
    rest = ifelse(inside, rr2, 0.0)
    turn = turn + 1
  }
  B2 = B + S
  [objective2, N2, W2] = point(X, y, B2, lambda)
  slope = sum(S * N); left = sum(S * R); length = sqrt(sum(S^2))
  promise = 0.5 * (slope + left)
  gain = (objective - objective2) / promise
  excess = objective2 - objective + slope
  if (it == 0) { radius = min(radius, length) }
  alpha = 4.0
  if (excess > 0) { alpha = max(0.25, 0.5 * slope / excess) }
  radius = next_radius(radius, length, gain, alpha)
  if (gain > 1e-4) { B = B2; N = N2; W = W2; objective = objective2; steep = sum(N2^2) }
  it = it + 1
  print("it " + objective + " " + time())
  going = it < iterations & promise > max(tolerance, 3.6e-15) * abs(objective)
}
"""
POINT = """point = function(matrix[double] X, matrix[double] y, matrix[double] B, double lambda)
    return (double objective, matrix[double] N, matrix[double] W) {
  L = X %*% B
  @body@
  N = t(X) %*% D - lambda * B
  objective = loss + 0.5 * lambda * sum(B^2)
}"""
MLOGREG = """top = max(rowMaxs(L), 0); E = exp(L - top); all = rowSums(E) + exp(-top); W = E / all
  Y = outer(y, t(seq(1, ncol(B))), "=="); D = Y - W; loss = sum(log(all) + top) - sum(Y * L)"""
# The tail by a rational approximation (Abramowitz and Stegun, 7.1.26), as SystemML's own script has it: good to 1.5e-7.
PROBIT = """x = abs(L) / sqrt(2); u = 1 / (1 + 0.3275911 * x); e = exp(-x^2)
  q = 0.5 * u * (0.254829592 + u * (-0.284496736 + u * (1.421413741 + u * (-1.453152027 + u * 1.061405429)))) * e
  f = 0.3989422804014327 * e; likely = y * L >= 0; p = ifelse(likely, 1 - q, q); D = y * f / p; W = f^2 / (q * (1 - q)); loss = -sum(log(p))"""
POISSON = "W = exp(L); D = y - W; loss = sum(W - y * L) + sum(ifelse(y > 0, y * log(max(y, 1)), 0) - y)"


def trust(point, curve, share):
    body = POINT.replace("@body@", point.replace("; ", "\n  "))
    return TRUST.replace("@point@", body).replace("@share@", share).replace("@curve@", curve.replace("; ", "\n    "))


SCRIPTS = {
    "l2svm": """
w = matrix(0, rows=ncol(X), cols=1); s = w; Xw = matrix(0, rows=nrow(X), cols=1); Xd = Xw
slack = max(1 - y * Xw, 0)
g = t(X) %*% (slack * y) - lambda * w
objective = 0.5 * sum(slack^2); b = 0.0; it = 0; going = TRUE
while (going) {
  s = g + b * s
  Xd = X %*% s
  ws = sum(w * s); ss = sum(s^2); sg = sum(s * g); gg = sum(g^2)
  a = 0.0; turn = 0; searching = TRUE
  while (searching) {
    slack = 1 - y * (Xw + a * Xd)
    active = slack > 0
    first = lambda * (ws + a * ss) - sum(active * slack * y * Xd)
    second = lambda * ss + sum(active * Xd^2)
    if (second > 0) { a = a - first / second }
    turn = turn + 1
    searching = turn < 30 & second > 0 & first^2 > tolerance * objective * second
  }
  w = w + a * s
  Xw = Xw + a * Xd
  slack = max(1 - y * Xw, 0)
  g2 = t(X) %*% (slack * y) - lambda * w
  objective = 0.5 * sum(slack^2) + 0.5 * lambda * sum(w^2)
  b = max(0, (sum(g2^2) - sum(g2 * g)) / gg)
  g = g2
  it = it + 1
  print("it " + objective + " " + time())
  going = it < iterations & a * sg > tolerance * objective
}
""",
    "mlogreg": trust(MLOGREG, "Q = W * Z; C = Q - W * rowSums(Q)", "0.01"),
    "glm_probit": trust(PROBIT, "C = W * Z", "min(0.25, sqrt(steep))"),
    "glm_poisson": trust(POISSON, "C = W * Z", "min(0.25, sqrt(steep))"),
    "kmeans": """
C = START0
squares = sum(X^2)
for (it in 1:iterations) {
  D = -2 * (X %*% t(C)) + t(rowSums(C^2))
  near = rowMins(D)
  P = D <= near
  P = P / rowSums(P)
  size = t(colSums(P))
  C2 = (t(P) %*% X) / max(size, 1e-300)
  C = ifelse((size > 0) %*% matrix(1, rows=1, cols=ncol(C)), C2, C)
  print("it " + max(squares + sum(near), 0) + " " + time())
}
""",
    "als_cg": """
solve = function(matrix[double] X, matrix[double] F0, matrix[double] G, matrix[double] count, double lambda, integer inner)
    return (matrix[double] F) {
  F = F0
  R = -(((X != 0) * (F %*% t(G)) - X) %*% G) - lambda * count * F
  S = matrix(0, rows=nrow(F), cols=ncol(F))
  rr = sum(R^2); stop_at = 1e-9 * rr; b = 0.0; turn = 0
  while (turn < inner & rr > stop_at) {
    S = R + b * S
    H = ((X != 0) * (S %*% t(G))) %*% G + lambda * count * S
    a = rr / sum(S * H)
    F = F + a * S
    R = R - a * H
    rr2 = sum(R^2)
    b = rr2 / rr
    rr = rr2
    turn = turn + 1
  }
}
U = START0; V = START1
nu = rowSums(X != 0); nv = t(colSums(X != 0)); XT = t(X)
for (it in 1:iterations) {
  U = solve(X, U, V, nu, lambda, inner)
  V = solve(XT, V, U, nv, lambda, inner)
  E = (X != 0) * (U %*% t(V)) - X
  loss = sum(E^2) + lambda * (sum(nu * U^2) + sum(nv * V^2))
  print("it " + loss + " " + time())
}
""",
    "gnmf": """
W = START0; H = START1; squares = sum(X^2)
for (it in 1:iterations) {
  H = H * (t(X) %*% W) / (H %*% (t(W) %*% W) + 1e-15)
  P = X %*% H
  HH = t(H) %*% H
  W = W * P / (W %*% HH + 1e-15)
  loss = max(squares - 2 * sum(W * P) + sum((t(W) %*% W) * HH), 0)
  print("it " + loss + " " + time())
}
""",
    "autoencoder": """
W1 = START0; W2 = START1; W3 = START2; W4 = START3
b1 = matrix(0, rows=1, cols=ncol(W1)); b2 = matrix(0, rows=1, cols=ncol(W2)); b3 = matrix(0, rows=1, cols=ncol(W3))
b4 = matrix(0, rows=1, cols=ncol(W4))
U1 = 0 * W1; U2 = 0 * W2; U3 = 0 * W3; U4 = 0 * W4; u1 = 0 * b1; u2 = 0 * b2; u3 = 0 * b3; u4 = 0 * b4
at = 1; step = first_step
for (it in 1:iterations) {
  till = min(at + batch - 1, nrow(X))
  B = X[at:till, ]
  s = step / nrow(B)
  H1 = sigmoid(B %*% W1 + b1); H2 = sigmoid(H1 %*% W2 + b2); H3 = sigmoid(H2 %*% W3 + b3); H4 = sigmoid(H3 %*% W4 + b4)
  loss = 0.5 * sum((H4 - B)^2)
  D4 = (H4 - B) * H4 * (1 - H4); D3 = (D4 %*% t(W4)) * H3 * (1 - H3); D2 = (D3 %*% t(W3)) * H2 * (1 - H2)
  D1 = (D2 %*% t(W2)) * H1 * (1 - H1)
  U4 = 0.9 * U4 - s * (t(H3) %*% D4); u4 = 0.9 * u4 - s * colSums(D4); U3 = 0.9 * U3 - s * (t(H2) %*% D3); u3 = 0.9 * u3 - s * colSums(D3)
  U2 = 0.9 * U2 - s * (t(H1) %*% D2); u2 = 0.9 * u2 - s * colSums(D2); U1 = 0.9 * U1 - s * (t(B) %*% D1); u1 = 0.9 * u1 - s * colSums(D1)
  W1 = W1 + U1; b1 = b1 + u1; W2 = W2 + U2; b2 = b2 + u2; W3 = W3 + U3; b3 = b3 + u3; W4 = W4 + U4; b4 = b4 + u4
  print("it " + loss + " " + time())
  at = till + 1
  if (at > nrow(X)) { at = 1; step = step * 0.95 }
}
""",
    "pagerank": """
out = rowSums(X); w = ifelse(out > 0, lambda / max(out, 1e-300), 0); p = matrix(1 / nrow(X), rows=nrow(X), cols=1)
for (it in 1:iterations) {
  q = t(X) %*% (w * p)
  p2 = q + (1 - sum(q)) / nrow(X)
  change = sum(abs(p2 - p))
  p = p2
  print("it " + change + " " + time())
}
""",
}
CLASSES = {"mlogreg": lambda d: d.k - 1}
LOOSE = {"glm_probit": 1e-4}


def _read(name, x, folder):
    if sparse.issparse(x):
        path = os.path.join(folder, name + ".mtx")
        io.mmwrite(path, x, precision=17)
        return '%s = read("%s", format="mm")' % (name, path)
    path = os.path.join(folder, name + ".csv")
    np.savetxt(path, x, fmt="%.17g", delimiter=",")
    return '%s = read("%s", format="csv", header=FALSE, sep=",", rows=%d, cols=%d)' % ((name, path) + x.shape)


def _starts(d):
    k, m = d.k, d.m
    shapes = {"kmeans": [(k, m)], "autoencoder": [(m, k), (k, 2), (2, k), (k, m)]}.get(d.p["algorithm"], [(-1, k), (-1, k)])
    return [s.reshape(shape) for s, shape in zip(d.start, shapes)]


def script(d, folder):
    p = d.p
    inner = p["inner"] or (d.k if p["algorithm"] == "als_cg" else d.m * 1000)
    lines = [_read("X", d.X, folder)] + ([] if d.y is None else [_read("y", d.y, folder)])
    lines += [_read("START%d" % i, s, folder) for i, s in enumerate(_starts(d))]
    lines.append("lambda = %.17g; tolerance = %.17g; iterations = %d; inner = %d; batch = %d; first_step = %.17g; K = %d" % (
        p["lambda"], p["tolerance"], p["iterations"], inner, p["batch"], p["step"], CLASSES.get(p["algorithm"], lambda d: 1)(d)))
    return "\n".join(lines) + SCRIPTS[p["algorithm"]]


def run(d):
    """{"ms", "objective", "iterations", "tolerance"}, or None when it does not run."""
    home, folder = _home(), tempfile.mkdtemp()
    try:
        with open(os.path.join(folder, "train.dml"), "w") as f:
            f.write(script(d, folder))
        with open(os.path.join(folder, "config.xml"), "w") as f:
            f.write(CONFIG)
        classes = os.path.join(home, "SystemDS.jar") + ":" + os.path.join(home, "lib", "*")
        done = subprocess.run(["java", "-Xmx10g", "--add-modules=jdk.incubator.vector", "-cp", classes, "org.apache.sysds.api.DMLScript", "-f",
                               os.path.join(folder, "train.dml"), "-config", os.path.join(folder, "config.xml"), "-exec", "singlenode"],
                              capture_output=True, text=True, cwd=folder, timeout=1800)
        seen = [(float(o), int(t) / 1e6) for o, t in re.findall(r"^it (\S+) (\d+)", done.stdout, re.M)]
        if done.returncode or len(seen) < 2:
            print("systemds: %s did not run: %s" % (d.p["case"], (done.stderr or done.stdout).strip()[-600:]))
            return None
        steps = [b[1] - a[1] for a, b in zip(seen, seen[1:])]
        return {"ms": statistics.median(steps[len(steps) // 2:]), "objective": seen[-1][0], "iterations": len(seen),
                "tolerance": LOOSE.get(d.p["algorithm"], 1e-6)}
    except subprocess.TimeoutExpired:
        return None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
