"""Small files of every layout, written by hand, with the odd numbers that real ones have."""

import copy
import gzip
import json


def view_point(x, z, iou):
    return {"agent_state": {"position": [x, 0.1, z], "rotation": [0, 0.70711, 0, 0.70711]}, "iou": iou}


def bed(number=516, **more):
    return {
        "position": [1.5, 0.8, -2],
        "radius": None,
        "object_id": number,
        "object_name": f"bed_{number}",
        "object_name_id": None,
        "object_category": "bed",
        "room_id": None,
        "room_name": None,
        "view_points": [view_point(1.5, -1.0, 1.18375), view_point(1.585, -1.0, 0.5)],
        **more,
    }


def habitat_episode(**more):
    return {
        "episode_id": "7",
        "scene_id": "hm3d_v0.2/minival/00800-TEEsavR23oF/TEEsavR23oF.basis.glb",
        "start_position": [-3.99935, 0.01338, -2.67815],
        "start_rotation": [0, 0.0, 0, 1.0],
        "info": {"geodesic_distance": 5.40846, "euclidean_distance": 4.9, "closest_goal_object_id": 516},
        "goals": [],
        "start_room": None,
        "shortest_paths": None,
        **more,
    }


BEDS = [bed(), bed(17, position=[0, 1, 2], view_points=[])]

HM3D = {
    "goals_by_category": {"TEEsavR23oF.basis.glb_bed": BEDS},
    "episodes": [
        habitat_episode(
            object_category="bed", scene_dataset_config="./a.json", additional_obj_config_paths=[]
        ),
        habitat_episode(episode_id="8", object_category="bed"),
    ],
    "category_to_task_category_id": {"chair": 0, "bed": 1},
    "category_to_scene_annotation_category_id": {"chair": 0, "bed": 1},
}

MP3D = {
    "episodes": [
        habitat_episode(
            scene_id="mp3d/x8F5xyUWy9e/x8F5xyUWy9e.glb",
            object_category="towel",
            info={
                "geodesic_distance": 3.0,
                "euclidean_distance": 2.5,
                "closest_goal_object_id": 230,
                "navigation_bounds": [[-1.5, 0, -2], [3, 2.5, 4]],
                "best_viewpoint_position": [-3.99935, 0.01338, -2.67815],
            },
            shortest_paths=[
                [
                    {"position": [0, 0.1, 1], "rotation": [0, 0, 0, 1], "action": 1},
                    {"position": [0.25, 0.1, 1], "rotation": [0, 0, 0, 1], "action": None},
                ],
                [1, None, "turn_left", {"position": None, "rotation": None, "action": 3}],
            ],
        )
    ],
    "goals_by_category": {
        "x8F5xyUWy9e.glb_towel": [bed(230, object_name="0_9_230", object_category="towel")]
    },
    "category_to_task_category_id": {"towel": 12},
    "category_to_mp3d_category_id": {"towel": 20},
}

OLD_MP3D = {
    "episodes": [
        habitat_episode(scene_id="mp3d/x/x.glb", object_category="bed", goals=[bed(3), bed(4)]),
        habitat_episode(scene_id="mp3d/x/x.glb", object_category="bed", goals=[bed(3), bed(4)]),
    ],
    "category_to_task_category_id": {"bed": 6},
    "category_to_mp3d_category_id": {"bed": 11},
}

POINTNAV = {
    "episodes": [
        habitat_episode(
            episode_id=3,
            scene_id="data/scene_datasets/habitat-test-scenes/castle.glb",
            info={"geodesic_distance": 2.5, "difficulty": "easy"},
            goals=[{"position": [1, 0.1, -2.5], "radius": None}],
            _shortest_path_cache=None,
        )
    ]
}

IMAGENAV = {
    "goals": {
        "TEEsavR23oF_516": bed(
            object_surface_area=1.25,
            image_goals=[
                {
                    "position": [1.0, 1.5, 0.0],
                    "rotation": [0.0, 0.0, 0.0, 2.0],
                    "hfov": 90,
                    "image_dimensions": [512, 640],
                    "frame_coverage": 0.25,
                    "object_coverage": 0.75,
                }
            ],
        )
    },
    "episodes": [habitat_episode(goal_object_id="516", goal_image_id=0, object_category="bed")],
}


def cylinder(color, x):
    return {
        "object_category": f"cylinder_{color}",
        "position": [x, 0.1, 0.0],
        "radius": None,
        "room_id": None,
        "room_name": None,
    }


