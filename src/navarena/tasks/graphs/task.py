"""Vision-and-language navigation on graphs: the episodic protocol and the iterative one."""

from dataclasses import fields

from navarena.core.protocol_ids import join_protocol
from navarena.episodes.graph_routes import GRAPH_ROUTE_SET
from navarena.metrics.instruction import SUCCESS_DISTANCE, PathScores, SplReference
from navarena.metrics.tours import TourScoring
from navarena.scenes.graphs.candidates import MAX_CANDIDATES
from navarena.tasks.graphs.oracle import GraphOracleRules
from navarena.tasks.options import find_departures
from navarena.tasks.task import TaskRules

STOP = 0
"""The action that ends an episode; action k goes to the k-th neighbour."""

SUCCESS_REWARD = 2.5
"""As of pointnav-v1 (habitat-lab, RLTaskEnv configuration: SUCCESS_REWARD)."""


DEFAULT_RULES = GraphOracleRules()


class GraphTask(TaskRules):
    """The rules of one protocol on navigation graphs (attributes as of TaskRules).

    Attributes:
        success_distance: metres along the graph, strict, within which STOP succeeds.
        spl_reference: length by which SPL is normalised.
        oracle: what oracle phases show.
    """

    actions: tuple[str, ...] = ("stop", *(f"neighbor_{k}" for k in range(1, MAX_CANDIDATES + 1)))
    sensors: tuple[str, ...] = (
        "instruction",
        "viewpoint",
        "view_index",
        "action_mask",
        "candidate_viewpoints",
        "candidate_views",
        "candidate_angles",
        "candidate_distances",
        "phase",
        "tour_position",
    )
    max_steps: int = 15
    success_distance: float = SUCCESS_DISTANCE
    spl_reference: SplReference = "shortest"
    oracle: GraphOracleRules = DEFAULT_RULES
    default_dataset: str = GRAPH_ROUTE_SET
    metrics: tuple[str, ...] = tuple(field.name for field in fields(PathScores))
    common_metrics: tuple[str, ...] = ()
    hidden_goal_metrics: tuple[str, ...] = ("length", "path_steps")


class R2R(GraphTask):
    """Follow an instruction on a navigation graph, one episode at a time: the protocol `r2r-v1`.

    ## Data

    `r2r-graph-houses-v1`: floor graphs of generated houses. Or Room-to-Room files and Matterport3D
    connectivity graphs of the user's own:
    `navarena evaluate r2r-v1 --dataset R2R_val_unseen.json --scenes CONNECTIVITY`.

    ## Actions

    | index   | name                       | effect |
    |---------|----------------------------|--------|
    | 0       | stop                       | ends the episode |
    | 1 to 14 | neighbor_1 ... neighbor_14 | goes to that neighbour; one that is not there: stays |

    Neighbours have the order of R2R's candidate lists. After a move the body looks along the view (of
    36) nearest to the direction of the step.

    ## Observations

    | key                  | shape, dtype     | meaning |
    |----------------------|------------------|---------|
    | instruction          | text             | what to do |
    | viewpoint            | () int64         | number of the node where the body is |
    | view_index           | () int64         | 0 to 35, along which it looks |
    | action_mask          | (15,) bool       | which actions lead anywhere; stop always |
    | candidate_viewpoints | (14,) int64      | numbers of the neighbours, -1 for none |
    | candidate_views      | (14,) int64      | view nearest to each neighbour's direction, -1 for none |
    | candidate_angles     | (14, 4) float32  | sine, cosine of relative heading, of relative elevation |
    | candidate_distances  | (14,) float32    | metres, straight |
    | phase                | () int64         | 0 agent, 1 oracle to the goal, 2 oracle to the next start |
    | tour_position        | () int64         | how many episodes of the tour came before |

    By name: `instruction_tokens` (200,) int32 (encoded files), `view_angles` (36, 4), and, with a
    features file or in generated houses, `view_features` (36, D) and `candidate_features` (14, D), float32.

    ## Start

    At the first node of the described path, level, looking along the view nearest to its heading.

    ## Success, reward, end

    STOP nearer than 3 m to the goal along the graph, strictly. The reward is the decrease of that
    distance in metres, and 2.5 for success. STOP terminates; the 15th action truncates, unless it is STOP.

    ## Metrics

    The official evaluation of R2R, with nDTW, sDTW and CLS: SPL is normalised by the
    shortest path from start to goal. `navarena tours score` scores results files of other code.

    ## Versions

    * v1: first version. Step limit of the IVLN reference (`max_action_len` 15).
    """

    protocol_id = "r2r-v1"


class IR2R(GraphTask):
    """Follow instructions along tours, remembering the scene: the protocol `ir2r-v1`.

    Actions, observations, start, reward and success are those of `r2r-v1`, and so is the limit of 15
    actions in each episode. Krantz et al. 2023, "Iterative Vision-and-Language Navigation".

    ## Phases

    1. Agent: the agent acts until STOP or the limit.
    2. Oracle to the goal, skipped where the agent stands on the goal's node: each step goes one node
       along a shortest path to it.
    3. Oracle to the next start, likewise. There the body turns to the next start heading, and the
       next agent phase begins.

    In the oracle phases the agent's actions are ignored, the reward is 0, and the instruction is
    hidden; everything else is observed. The last episode of a tour ends with its agent phase.

    ## End

    Only the last episode of a tour ends the environment's episode: it terminates when that one ended by
    STOP and is truncated when it ended by its limit. Agents keep their memory until then
    (Boundary.EPISODE within a tour, Boundary.TOUR at its end).

    ## Metrics

    t-nDTW over agent phases (primary), t-SR, t-SPL, and those of `r2r-v1` by episode; SPL is
    normalised by the length of the described path, as the reference's.

    ## Options

    Fields of `GraphOracleRules`, in the id: `ir2r-v1+reveals_next_path=true`. The reference's leaks of
    ground truth are off; results with one of them show as custom.

    ## Versions

    * v1: first version.
    """

    protocol_id = "ir2r-v1"
    spl_reference: SplReference = "path"
    tour_scoring = TourScoring("code", "episodes")
    options_type = GraphOracleRules

    def __init__(self, options: GraphOracleRules = DEFAULT_RULES) -> None:
        self.oracle = options
        self.protocol_id = join_protocol(type(self).protocol_id, find_departures(options))
