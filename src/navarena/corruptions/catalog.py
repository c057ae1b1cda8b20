"""The corruptions, by name, and how they are written."""

from collections.abc import Sequence

from navarena.core.errors import InputError
from navarena.core.registry import Registry
from navarena.corruptions.corruption import DRAW_WORD, Corruption

MARK = ":"
"""Stands between a corruption's name, its severity and its words."""

CORRUPTIONS = Registry(
    "corruption",
    {
        "camera_calibration": "navarena.corruptions.lens:CameraCalibration",
        "camera_crack": "navarena.corruptions.lens:CameraCrack",
        "defocus_blur": "navarena.corruptions.blur:DefocusBlur",
        "frame_drop": "navarena.corruptions.timing:FrameDrop",
        "friction_zones": "navarena.corruptions.friction:FrictionZones",
        "depth_holes": "navarena.corruptions.depth:DepthHoles",
        "depth_range": "navarena.corruptions.depth:DepthRange",
        "gaussian_noise": "navarena.corruptions.noise:GaussianNoise",
        "goal_image_noise": "navarena.corruptions.goals:GoalImageNoise",
        "goal_paraphrase": "navarena.corruptions.goals:GoalParaphrase",
        "goal_synonyms": "navarena.corruptions.goals:GoalSynonyms",
        "instruction_landmark_swap": "navarena.corruptions.instructions:InstructionLandmarkSwap",
        "instruction_paraphrase": "navarena.corruptions.instructions:InstructionParaphrase",
        "instruction_word_drop": "navarena.corruptions.instructions:InstructionWordDrop",
        "latency": "navarena.corruptions.timing:Latency",
        "lighting": "navarena.corruptions.light:Lighting",
        "localisation_bias": "navarena.corruptions.localisation:LocalisationBias",
        "localisation_drift": "navarena.corruptions.localisation:LocalisationDrift",
        "localisation_dropout": "navarena.corruptions.localisation:LocalisationDropout",
        "localisation_noise": "navarena.corruptions.localisation:LocalisationNoise",
        "localisation_quantisation": "navarena.corruptions.localisation:LocalisationQuantisation",
        "lower_fov": "navarena.corruptions.lens:LowerFov",
        "motion_bias_constant": "navarena.corruptions.motion:MotionBiasConstant",
        "motion_bias_stochastic": "navarena.corruptions.motion:MotionBiasStochastic",
        "motion_blur": "navarena.corruptions.blur:MotionBlur",
        "motion_drift": "navarena.corruptions.motion:MotionDrift",
        "motor_failure": "navarena.corruptions.motion:MotorFailure",
        "native_noise": "navarena.corruptions.motion:NativeNoise",
        "odometry_noise": "navarena.corruptions.localisation:OdometryNoise",
        "pyrobot": "navarena.corruptions.pyrobot:PyRobotNoise",
        "redwood_depth": "navarena.corruptions.redwood:RedwoodDepth",
        "spatter": "navarena.corruptions.spatter:Spatter",
        "speckle_noise": "navarena.corruptions.noise:SpeckleNoise",
    },
    "navarena.corruptions",
)
"""Name -> class (called as Class(severity or None, *words)). Packages add theirs in the entry-point group."""

AUGMENTATIONS = Registry(
    "augmentation",
    {
        "color_jitter": "navarena.corruptions.augmentations:ColorJitter",
        "random_crop": "navarena.corruptions.augmentations:RandomCrop",
        "random_shift": "navarena.corruptions.augmentations:RandomShift",
    },
    "navarena.augmentations",
)
"""Name -> class of what changes images during training, called without arguments for RobustNav's
parameters. Packages add theirs in the entry-point group."""


def find_corruption(text: str) -> Corruption:
    """The corruption that `text` names: "name", "name:severity", "name:word" or "name:severity:word:...".

    Raises UnknownNameError with the nearest choice for a name or word, InputError for a bad severity.
    """
    name, *parts = text.split(MARK)
    kind = CORRUPTIONS.get(name)
    if not all(parts):
        raise InputError(f"expected severity or words after each {MARK!r} of a corruption, got {text!r}")
    severity = int(parts.pop(0)) if parts and parts[0].isdecimal() else None
    if severity is not None and isinstance(kind, type) and issubclass(kind, Corruption):
        _require_severity(name, kind.severities, severity)
    corruption = kind(severity, *parts)
    if not isinstance(corruption, Corruption):
        raise InputError(f"expected {name!r} to name a Corruption, got {type(corruption).__name__}")
    return corruption


def _require_severity(name: str, known: Sequence[int], severity: int) -> None:
    """Raise InputError, by the name that was typed, for a severity that the corruption does not have."""
    if not known:
        raise InputError(f"expected no severity of {name!r}, got {severity}; leave it out")
    if severity not in known:
        raise InputError(f"expected for {name!r} a severity among {tuple(known)}, got {severity}")


def write_corruption(text: str) -> str:
    """The canonical text of the corruption that `text` names: its severity said, default words left out.

    Raises UnknownNameError and InputError as find_corruption.
    """
    return redraw_corruption(text, find_corruption(text).drawing)


def redraw_corruption(text: str, drawing: int) -> str:
    """The canonical text of the corruption that `text` names with other random numbers.

    Args:
        text: as find_corruption reads it.
        drawing: which; 0 for those of a text without "draw-N".

    Raises UnknownNameError and InputError as find_corruption.
    """
    corruption = find_corruption(text)
    name = text.partition(MARK)[0]
    severity = [] if corruption.severity is None else [str(corruption.severity)]
    words = [word for option, word in corruption.choices.items() if word != corruption.words[option][0]]
    drawn = [f"{DRAW_WORD}{drawing}"] if drawing else []
    return MARK.join([name, *severity, *words, *drawn])


def find_corruptions(texts: Sequence[str]) -> dict[str, Corruption]:
    """Text, as write_corruption writes it -> corruption, in the order of `texts`.

    Raises UnknownNameError for unknown names, InputError for a bad severity or a name that occurs twice.
    """
    found: dict[str, Corruption] = {}
    names: dict[str, str] = {}
    for text in texts:
        name = text.partition(MARK)[0]
        if name in names:
            raise InputError(f"expected each corruption once, got {names[name]!r} and {text!r}")
        names[name] = text
        found[write_corruption(text)] = find_corruption(text)
    return found


def join_corruptions(own: Sequence[str], chosen: Sequence[str]) -> dict[str, Corruption]:
    """The corruptions that a protocol has itself, and then those that somebody chose.

    A chosen one takes the place of the protocol's own of the same name, and of those that it replaces.
    Raises UnknownNameError and InputError as find_corruptions.
    """
    found = find_corruptions(chosen)
    gone = {text.partition(MARK)[0] for text in found}
    gone |= {name for corruption in found.values() for name in corruption.replaces}
    return find_corruptions([text for text in own if text.partition(MARK)[0] not in gone]) | found
