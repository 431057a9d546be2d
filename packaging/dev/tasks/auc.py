# SPDX-License-Identifier: Apache-2.0
"""How well scores tell two kinds apart."""


def area_under_curve(scores, labels):
    """The share of pairs, one of each kind, in which the one with label 1 has the higher score;
    equal scores count half."""
    ranked = sorted(zip((float(score) for score in scores), (int(label) for label in labels)))
    zeros_below, pairs, start = 0, 0.0, 0
    while start < len(ranked):
        end = start
        while end < len(ranked) and ranked[end][0] == ranked[start][0]:
            end += 1
        ones = sum(label for _, label in ranked[start:end])
        zeros = end - start - ones
        pairs += ones * (zeros_below + zeros / 2)
        zeros_below += zeros
        start = end
    ones = len(ranked) - zeros_below
    if not ones or not zeros_below:
        raise ValueError("both kinds are needed")
    return pairs / (ones * zeros_below)
