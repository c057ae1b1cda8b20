"""README.md of a data set of demonstrations: content, source, and the command that makes it again."""

import json
import shlex
from collections import Counter

import numpy as np

from navarena.evaluation.demonstrations.columns import Column
from navarena.evaluation.demonstrations.lerobot_layout import feature_name
from navarena.evaluation.demonstrations.manifest import FILE_NAME, Manifest
from navarena.evaluation.records.record import RunRecord

LISTED_SCENES = 20
"""Scenes that the card names one by one."""

UNBOUNDED = 1e30
"""Larger bounds stand for none."""

LOADING = {
    "lerobot": "from lerobot.datasets.lerobot_dataset import LeRobotDataset\n\n"
    'dataset = LeRobotDataset("navarena/demos", root="FOLDER")\n'
    '# video_backend="pyav" reads the videos without FFmpeg\'s libraries\n'
    'print(dataset[0]["action"], dataset.meta.total_frames)',
    "parquet": "from navarena.evaluation.demonstrations import open_demos\n\n"
    'demos = open_demos("FOLDER")\n'
    "episode = demos.read(0)\n"
    "print(episode.actions, {name: seen.shape for name, seen in episode.observations.items()})",
}
"""How Python reads a layout."""


def write_card(manifest: Manifest, record: RunRecord) -> str:
    """The card of a data set, Markdown with the header that Hugging Face reads.

    Args:
        manifest: complete.
        record: of the run that it was made from.
    """
    files = "data/*/*.parquet" if manifest.layout == "lerobot" else "data/*.parquet"
    tags = ["navarena", "embodied-navigation", *(["LeRobot"] if manifest.layout == "lerobot" else [])]
    header = [
        "---",
        f"pretty_name: {json.dumps(f'{manifest.agent} on {manifest.identity}', ensure_ascii=False)}",
        "task_categories:\n- robotics",
        "tags:\n" + "\n".join(f"- {tag}" for tag in tags),
        f"configs:\n- config_name: default\n  data_files: {files}",
        "---",
    ]
    sections = (
        _describe_origin(manifest, record),
        _describe_content(manifest),
        _describe_use(manifest, record),
    )
    return "\n".join(header) + "\n\n" + "\n\n".join(sections) + "\n"


def _describe_origin(manifest: Manifest, record: RunRecord) -> str:
    scenes = Counter(one.scene_id for one in manifest.episodes)
    listed = ", ".join(list(scenes)[:LISTED_SCENES])
    more = f", and {len(scenes) - LISTED_SCENES} more" if len(scenes) > LISTED_SCENES else ""
    weights = f"; weights with SHA-256 `{record.model_sha256}`" if record.model_sha256 else ""
    privileged = ", ".join((*record.privileged_inputs, *manifest.privileged))
    steps = np.array([one.steps for one in manifest.episodes])
    outcomes = [one.success for one in manifest.episodes if one.success is not None]
    rows = [
        ("protocol", f"`{manifest.protocol}`"),
        ("episodes of", f"`{manifest.identity}` (the hash is that of the episodes)"),
        ("agent", f"`{manifest.agent}`, seed {manifest.seed}{weights}"),
        ("what the agent or a column knows that no body measures", privileged or "nothing"),
        ("scenes", f"{len(scenes)}: {listed}{more}"),
        ("kept", "episodes that succeeded" if manifest.successes else "all episodes that the agent played"),
        ("episodes, frames", f"{len(steps)}, {manifest.frames}"),
        ("frames of an episode", f"{steps.min()} to {steps.max()}, mean {steps.mean():.1f}"),
        ("success", f"{100 * float(np.mean(outcomes)):.1f} %" if outcomes else "not defined"),
        ("made by", f"navarena {manifest.version}"),
    ]
    table = "\n".join(f"| {name} | {text} |" for name, text in rows)
    return f"# Demonstrations: {manifest.agent} on {manifest.protocol}\n\n| | |\n|---|---|\n{table}"


def _describe_content(manifest: Manifest) -> str:
    actions = ", ".join(f"{k} `{name}`" for k, name in enumerate(manifest.actions))
    said = (
        f"Each action is {len(manifest.actions)} numbers within -1 to 1: {', '.join(manifest.actions)}."
        if manifest.is_continuous
        else f"Actions: {actions}."
    )
    head = "| column | holds | shape | type | range |\n|---|---|---|---|---|"
    rows = [
        f"| `{_column_name(one, manifest)}` | {_describe_kind(one, manifest)} | {_describe_shape(one)} | "
        f"{one.dtype} | {_describe_range(one)} |"
        for one in manifest.columns
    ]
    return "\n".join(
        [
            "## Content",
            "",
            "Frame t holds what was seen before action t, that action, and the reward that it brought. "
            f"{said} `pose` is x, y, z (metres; y up), yaw and tilt (radians) before the action. A step has "
            f"no time of its own: videos play {manifest.frames_per_second} a second.",
            "",
            head,
            *rows,
        ]
    )


def _column_name(one: Column, manifest: Manifest) -> str:
    return feature_name(one) if manifest.layout == "lerobot" else f"observation.{one.name}"


def _describe_kind(one: Column, manifest: Manifest) -> str:
    is_lerobot = manifest.layout == "lerobot"
    return {
        "image": "colours, H.264 (not exact)" if is_lerobot else "colours, PNG",
        "plane": "one value a pixel, PNG of 16 bits" if is_lerobot else "one value a pixel, zstd",
        "numbers": "numbers",
        "text": "words",
        "array": "an array, zstd",
    }[one.kind]


def _describe_shape(one: Column) -> str:
    return " x ".join(map(str, one.shape)) or "-"


def _describe_range(one: Column) -> str:
    if one.kind == "text":
        return "-"
    bounds = "any" if one.high >= UNBOUNDED else f"{one.low:g} to {one.high:g}"
    return f"{bounds} {one.unit}".strip()


def _describe_use(manifest: Manifest, record: RunRecord) -> str:
    command = ["navarena", "demos", manifest.protocol, "--agent", manifest.agent]
    for name in ("split", "dataset", "episodes"):
        if record.settings.get(name) is not None:
            command += [f"--{name}", str(record.settings[name])]
    command += ["--seed", str(manifest.seed), "--format", manifest.layout, "--out", "FOLDER"]
    return "\n".join(
        [
            "## Use",
            "",
            f"`{FILE_NAME}` lists the episodes and the SHA-256 of every file; `run/` is the run that they "
            "come from, which `navarena replay` checks. Images of generated houses come under the licence of "
            "navarena (MIT), those of scans under the terms of the scans.",
            "",
            f"```python\n{LOADING[manifest.layout]}\n```",
            "",
            "To make it again:",
            "",
            f"```text\n{shlex.join(command)}\n```",
        ]
    )
