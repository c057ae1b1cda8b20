"""The agents that come with navarena, by name."""

from navarena.core.registry import Registry

AGENTS = Registry(
    "agent",
    {
        "expert": "navarena.agents.expert:ExpertAgent",
        "explore-only": "navarena.agents.explorers.frontier:ExploreOnlyAgent",
        "explorer": "navarena.agents.graphs:GraphExplorerAgent",
        "forward": "navarena.agents.simple:ForwardAgent",
        "frontier": "navarena.agents.explorers.frontier:FrontierAgent",
        "frontier-adaptive": "navarena.agents.explorers.adaptive:AdaptiveFrontierAgent",
        "frontier-expert": "navarena.agents.explorers.frontier_expert:FrontierExpertAgent",
        "frontier-odometry": "navarena.agents.explorers.frontier:OdometricFrontierAgent",
        "frontier-rgb": "navarena.agents.explorers.frontier:FrontierRgbAgent",
        "frontier-segmenter": "navarena.agents.explorers.recognised_goals:SegmentingFrontierAgent",
        "modular-cow": "navarena.agents.goat.cow:ModularCowAgent",
        "modular-goat": "navarena.agents.goat.modular_predicted:ModularGoatPredictedAgent",
        "modular-goat-gt": "navarena.agents.goat.modular_gt:ModularGoatGtAgent",
        "random": "navarena.agents.simple:RandomAgent",
        "random-oracle-found": "navarena.agents.oracles:RandomOracleFoundAgent",
        "reactive": "navarena.agents.explorers.reactive:ReactiveAgent",
        "reactive-rgb": "navarena.agents.explorers.reactive:ReactiveRgbAgent",
        "stop": "navarena.agents.simple:StopAgent",
        "topological": "navarena.agents.explorers.topological:TopologicalAgent",
        "path": "navarena.agents.graphs:GraphPathAgent",
        "vlm": "navarena.agents.language.agent:LanguageModelAgent",
    },
    "navarena.agents",
)
"""Name -> class, called as Class(task, seed) or Class(). Packages add theirs in the entry-point group."""

HUMAN = "human"
"""How runs call a person who plays; there is nothing to load by this name."""

SHIPPED: tuple[str, ...] = (
    "multion-nomap-small",
    "multion-oracle-ego-map-small",
    "multion-oracle-map-small",
    "objectnav-map-dagger-small",
    "pointnav-dagger-small",
    "pointnav-small",
    "robustnav-pointnav-rgb-small",
    "robustnav-pointnav-rgbd-small",
)
"""Names of the trained agents that the distribution navarena-checkpoints adds, in the folder `checkpoints` of
the repository."""

INSTALL_SHIPPED = "pip install ./checkpoints"
"""What installs them, from the root of the repository."""

AGENT_FILES = Registry(
    "kind of agent file",
    {
        "checkpoint": "navarena.learning.agents.policy_agent:find_checkpoint",
        "occupancy-anticipation": "navarena.learning.anticipation.agent:find_anticipation",
        "predicted-depth": "navarena.learning.depth.agent:find_predicted_depth",
        "skill-chain": "navarena.learning.agents.skill_chain:find_chain",
        "stopping": "navarena.learning.agents.stopping:find_stopping",
    },
    "navarena.agent_files",
)
"""KIND of the agents KIND:PATH -> function of PATH that returns the class of the agent.

One that leads another agent takes `task` and `patience`, too, as `declare_agent` does.
"""
