"""Vision-and-language navigation on graphs: the episodic protocol and the iterative one."""

from dataclasses import dataclass, fields

from navarena.core.protocol_ids import join_protocol
from navarena.metrics.instruction import SUCCESS_DISTANCE, PathScores, SplReference
from navarena.scenes.graphs.candidates import MAX_CANDIDATES
from navarena.tasks.options import find_departures

STOP = 0
"""The action that ends an episode; action k goes to the k-th neighbour."""

SUCCESS_REWARD = 2.5
"""As of pointnav-v1 (habitat-lab, RLTaskEnv configuration: SUCCESS_REWARD)."""


@dataclass(frozen=True)
class OracleRules:
    """What the oracle phases of a tour show; the defaults give nothing away.

    The last three make known flaws of the reference code available, for comparison.

    Attributes:
        shows_instruction: whether the instruction stays visible while the oracle leads (during
            ORACLE_START that of the next episode, as in the continuous reference).
        drops_last_node: whether both ways end one node early, so that the goal's panorama is never
            seen and the node before it is seen twice (discrete reference).
        reveals_next_path: whether, when the oracle already stands where the next episode starts, it
            walks the whole described path of that episode: a leak of ground truth (discrete
            reference, training and evaluation).
    """

    shows_instruction: bool = False
    drops_last_node: bool = False
    reveals_next_path: bool = False


class GraphTask:
    """The rules of one protocol on navigation graphs.

    Attributes:
        protocol_id: names the rules; a change that can move a result makes a new id.
        actions: names; an action is an index into them.
        sensors: names of the observations the protocol offers.
        max_steps: actions after which an episode is truncated.
        success_distance: metres along the graph, strict, within which STOP succeeds.
        spl_reference: the reading of SPL.
        iterative: whether episodes come in tours, led from one to the next by an oracle.
        oracle: what oracle phases show.
        options_type: frozen dataclass of the protocol's options, whose defaults are the protocol; the
            task is then called with one. None when there are no options.
        default_dataset: name of the episodes it is evaluated on; the user brings the files.
        metrics: names of the numbers it reports.
    """

    protocol_id: str
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
    iterative: bool = False
    oracle: OracleRules = OracleRules()
    options_type: type | None = None
    default_dataset: str = "r2r"
    metrics: tuple[str, ...] = tuple(field.name for field in fields(PathScores))


class R2R(GraphTask):
    """Follow an instruction on a navigation graph, one episode at a time: the protocol `r2r-v1`.

    ## Data

    Room-to-Room files and Matterport3D connectivity graphs of the user's own:
    `gymnasium.make("navarena.gym:navarena/R2R-v1", r2r=..., connectivity=...)`.

    ## Actions

    | index   | name                       | effect |
    |---------|----------------------------|--------|
    | 0       | stop                       | ends the episode |
    | 1 to 14 | neighbor_1 ... neighbor_14 | goes to that neighbour; one that is not there: stays |

    Neighbours have the order of R2R's candidate lists. After a move the body looks along the view (of
    36) nearest to the direction of the way.

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
    features file, `view_features` (36, D) and `candidate_features` (14, D), float32.

    ## Start

    At the first node of the described path, level, looking along the view nearest to its heading.

    ## Success, reward, end

    STOP nearer than 3 m to the goal along the graph, strictly. The reward is the decrease of that
    distance in metres, and 2.5 for success. STOP terminates; the 15th action truncates, unless it is STOP.

    ## Metrics

    The official evaluation of R2R, with nDTW, sDTW and CLS: see `navarena tours score`. SPL is
    normalised by the shortest path from start to goal.

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
    normalised by the length of the described path, as the reference's. See `navarena tours score`.

    ## Options

    Fields of `OracleRules`, in the id: `ir2r-v1+reveals_next_path=true`. The reference's leaks of
    ground truth are off; results with one of them show as custom.

    ## Versions

    * v1: first version.
    """

    protocol_id = "ir2r-v1"
    spl_reference: SplReference = "path"
    iterative = True
    metrics: tuple[str, ...] = ("t_ndtw", "t_sr", "t_spl", *GraphTask.metrics)
    options_type = OracleRules

    def __init__(self, options: OracleRules = OracleRules()) -> None:
        self.oracle = options
        self.protocol_id = join_protocol(type(self).protocol_id, find_departures(options))
