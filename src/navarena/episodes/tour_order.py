"""The order of a tour: a short open round through paths, from each end to the next start.

Visiting every path once, from the end of one to the start of the next, is an asymmetric travelling
salesperson problem with an open path. Solvers work on whole millimetres and stop by iterations,
never by time: the same numbers and the same seed give the same order.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import InputError, require_extra

Solver = Literal["pyvrp", "lkh"]

ITERATIONS = 2000
"""Of PyVRP's iterated local search; on R2R's train split its gaps are 0.2 % longer than LKH's."""

SHORT = 128
"""Paths of a set up to which PyVRP looks for a better place of each path among all others, from its own
start; R2R's tours have 99 at most. In longer sets that gets slow, and `patch_assignment` begins better than
it ends: with 0.51 m in the mean for 800 paths of a house, where no order has less, in the place of 0.65 m."""

NEAREST = 40
"""Neighbours of each path among which PyVRP looks in longer sets."""

PATIENCE = 200
"""Iterations without improvement after which PyVRP stops in longer sets."""

LKH_RUNS = 10
"""Of LKH per problem, the default of its wrapper elkai."""

MILLIMETRES = 1000.0
UNREACHABLE = 10_000_000
"""Millimetres that stand for "no path": more than any tour is long."""


def split_reachable(gaps: Float[np.ndarray, "p p"]) -> list[list[int]]:
    """Partition P paths into sets within which each can follow each, by order of their first member.

    Args:
        gaps: (P, P) metres from the end of a path to the start of another; infinite without a path.
    """
    from scipy.sparse import csr_array  # SciPy's graphs: slow to import, and needed for tours only
    from scipy.sparse.csgraph import connected_components

    mutual = np.isfinite(gaps) & np.isfinite(gaps.T)
    _, labels = connected_components(csr_array(mutual), directed=False)
    sets: dict[int, list[int]] = {}
    for row, label in enumerate(labels.tolist()):
        sets.setdefault(label, []).append(row)
    return list(sets.values())


def order_paths(
    gaps: Float[np.ndarray, "p p"], solver: Solver = "pyvrp", seed: int = 0, iterations: int = ITERATIONS
) -> list[list[int]]:
    """Orders of P paths with small gaps: one for each mutually reachable set.

    Args:
        gaps: (P, P) metres from the end of a path to the start of another; infinite without a path.
        solver: "pyvrp", or "lkh" (`pip install 'navarena[lkh]'`, not for commercial use).
        seed: of PyVRP; LKH has a seed of its own.
        iterations: of PyVRP.

    Returns:
        Lists of rows; each row stands in exactly one. Where a set has no order without an
        infinite gap, its order breaks there into several.

    Raises InputError for NaN or negative gaps and an unknown solver, MissingExtraError without elkai.
    """
    if gaps.ndim != 2 or gaps.shape[0] != gaps.shape[1] or not (gaps >= 0).all():
        raise InputError(f"expected (P, P) gaps of at least 0 m, got {gaps.shape} with NaN or negative ones")
    solvers: dict[str, Callable[[Int[np.ndarray, "p p"]], list[int]]] = {
        "pyvrp": lambda costs: solve_pyvrp(costs, seed, iterations),
        "lkh": solve_lkh,
    }
    if solver not in solvers:
        raise InputError(f"expected solver pyvrp or lkh, got {solver!r}")
    orders: list[list[int]] = []
    for members in split_reachable(gaps):
        own = gaps[np.ix_(members, members)]
        costs = np.where(np.isfinite(own), np.rint(own * MILLIMETRES), UNREACHABLE).astype(np.int64)
        np.fill_diagonal(costs, 0)
        order = [members[k] for k in (solvers[solver](costs) if len(members) > 2 else _best_pair(costs))]
        orders.extend(_break_at_infinity(order, gaps))
    return orders


def _best_pair(costs: Int[np.ndarray, "p p"]) -> list[int]:
    """The order of one or two paths."""
    return [0] if len(costs) == 1 else [0, 1] if costs[0, 1] <= costs[1, 0] else [1, 0]


def _break_at_infinity(order: list[int], gaps: Float[np.ndarray, "p p"]) -> list[list[int]]:
    parts = [[order[0]]]
    for before, after in pairwise(order):
        if np.isfinite(gaps[before, after]):
            parts[-1].append(after)
        else:
            parts.append([after])
    return parts


