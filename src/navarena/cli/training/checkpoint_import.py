"""`navarena checkpoint import`: turn published weights into a checkpoint."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from navarena.cli.console import Console


@dataclass(frozen=True)
class CheckpointImport:
    """Convert a file of weights of the reference code into a checkpoint, for --agent checkpoint:DIR.

    Layouts are multion (the agent without a map), habitat-ddppo (PointNav and ObjectNav), allenact
    (RobustNav), goat (GOAT-Bench) and vlnce (CMA). Only tensors and plain values are read from the file. With
    --json, one document is printed with the keys layout, protocol, out, inputs and parameters.
    """

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """File saved by the reference code (.pth or .pt)."""
    layout: str
    """Reference code of the weights: multion, habitat-ddppo, allenact, goat or vlnce."""
    out: Path
    """Folder of the checkpoint."""
    protocol: str | None = None
    """Protocol of the agent, with options; by default the one that it was trained for."""
    trunk: Path | None = None
    """For allenact: torchvision's file of ImageNet's ResNet-18, which these files leave out."""
    depth_first: bool = False
    """For habitat-ddppo: depth comes before colours in the input, as in later versions of habitat-lab."""
    goals: str | None = None
    """For goat: the goal encoder with its weights, such as open-clip:FOLDER with CLIP's ResNet-50."""
    json: bool = False
    """Print one JSON document instead of text."""

    def run(self, console: Console) -> int:
        """Write the checkpoint; returns the exit code."""
        from navarena.learning.checkpoints.policies import load_policy
        from navarena.learning.published.importing import import_checkpoint

        import_checkpoint(
            self.file, self.layout, self.out, self.protocol, self.trunk, self.depth_first, self.goals
        )
        info, policy = load_policy(self.out)
        count = sum(one.numel() for one in policy.parameters())
        inputs = [one.name for one in info.inputs]
        console.text(f"{count} parameters, which see {', '.join(inputs)}")
        protocol = info.protocol.replace("+custom", "")
        console.text(f"checkpoint: {self.out}; navarena evaluate {protocol} --agent checkpoint:{self.out}")
        document = {"layout": self.layout, "protocol": info.protocol, "out": str(self.out)}
        console.result(document | {"inputs": inputs, "parameters": count})
        return 0
