"""The protocols, by id."""

from copy import copy
from dataclasses import replace

from navarena.core.errors import InputError
from navarena.core.protocol_ids import join_protocol, split_protocol
from navarena.core.registry import Registry
from navarena.tasks.image_options import IMAGE_OPTIONS, ImageOptions
from navarena.tasks.options import read_options
from navarena.tasks.task import Task, TaskRules

TASKS = Registry(
    "protocol",
    {
        "goat-v1": "navarena.tasks.protocols.goat:Goat",
        "instance-imagenav-v1": "navarena.tasks.protocols.goat_skills:InstanceImageNav",
        "ir2r-ce-v1": "navarena.tasks.protocols.vln_ce:IR2RCE",
        "ir2r-v1": "navarena.tasks.graphs.task:IR2R",
        "languagenav-v1": "navarena.tasks.protocols.goat_skills:LanguageNav",
        "multion-1on-v1": "navarena.tasks.protocols.multi_on:MultiOn1",
        "multion-2on-v1": "navarena.tasks.protocols.multi_on:MultiOn2",
        "multion-3on-v1": "navarena.tasks.protocols.multi_on:MultiOn3",
        "multion-shapes-1on-v1": "navarena.tasks.protocols.multi_on:MultiOnShapes1",
        "multion-shapes-2on-v1": "navarena.tasks.protocols.multi_on:MultiOnShapes2",
        "multion-shapes-3on-v1": "navarena.tasks.protocols.multi_on:MultiOnShapes3",
        "objectnav-habitat2020-v1": "navarena.tasks.protocols.object_nav:ObjectNavHabitat2020",
        "objectnav-hm3d2022-v1": "navarena.tasks.protocols.object_nav:ObjectNavHm3d2022",
        "objectnav-robothor2020-v1": "navarena.tasks.protocols.object_nav_robothor:ObjectNavRobothor2020",
        "objectnav-robothor2021-v1": "navarena.tasks.protocols.object_nav_robothor:ObjectNavRobothor2021",
        "objectnav-stretch2023-v1": "navarena.tasks.protocols.object_nav_stretch:ObjectNavStretch2023",
        "ovon-v1": "navarena.tasks.protocols.goat_skills:Ovon",
        "pointnav-habitat2020-v1": "navarena.tasks.protocols.point_nav_habitat2020:PointNavHabitat2020",
        "pointnav-robothor-v1": "navarena.tasks.protocols.point_nav_robothor:PointNavRobothor",
        "pointnav-v1": "navarena.tasks.protocols.point_nav:PointNav",
        "r2r-ce-v1": "navarena.tasks.protocols.vln_ce:R2RCE",
        "r2r-v1": "navarena.tasks.graphs.task:R2R",
        "robustnav-objectnav-v1": "navarena.tasks.protocols.object_nav_robustnav:RobustObjectNav",
        "robustnav-pointnav-v1": "navarena.tasks.protocols.point_nav_robothor:RobustPointNav",
    },
    "navarena.tasks",
)
"""Protocol id -> Task class, called without arguments or with its options.

Packages add theirs in the entry-point group."""


def get_task(protocol_id: str) -> TaskRules:
    """The task of a protocol, with options if the id has some: "multion-3on-v1+found_budget=5".

    A Task for bodies in scenes, or a GraphTask on navigation graphs. Raises UnknownNameError with the nearest
    choice, InputError for an option that does not fit.
    """
    base, texts = split_protocol(protocol_id)
    make = TASKS.get(base)
    task = make()
    if not isinstance(task, TaskRules):
        raise InputError(f"expected protocol {protocol_id!r} to name a Task, got {type(task).__name__}")
    images = {name: texts.pop(name) for name in IMAGE_OPTIONS if name in texts}
    if texts:
        if task.options_type is None:
            raise InputError(f"expected no options of {base!r}, got {protocol_id!r}")
        task = make(read_options(task.options_type, texts))
    return change_images(task, ImageOptions.read(images)) if images else task


def change_images(task: str | TaskRules, options: ImageOptions) -> TaskRules:
    """The task, or that of a protocol id, with image sizes, depth and poses of your own; it is custom.

    What is None in `options` stays as it is. Raises InputError for a task on navigation graphs, and for
    odometry where actions are numbers.
    """
    found = get_task(task) if isinstance(task, str) else task
    if options == ImageOptions():
        return found
    if not isinstance(found, Task):
        raise InputError(
            f"expected a protocol with cameras for image sizes, got {found.protocol_id} on graphs"
        )
    if options.poses == "odometry" and found.is_continuous:
        raise InputError(
            "expected discrete actions, whose motions are known, for poses=odometry, got "
            f"{found.protocol_id}; choose poses=estimated"
        )
    changed = copy(found)
    named = {name: value for name, value in vars(options).items() if value is not None}
    changed.images = replace(found.images, **named)
    base, texts = split_protocol(found.protocol_id)
    changed.protocol_id = join_protocol(base, {**texts, **changed.images.texts()})
    return changed


def get_body_task(protocol_id: str) -> Task:
    """The task of a protocol for bodies in scenes; raises as `get_task`, and InputError for one on graphs."""
    return require_body_task(get_task(protocol_id))


def require_body_task(task: TaskRules) -> Task:
    """`task`, if it has bodies in scenes; raises InputError for one on navigation graphs."""
    if not isinstance(task, Task):
        raise InputError(
            f"expected a protocol with bodies in scenes, got {task.protocol_id!r}, which has none"
        )
    return task
