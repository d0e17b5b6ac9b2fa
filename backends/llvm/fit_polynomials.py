#!/usr/bin/env python3
"""Prints the coefficients in elementary_*.cpp: near-minimax fits by reweighted least squares on Chebyshev nodes.

For each: the function to fit, its interval, the degree, a weight (what an error at x costs), and the precision that
coefficients are rounded to. The last figure is the worst weighted error, as a power of two.
"""
import mpmath as mp
import numpy as np

mp.mp.dps = 60


def fit(f, low, high, degree, weight, single):
    nodes = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * 40 * (degree + 1))) for i in range(40 * (degree + 1))]
    values = [f(x) for x in nodes]
    costs = [mp.mpf(weight(x)) for x in nodes]
    lawson = [mp.mpf(1)] * len(nodes)
    half, middle = (high - low) / 2, (high + low) / 2
    coefficients = None
    for _ in range(12):
        # Chebyshev basis for conditioning, in extended precision by iterative refinement.
        t = np.array([float((x - middle) / half) for x in nodes])
        basis = np.polynomial.chebyshev.chebvander(t, degree)
        w = np.array([float(c * mp.sqrt(l)) for c, l in zip(costs, lawson)])
        total = [mp.mpf(0)] * (degree + 1)
        for _ in range(4):
            residual = [v - sum(c * b for c, b in zip(total, map(mp.mpf, row))) for v, row in zip(values, basis)]
            scale = max(abs(r) for r in residual) or mp.mpf(1)
            step = np.linalg.lstsq(basis * w[:, None], np.array([float(r / scale) for r in residual]) * w, rcond=None)[0]
            total = [a + mp.mpf(float(s)) * scale for a, s in zip(total, step)]
        errors = [abs(v - sum(c * mp.mpf(b) for c, b in zip(total, row))) * c0 for v, row, c0 in zip(values, basis, costs)]
        mean = sum(l * e for l, e in zip(lawson, errors)) / sum(lawson)
        lawson = [l * e / mean if mean else l for l, e in zip(lawson, errors)]
        coefficients = total
    # To powers of x.
    poly = [mp.mpf(0)] * (degree + 1)
    previous, current = [mp.mpf(1)], [-middle / half, 1 / half]
    def add(p, c):
        for i, q in enumerate(p):
            poly[i] += c * q
    add(previous, coefficients[0])
    for k in range(1, degree + 1):
        add(current, coefficients[k])
        shifted = [mp.mpf(0)] + [2 * q / half for q in current]
        for i, q in enumerate(current):
            shifted[i] -= 2 * q * middle / half
        for i, q in enumerate(previous):
            shifted[i] -= q
        previous, current = current, shifted
    rounded = [float(np.float32(float(p))) if single else float(p) for p in poly]
    worst = max(abs(sum(mp.mpf(c) * x**i for i, c in enumerate(rounded)) - v) * c0 for x, v, c0 in zip(nodes, values, costs))
    return rounded, float(mp.log(worst, 2))


def show(name, *arguments):
    coefficients, worst = fit(*arguments)
    print(f"// {name}: 2^{worst:.1f}")
    print("  " + ", ".join(c.hex() for c in reversed(coefficients)) + "\n")


ln2 = mp.log(2)
root2 = mp.sqrt(2)


def exp_tail(r):   # e^r = 1 + r + r²·q(r)
    return (mp.expm1(r) - r) / r**2 if abs(r) > mp.mpf("1e-15") else mp.mpf(1) / 2 + r / 6


def log_tail(f):   # log(1 + f) = f - f²/2 + f³·q(f)
    return (mp.log1p(f) - f + f * f / 2) / f**3 if abs(f) > mp.mpf("1e-12") else mp.mpf(1) / 3


def atanh_tail(z):  # 2·atanh(s) = 2s + s³·q(s²)
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) - 2 * s) / s**3


def tanh_tail(z):  # tanh(x) = x + x³·q(x²)
    x = mp.sqrt(z)
    return (mp.tanh(x) - x) / x**3


def erf_tail(z):   # erf(x) = x + x·q(x²)
    x = mp.sqrt(z)
    return mp.erf(x) / x - 1


def erf_exponent(t):  # 1 - erf(t) = exp(-t - t·q(t))
    return -mp.log(mp.erfc(t)) / t - 1


def atan_tail(z):  # atan(x) = x + x³·q(x²)
    x = mp.sqrt(z)
    return (mp.atan(x) - x) / x**3 if z > mp.mpf("1e-12") else -mp.mpf(1) / 3 + z / 5


def erfcx_at(u):   # u = (x - 2)/(x + 2)
    x = 2 * (1 + u) / (1 - u)
    return mp.exp(x * x) * mp.erfc(x)


tiny = mp.mpf("1e-14")
show("exp, f32", exp_tail, -ln2 / 2, ln2 / 2, 4, lambda r: r * r, True)
show("exp, f64", exp_tail, -ln2 / 2, ln2 / 2, 9, lambda r: r * r, False)
show("exp, f64, for f32", exp_tail, -ln2 / 2, ln2 / 2, 6, lambda r: r * r, False)
show("log, f32", log_tail, 1 / root2 - 1, root2 - 1, 8, lambda f: abs(f**3 / mp.log1p(f)) if f else 0, True)
show("log, f64", atanh_tail, tiny, ((root2 - 1) / (root2 + 1))**2, 6, lambda z: z / 2, False)
show("tanh, f32", tanh_tail, tiny, mp.mpf("0.41"), 5, lambda z: z * mp.sqrt(z) / mp.tanh(mp.sqrt(z)), True)
show("erf, f32, |x| < 0.93", erf_tail, tiny, mp.mpf("0.865"), 6, lambda z: 1, True)
show("erf, f32, beyond", erf_exponent, mp.mpf("0.925"), mp.mpf("3.93"), 6, lambda t: t * mp.erfc(t) / mp.erf(t), True)
show("atan, f64, for f32", atan_tail, mp.mpf(0), mp.mpf(1), 16, lambda z: max(z, mp.mpf("0.001")), False)
show("erfcx, f64, for f32", erfcx_at, mp.mpf(-1), mp.mpf(8.2) / mp.mpf(12.2), 18, lambda u: 1 / erfcx_at(u), False)
