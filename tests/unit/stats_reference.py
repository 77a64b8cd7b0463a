#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Statistics computed a second time, straight from their definitions, as a table for
test_stats_reference.c. Exact fractions where the definition allows; nothing but the standard
library. Run: python3 tests/unit/stats_reference.py > tests/unit/stats_reference.inc
"""
import math
import statistics
from fractions import Fraction

MASK = (1 << 64) - 1


def splitmix(seed, index):
    """Number `index` of the generator splitmix64 seeded with `seed`."""
    z = (seed + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    return mix(z)


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def child(seed, index):
    return mix(splitmix(seed, index) ^ 0xD1B54A32D192ED03) >> 1


def uniform(seed, index):
    return ((splitmix(seed, index) >> 11) + 0.5) / 2**53


def normal(seed, index):
    return statistics.NormalDist().inv_cdf(uniform(seed, index))


def make_series():
    def correlated(seed, count, rho):
        x, out = normal(seed, 0), []
        for i in range(count):
            out.append(math.exp(0.1 * x))
            x = rho * x + math.sqrt(1 - rho * rho) * normal(seed, i + 1)
        return out

    return {
        "six": [1 + 0.1 * uniform(1, i) for i in range(6)],
        "normal": [10 + normal(2, i) for i in range(40)],
        "exponential": [-math.log(uniform(3, i)) for i in range(75)],
        "tail": [uniform(4, i) ** (-1 / 1.5) for i in range(99)],
        "ties": [1 + math.floor(6 * uniform(5, i)) for i in range(50)],
        "drift": [1 + 0.002 * i + 0.05 * normal(6, i) for i in range(64)],
        "falling": [3 - 0.004 * i + 0.1 * uniform(7, i) for i in range(31)],
        "correlated": correlated(8, 120, 0.8),
        "alternating": [2 + (-1) ** i * 0.1 + 0.02 * uniform(9, i) for i in range(30)],
        "alike": [4.0] * 12,
    }


def quantile(values, q):
    """Definition 7 of Hyndman & Fan, in fractions."""
    ordered = sorted(Fraction(v) for v in values)
    place = Fraction(q) * (len(ordered) - 1)
    index = min(int(place), len(ordered) - 2)
    return float(ordered[index] + (place - index) * (ordered[index + 1] - ordered[index]))


def ranks_of_quantile(n, q, confidence):
    """Ranks from 1, or None: exact binomial sums, from the outside in."""
    q, error = Fraction(q).limit_denominator(1000), 1 - Fraction(confidence).limit_denominator(1000)
    chance = [math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)]

    def largest(chances, limit):
        total, rank = Fraction(0), 0
        for p in chances[:n]:
            total += p
            if total > limit:
                break
            rank += 1
        return rank

    below, above = largest(chance, error / 2), largest(chance[::-1], error / 2)
    if below == 0:
        above = largest(chance[::-1], error - chance[0])
    elif above == 0:
        below = largest(chance, error - chance[n])
    low, high = max(below, 1), n + 1 - max(above, 1)
    if sum(chance[:low]) + sum(chance[high:]) > error or below + above == 0:
        return None
    return low, high


def interval(values, q, confidence):
    ordered = sorted(values)
    ranks = ranks_of_quantile(len(values), q, confidence)
    low, high = ranks or (1, len(values))
    return quantile(values, q), ordered[low - 1], ordered[high - 1], int(ranks is not None)


def mann_kendall(values):
    n = len(values)
    s = sum((b > a) - (b < a) for i, a in enumerate(values) for b in values[i + 1 :])
    groups = [values.count(v) for v in set(values)]
    variance = Fraction(n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in groups), 18)
    pairs, tied = n * (n - 1) // 2, sum(t * (t - 1) // 2 for t in groups)
    if variance == 0:
        return 0, 0.0, 0.0, 1.0
    z = (s - (s > 0) + (s < 0)) / math.sqrt(variance)
    return s, s / math.sqrt(pairs * (pairs - tied)), z, math.erfc(abs(z) / math.sqrt(2))


def effective_size(values):
    """Geyer's initial monotone sequence on mid-ranks, in fractions."""
    n = len(values)
    ranks = [sum(w < v for w in values) + Fraction(sum(w == v for w in values) + 1, 2) for v in values]
    centred = [r - Fraction(n + 1, 2) for r in ranks]
    c = [sum(centred[i] * centred[i + k] for i in range(n - k)) / n for k in range(n)]
    if c[0] == 0:
        return float(n)
    pairs = []
    for k in range(0, n - 1, 2):
        if c[k] + c[k + 1] <= 0:
            break
        pairs.append(min(c[k] + c[k + 1], pairs[-1]) if pairs else c[k] + c[k + 1])
    long_run = 2 * sum(pairs) - c[0]
    size = n * c[0] / long_run if long_run > 0 else n
    return float(max(1, min(n, size)))