def _with_free_place(costs: Int[np.ndarray, "p p"]) -> Int[np.ndarray, "q q"]:
    """`costs` with a place 0 added that is free to reach and to leave: a closed round becomes open."""
    closed = np.zeros((len(costs) + 1, len(costs) + 1), np.int64)
    closed[1:, 1:] = costs
    return closed


def solve_pyvrp(costs: Int[np.ndarray, "p p"], seed: int, iterations: int) -> list[int]:
    """Order of P paths by PyVRP: one vehicle from a free depot; costs (P, P) are integer millimetres."""
    import pyvrp
    from pyvrp.search import NeighbourhoodParams
    from pyvrp.stop import MaxIterations, MultipleCriteria, NoImprovement

    closed = _with_free_place(costs)
    data = pyvrp.ProblemData(
        locations=[pyvrp.Location(0, 0)] * len(closed),
        clients=[pyvrp.Client(place) for place in range(1, len(closed))],
        depots=[pyvrp.Depot(0)],
        vehicle_types=[pyvrp.VehicleType(1)],
        distance_matrices=[closed],
        duration_matrices=[np.zeros_like(closed)],
    )
    limits: list[Any] = [MaxIterations(iterations)]
    neighbours, begin = len(closed), None
    if len(costs) > SHORT:
        limits.append(NoImprovement(PATIENCE))
        neighbours, begin = NEAREST, pyvrp.Solution(data, [patch_assignment(costs)])
    params = pyvrp.SolveParams(neighbourhood=NeighbourhoodParams(num_neighbours=neighbours))
    result = pyvrp.solve(
        data,
        MultipleCriteria(limits),
        seed=seed % 2**32,
        collect_stats=False,
        params=params,
        initial_solution=begin,
    )
    stops: list[Any] = [stop for route in result.best.routes() for stop in route.schedule()]
    return _require_round([int(stop.idx) for stop in stops if stop.is_client()], len(costs), "PyVRP")


def patch_assignment(costs: Int[np.ndarray, "p p"]) -> list[int]:
    """Order of P paths by patching an assignment (Karp 1979): close to the least where gaps are asymmetric.

    Every path gets the successor of the cheapest assignment, whose cost no order undercuts; the rounds into
    which it falls are joined two by two, each time where that costs least.

    Args:
        costs: (P, P) integer millimetres.
    """
    from scipy.optimize import linear_sum_assignment

    closed = _with_free_place(costs)
    barred = closed.astype(float)
    np.fill_diagonal(barred, closed.sum() + 1.0)  # no path follows itself
    after = linear_sum_assignment(barred)[1]
    rounds = _label_rounds(after)
    while rounds.any():
        now = closed[np.arange(len(closed)), after]
        swapped = closed[:, after]  # from each path to the successor of each
        extra = swapped + swapped.T - now[:, None] - now[None, :]
        extra[rounds[:, None] == rounds[None, :]] = np.iinfo(np.int64).max
        one, other = np.unravel_index(int(extra.argmin()), extra.shape)
        after[one], after[other] = after[other], after[one]
        rounds = _label_rounds(after)
    return [place - 1 for place in _walk_round(after, 0)[1:]]


def _label_rounds(after: Int[np.ndarray, "q"]) -> Int[np.ndarray, "q"]:
    """(Q,) which round each place is on, counted from 0; `after` (Q,) is who follows whom."""
    labels = np.full(len(after), -1)
    for place in range(len(after)):
        if labels[place] < 0:
            labels[_walk_round(after, place)] = labels.max() + 1
    return labels


def _walk_round(after: Int[np.ndarray, "q"], first: int) -> list[int]:
    """The places of the round through `first`, in order."""
    found = [first]
    while (place := int(after[found[-1]])) != first:
        found.append(place)
    return found


def solve_lkh(costs: Int[np.ndarray, "p p"]) -> list[int]:
    """Order of P paths by LKH through elkai; costs (P, P) are integer millimetres."""
    elkai = require_extra("elkai", "lkh")
    tour = elkai.DistanceMatrix(_with_free_place(costs).tolist()).solve_tsp(runs=LKH_RUNS)
    return _require_round([place - 1 for place in tour[:-1] if place > 0], len(costs), "LKH")


def _require_round(order: list[int], count: int, name: str) -> list[int]:
    if sorted(order) != list(range(count)):
        raise InputError(f"expected {name} to visit each of {count} paths once, got {order}")
    return order
