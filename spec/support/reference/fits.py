"""Writes fits.json: maximum likelihood by SciPy, made exact by Newton's method in 40 digits (mpmath).

Densities are written out here in mpmath, so that they depend on neither SciPy nor perilune. SciPy's own fit is where the
search begins and what is beaten; log_lik_scipy is its log likelihood. Standard errors are the roots of the diagonal of
the inverse of minus the second derivatives. Run: python3 fits.py (SciPy 1.10, mpmath 1.2).
"""
import json

import mpmath as mp
import numpy as np
from scipy import optimize, stats

mp.mp.dps = 40


def lgamma(x):
    return mp.loggamma(x)


def lbeta(a, b):
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def student(x, df, loc, scale):
    z = (x - loc) / scale
    return -(df + 1) / 2 * mp.log1p(z * z / df) - mp.log(scale) - mp.log(df) / 2 - lbeta(df / 2, mp.mpf(1) / 2)


def log_ncdf(x):
    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)


def normal(x, loc, scale):
    z = (x - loc) / scale
    return -z * z / 2 - mp.log(scale) - mp.log(2 * mp.pi) / 2


DENSITIES = {
    "Gamma": lambda x, a, b: a * mp.log(b) + (a - 1) * mp.log(x) - b * x - lgamma(a),
    "InverseGamma": lambda x, a, b: a * mp.log(b) - (a + 1) * mp.log(x) - b / x - lgamma(a),
    "Beta": lambda x, a, b: (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - lbeta(a, b),
    "Weibull": lambda x, s, k: mp.log(k / s) + (k - 1) * mp.log(x / s) - (x / s) ** k,
    "Frechet": lambda x, s, k: mp.log(k / s) - (k + 1) * mp.log(x / s) - (x / s) ** -k,
    "Cauchy": lambda x, m, s: -mp.log(mp.pi * s) - mp.log1p(((x - m) / s) ** 2),
    "StudentT": student,
    "Logistic": lambda x, m, s: -(x - m) / s - mp.log(s) - 2 * mp.log1p(mp.exp(-(x - m) / s)),
    "Gumbel": lambda x, m, s: -(x - m) / s - mp.exp(-(x - m) / s) - mp.log(s),
    "SkewNormal": lambda x, m, s, a: mp.log(2) + normal(x, m, s) + log_ncdf(a * (x - m) / s),
    "GeneralizedPareto": lambda x, s, c: -mp.log(s) - (1 + 1 / c) * mp.log1p(c * x / s),
    "VonMises": lambda x, m, k: k * mp.cos(x - m) - mp.log(2 * mp.pi * mp.besseli(0, k)),
    "Normal": normal,
    "LogNormal": lambda x, m, s: normal(mp.log(x), m, s) - mp.log(x),
    "InverseGaussian": lambda x, m, l: mp.log(l / (2 * mp.pi * x ** 3)) / 2 - l * (x - m) ** 2 / (2 * m * m * x),
    "NegativeBinomial": lambda x, r, p: lgamma(r + x) - lgamma(r) - lgamma(x + 1) + x * mp.log(p) + r * mp.log1p(-p),
    "BetaBinomial": lambda x, a, b: (lgamma(11) - lgamma(x + 1) - lgamma(11 - x) + lbeta(x + a, 10 - x + b)
                                     - lbeta(a, b)),
    "Kumaraswamy": lambda x, a, b: mp.log(a * b) + (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x ** a),
    "Chi2": lambda x, df: (df / 2 - 1) * mp.log(x) - x / 2 - df / 2 * mp.log(2) - lgamma(df / 2),
    "FisherSnedecor": lambda x, a, b: (a / 2 * mp.log(a * x / b) - (a + b) / 2 * mp.log1p(a * x / b) - mp.log(x)
                                       - lbeta(a / 2, b / 2)),
    "HalfCauchy": lambda x, s: mp.log(2 / mp.pi) - mp.log1p((x / s) ** 2) - mp.log(s),
}

r = np.random.default_rng(20260101)
n = 40

# name: data, SciPy's law (None: none), its fit's arguments, from its result to our parameters, fixed parameters
CASES = {
    "Gamma": (r.gamma(2.5, 3, n), stats.gamma, dict(floc=0), lambda a, l, s: (a, 1 / s), {}),
    "InverseGamma": (1 / r.gamma(3, 0.5, n), stats.invgamma, dict(floc=0), lambda a, l, s: (a, s), {}),
    "Beta": (r.beta(2, 5, n), stats.beta, dict(floc=0, fscale=1), lambda a, b, l, s: (a, b), {}),
    "Weibull": (4 * r.weibull(1.7, n), stats.weibull_min, dict(floc=0), lambda c, l, s: (s, c), {}),
    "Frechet": (2 * r.weibull(3, n) ** -1.0, stats.invweibull, dict(floc=0), lambda c, l, s: (s, c), {}),
    "Cauchy": (5 + 2 * r.standard_cauchy(n), stats.cauchy, {}, lambda l, s: (l, s), {}),
    "StudentT": (1 + 2 * r.standard_t(3, n), stats.t, {}, lambda d, l, s: (d, l, s), {}),
    "Logistic": (r.logistic(1, 2, n), stats.logistic, {}, lambda l, s: (l, s), {}),
    "Gumbel": (r.gumbel(-1, 2, n), stats.gumbel_r, {}, lambda l, s: (l, s), {}),
    "SkewNormal": (np.abs(r.normal(0, 2, n)) * 0.9 + r.normal(0, 0.6, n), stats.skewnorm, {},
                   lambda a, l, s: (l, s, a), {}),
    "GeneralizedPareto": (stats.genpareto.rvs(0.3, 0, 2, size=n, random_state=r), stats.genpareto, dict(floc=0),
                          lambda c, l, s: (s, c), {"loc": 0}),
    "VonMises": (r.vonmises(1, 2, n), stats.vonmises, dict(fscale=1), lambda k, l, s: (l, k), {}),
    "Normal": (r.normal(3, 2, n), stats.norm, {}, lambda l, s: (l, s), {}),
    "LogNormal": (r.lognormal(1, 0.7, n), stats.lognorm, dict(floc=0), lambda s, l, e: (np.log(e), s), {}),
    "InverseGaussian": (r.wald(2, 5, n), stats.invgauss, dict(floc=0), lambda m, l, s: (m * s, s), {}),
    "NegativeBinomial": (r.negative_binomial(3, 0.4, n), None, (2.0, 0.5), None, {}),
    "BetaBinomial": (r.binomial(10, r.beta(2, 3, n)), None, (2.0, 3.0), None, {"total_count": 10}),
    "Kumaraswamy": (r.beta(2, 3, n), None, (2.0, 3.0), None, {}),
    "Chi2": (r.chisquare(4, n), stats.chi2, dict(floc=0, fscale=1), lambda d, l, s: (d,), {}),
    "FisherSnedecor": (r.f(5, 9, n), None, (5.0, 9.0), None, {}),
    "HalfCauchy": (np.abs(2 * r.standard_cauchy(n)), stats.halfcauchy, dict(floc=0), lambda l, s: (s,), {}),
}


def total(density, data, params):
    return mp.fsum(density(mp.mpf(float(x)), *params) for x in data)


def derivatives(f, at):
    """Gradient and second derivatives by central differences of 1e-8, of which 24 digits are right."""
    k, h = len(at), mp.mpf(10) ** -8
    def moved(*steps):
        p = list(at)
        for i, s in steps:
            p[i] += s * h
        return f(p)
    g = mp.matrix([(moved((i, 1)) - moved((i, -1))) / (2 * h) for i in range(k)])
    m = mp.matrix(k, k)
    for i in range(k):
        for j in range(i + 1):
            m[i, j] = m[j, i] = (moved((i, 1), (j, 1)) - moved((i, 1), (j, -1)) - moved((i, -1), (j, 1))
                                 + moved((i, -1), (j, -1))) / (4 * h * h)
    return g, m


def refined(f, start):
    p = [mp.mpf(float(v)) for v in start]
    for _ in range(40):
        g, m = derivatives(f, p)
        step = mp.lu_solve(-m, g)
        p = [a + b for a, b in zip(p, step)]
        if max(abs(s) / (1 + abs(v)) for s, v in zip(step, p)) < mp.mpf(10) ** -14:
            break
    else:
        raise RuntimeError("no convergence")
    cov = (-derivatives(f, p)[1]) ** -1
    se = [mp.sqrt(cov[i, i]) for i in range(len(p))]
    return p, se


def main():
    out = []
    for name, (data, law, args, convert, fixed) in CASES.items():
        density = DENSITIES[name]
        found = convert(*law.fit(data, **args)) if law else args
        def f(p): return total(density, data, p)
        rough = optimize.minimize(lambda p: -float(f([mp.mpf(float(v)) for v in p])), found, method="Nelder-Mead",
                                  options=dict(xatol=1e-6, fatol=1e-10, maxiter=4000))
        p, se = refined(f, rough.x)
        best, scipy_value = f(p), float(f([mp.mpf(float(v)) for v in found])) if law else None
        assert scipy_value is None or best >= scipy_value - mp.mpf(10) ** -12, name
        out.append(dict(family=name, data=[float(x) for x in data], fixed=fixed, params=[float(v) for v in p],
                        se=[float(v) for v in se], log_lik=float(best), log_lik_scipy=scipy_value))
        print(name, [float(v) for v in p], float(best), scipy_value)
    with open("fits.json", "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(row) for row in out) + "\n]\n")


main()