MULTION = {
    "episodes": [
        {
            "episode_id": "0",
            "scene_id": "mp3d/X/X.glb",
            "start_position": [0.0, 0.1, 0.0],
            "start_rotation": [0, 0.080, 0, 0.279],
            "info": {"geodesic_distance": 7.0},
            "goals": [cylinder("blue", 3.0), cylinder("cyan", -1.0)],
            "start_room": None,
            "shortest_paths": [[]],
            "object_category": ["cylinder_blue", "cylinder_cyan"],
            "currGoalIndex": 0,
        }
    ],
    "category_to_task_category_id": {"cylinder_red": 0, "cylinder_blue": 2, "cylinder_cyan": 7},
    "category_to_mp3d_category_id": {"cylinder_red": 0, "cylinder_blue": 2, "cylinder_cyan": 7},
}


def unity(x, y, z):
    return {"x": x, "y": y, "z": z}


def unity_episode(**more):
    return {
        "id": "FloorPlan_Train1_1_AlarmClock_0",
        "scene": "FloorPlan_Train1_1",
        "initial_position": unity(3.75, 0.9009997248649597, -2.25),
        "initial_orientation": 150,
        "shortest_path": [unity(3.75, 0.0045, -2.25), unity(3.99, 0.0045, -5)],
        "shortest_path_length": 5.573443102847643,
        **more,
    }


ROBOTHOR_2020 = [
    unity_episode(
        id=12,
        difficulty="hard",
        object_id="Mug|+01.00|+00.90|+02.00",
        object_type="Mug",
        target_position=unity(1, 0.9, 2.0),
    )
]
ROBOTHOR_2021 = [unity_episode(initial_horizon=30, object_type="AlarmClock")]
ROBOTHOR_TEST = [
    {
        name: value
        for name, value in ROBOTHOR_2021[0].items()
        if name not in ("shortest_path", "shortest_path_length")
    }
]
ROBUST_OBJECTNAV = [unity_episode(initial_horizon=30, object_type="AlarmClock", difficulty="medium")]
ROBUST_POINTNAV = [
    unity_episode(initial_orientation=90.0, target_position=unity(3.5, 0.900999665, -2.25), difficulty="easy")
]

OVON = {
    **HM3D,
    "goals_by_category": {
        "TEEsavR23oF.basis.glb_bed": BEDS,
        "TEEsavR23oF.basis.glb_bunk bed": [bed(3, object_category="bunk bed", children_object_categories=[])],
    },
    "episodes": [
        habitat_episode(object_category="bed", children_object_categories=["bunk bed", "cot"], goals=[])
    ],
}

GOAT_BEDS = [
    bed(
        "bed_12",
        children_object_categories=["bunk bed", "cot"],
        lang_desc="Wooden bed near the window.",
        image_goals=IMAGENAV["goals"]["TEEsavR23oF_516"]["image_goals"],
    ),
    bed("bed_13", children_object_categories=["bunk bed"], lang_desc=None, image_goals=[]),
]

GOAT = {
    "episodes": [
        habitat_episode(
            tasks=[
                ["bed", "object", None, None],
                ["bed", "description", "bed_12", None],
                ["bed", "image", "bed_12", 0],
                ["bunk bed", "object", None, None],
            ],
        )
    ],
    "goals": {
        "TEEsavR23oF.basis.glb_bed": GOAT_BEDS,
        "TEEsavR23oF.basis.glb_bunk bed": [
            bed("bunk bed_3", object_category="bunk bed", children_object_categories=[])
        ],
    },
}

LAYOUTS = {
    "goat": ("goat-bench", GOAT),
    "ovon": ("ovon", OVON),
    "hm3d": ("habitat-objectnav-hm3d", HM3D),
    "mp3d": ("habitat-objectnav-mp3d", MP3D),
    "old mp3d": ("habitat-objectnav-mp3d", OLD_MP3D),
    "pointnav": ("habitat-pointnav", POINTNAV),
    "imagenav": ("instance-imagenav", IMAGENAV),
    "multion": ("multion", MULTION),
    "robothor 2020": ("robothor-2020", ROBOTHOR_2020),
    "robothor 2021": ("robothor-2021", ROBOTHOR_2021),
    "robothor test": ("robothor-2021", ROBOTHOR_TEST),
    "robustnav objectnav": ("robustnav-objectnav", ROBUST_OBJECTNAV),
    "robustnav pointnav": ("robustnav-pointnav", ROBUST_POINTNAV),
}
"""Name -> (format, content of a file)."""


def store(path, content):
    """Write `content` as JSON, compressed when `path` ends in .gz; returns the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def episodes_of(content):
    return content if isinstance(content, list) else content["episodes"]


def changed(content, change):
    """A copy of `content` to whose first episode `change` was applied."""
    copied = copy.deepcopy(content)
    change(episodes_of(copied)[0])
    return copied


def exact(content):
    """JSON text that tells 0 from 0.0, whatever the order of keys."""
    return json.dumps(content, sort_keys=True)