def widened(values, confidence):
    """Estimate, low, high of the median with ranks moved out by sqrt(n / effective size)."""
    n, ordered = len(values), sorted(values)
    low, high = ranks_of_quantile(n, 0.5, confidence)
    factor, centre = math.sqrt(n / effective_size(values)), (n - 1) / 2
    low = max(0, math.floor(centre - (centre - (low - 1)) * factor))
    high = min(n - 1, math.ceil(centre + (high - 1 - centre) * factor))
    return quantile(values, 0.5), ordered[low], ordered[high]


def unpaired(a, b, between):
    (ea, la, ha), (eb, lb, hb) = widened(a, 0.95), widened(b, 0.95)
    down = math.sqrt(math.log(ea / la) ** 2 + math.log(hb / eb) ** 2 + between**2)
    up = math.sqrt(math.log(ha / ea) ** 2 + math.log(eb / lb) ** 2 + between**2)
    return ea / eb, ea / eb * math.exp(-down), ea / eb * math.exp(up)


def resampled_mean_ratio(a, b, seed):
    """Percentile interval of mean / mean, the two drawn apart: 25th and 975th of 999."""
    def draw(values, stream, replicate):
        n = len(values)
        picks = [(splitmix(stream, replicate * n + i) >> 11) * n >> 53 for i in range(n)]
        return math.fsum(values[p] for p in picks) / n

    streams = child(seed, 0), child(seed, 1)
    values = sorted(draw(a, streams[0], r) / draw(b, streams[1], r) for r in range(999))
    return statistics.fmean(a) / statistics.fmean(b), values[24], values[974]


def numbers(values):
    return ", ".join(repr(float(v)) for v in values)


def main():
    series = make_series()
    print("/* SPDX-License-Identifier: MIT */")
    print("/* Written by stats_reference.py; do not edit. */")
    print("/* clang-format off */")
    for name, values in series.items():
        print(f"static const double {name}[] = {{{numbers(values)}}};")
    print("static const struct reference_series series[] = {")
    for name, values in series.items():
        print(f'    {{"{name}", {name}, {len(values)}, {effective_size(values)!r}, '
              f"{{{numbers(mann_kendall(values))}}}}},")
    print("};\nstatic const struct reference_quantile quantiles[] = {")
    for name, values in series.items():
        for q, confidence in (0.5, 0.95), (0.5, 0.99), (0.25, 0.95), (0.9, 0.95), (0.125, 0.9):
            estimate, low, high, covered = interval(values, q, confidence)
            print(f"    {{{name}, {len(values)}, {q}, {confidence}, {{{numbers((estimate, low, high))}}}, {covered}}},")
    print("};\nstatic const struct reference_ranks ranks[] = {")
    for n in list(range(1, 41)) + [60, 100, 333, 1000, 2500]:
        for q in 0.5, 0.9, 0.95, 0.99:
            for confidence in 0.95, 0.99:
                low, high = ranks_of_quantile(n, q, confidence) or (0, 0)
                print(f"    {{{n}, {q}, {confidence}, {low}, {high}}},")
    print("};\nstatic const struct reference_ratio ratios[] = {")
    normal_short, drift = series["normal"], series["drift"][:40]
    pairs = [x / y for x, y in zip(normal_short, drift)]
    for kind, between, result in (
        ("PAIRED", 0, interval(pairs, 0.5, 0.95)[:3]),
        ("UNPAIRED", 0.05, unpaired(series["tail"], series["exponential"], 0.05)),
        ("UNPAIRED", 0, unpaired(series["tail"], series["exponential"], 0)),
        ("RESAMPLED", 0, resampled_mean_ratio(series["tail"], series["exponential"], 7)),
    ):
        a, b = ("normal", "drift") if kind == "PAIRED" else ("tail", "exponential")
        na, nb = (40, 40) if kind == "PAIRED" else (99, 75)
        print(f"    {{{kind}, {a}, {na}, {b}, {nb}, {between}, {{{numbers(result)}}}}},")
    print("};\n/* clang-format on */")


main()
