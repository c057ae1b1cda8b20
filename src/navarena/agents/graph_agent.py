"""What an agent on navigation graphs is."""

from navarena.agents.agent import Agent
from navarena.core.errors import InputError
from navarena.tasks.vln_graph_batch import GraphBatch


class GraphAgent(Agent):
    """An Agent that may look into a batch of navigation graphs.

    It acts as every Agent: `reset(starts)`, then `act(observations, active)`. In a tour, `reset` comes
    with Boundary.EPISODE before each further episode and with Boundary.TOUR or SCENE when another tour
    begins. While the oracle leads, `act` is called all the same, so that the agent may look
    (observation "phase" is not 0); what it returns is ignored.
    """

    def __init__(self) -> None:
        self._graphs: GraphBatch | None = None

    def attach_graphs(self, batch: GraphBatch) -> None:
        """Called once before the first reset; a privileged agent looks at the batch through `graphs`."""
        self._graphs = batch

    @property
    def graphs(self) -> GraphBatch:
        """The batch in which it acts; raises InputError before `attach_graphs`."""
        if self._graphs is None:
            raise InputError("expected the agent to be attached to a batch, got a call before attach_graphs")
        return self._graphs
