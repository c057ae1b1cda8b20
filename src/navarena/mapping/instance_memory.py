"""Memory of objects: clusters of projected pixels with their views, merged over time (GOAT-Bench).

After the instance memory of Modular GOAT (spec ivln_goat 4.6): what an image marks as one object becomes
points in the frame of the map; they join the object of that category that lies there, or begin a new one.
Every object keeps the best view from each side, so that a goal given by category, by features or by an image
can be looked up later.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Float32, Int64, UInt8

from navarena.core.errors import InputError
from navarena.core.geometry import focal_length
from navarena.mapping.instance_kernels import (
    add_apart,
    count_near,
    measure_segments,
    write_segment_points,
)
from navarena.mapping.instance_settings import USUAL_INSTANCES, InstanceSettings
from navarena.mapping.instance_views import (
    InstanceView,
    SegmentedImage,
    cut_out,
    is_cut,
    is_far,
    is_in_direction,
    look_beyond,
    sector_of,
)

FRESH_POINTS = 64
"""Points of a segment that are read from one image, evenly chosen."""

MAX_SEGMENTS = 1 << 24
"""Largest number of segments in one image: as many as there are colours of three bytes."""

BETTER = 1.2
"""Times the quality of the kept view from the same side, from which on a new one takes its place."""

Views = Sequence[UInt8[np.ndarray, "_ _ 3"]]
"""Crops."""

ViewMatcher = Callable[[Views], Float32[np.ndarray, "n"]]
"""(N,) float32 scores of N crops, for one image that is looked for."""


@dataclass(eq=False)
class Instance:
    """One object.

    Attributes:
        number: of the object, unique for its agent until it is reset.
        category: "" where nobody knows.
        label: its number in the images of a tracker; None where objects are distinguished by place.
        points: (K, 3) metres, on its surface; none while it was only seen from too far away.
        sides: (K, 3) unit vectors from the points to the cameras that saw them first.
        beyond: (3,) metres, where it lies at least while it has no points; else None.
        views: one for each side, at most.
        pixels: in all images together.
        version: rises whenever its views change.
    """

    number: int
    category: str
    label: int | None
    beyond: Float[np.ndarray, "3"] | None = None
    views: list[InstanceView] = field(default_factory=list)
    pixels: int = 0
    version: int = 0
    _room: Float[np.ndarray, "p 6"] = field(default_factory=lambda: np.zeros((0, 6)), repr=False)
    _count: int = field(default=0, repr=False)
    _apart: float = field(default=0.0, repr=False)
    _box: Float[np.ndarray, "2 3"] = field(default_factory=lambda: np.zeros((2, 3)), repr=False)

    @property
    def points(self) -> Float[np.ndarray, "k 3"]:
        """(K, 3) metres."""
        return self._room[: self._count, :3]

    @property
    def sides(self) -> Float[np.ndarray, "k 3"]:
        """(K, 3) unit vectors, from each point to where it was seen from."""
        return self._room[: self._count, 3:]

    @property
    def box(self) -> Float[np.ndarray, "2 3"]:
        """(2, 3) metres: the lowest and highest corner of the box around the points, or `beyond` twice."""
        if self._count:
            return self._box
        return np.zeros((2, 3)) if self.beyond is None else np.stack([self.beyond, self.beyond])

    @property
    def middle(self) -> Float[np.ndarray, "3"]:
        """(3,) metres: the middle of the box."""
        low, high = self.box
        return np.asarray((low + high) / 2)

    @property
    def size(self) -> Float[np.ndarray, "3"]:
        """(3,) metres: the sides of the box."""
        low, high = self.box
        return np.asarray(high - low)

    @property
    def quality(self) -> float:
        """Quality of the best view; 0 without views."""
        return max((view.quality for view in self.views), default=0.0)

    def overlap(self, fresh: Float[np.ndarray, "k 6"], reach: float) -> float:
        """Overlap with `fresh` (K, 6), metres and sides: the larger share of either near the other.

        Near is within `reach` metres, or as far as its points are kept apart. The greater share counts, so
        that a part of an object is one with the whole.
        """
        if not len(fresh) or not self._count:
            return 0.0
        reach = max(reach, self._apart)
        mine = count_near(fresh, len(fresh), self._room[: self._count], reach) / self._count
        others = count_near(self._room, self._count, fresh, reach) / len(fresh)
        return float(max(mine, others))

    def add(self, fresh: Float[np.ndarray, "k 6"], settings: InstanceSettings) -> None:
        """Take over those of `fresh` (K, 6), metres and sides, that are far enough from the others."""
        if not self._count:
            self._room, self._apart = np.zeros((settings.max_points, 6)), settings.apart
        while (count := add_apart(self._room, self._count, fresh, self._apart)) < 0:
            known, self._apart = self._room.copy(), 1.5 * self._apart
            self._room[:] = 0.0
            fresh = np.concatenate([known, fresh])
            self._count = 0
        if count != self._count:
            self._count = count
            self._box = np.stack([self.points.min(0), self.points.max(0)])
            self.beyond = None


class InstanceMemory:
    """The objects that N agents remember.

    Args:
        agents: N.
        settings: what is remembered.

    Raises InputError when full memories would need more than `limit_bytes`.
    """

    def __init__(self, agents: int, settings: InstanceSettings = USUAL_INSTANCES) -> None:
        need = agents * settings.bytes_per_agent
        if need > settings.limit_bytes:
            raise InputError(
                f"expected instance memories of at most {settings.limit_bytes:,} bytes, got {need:,} for "
                f"{agents} agents; take smaller crops, fewer views or instances, or raise limit_bytes"
            )
        self.agents = agents
        self.settings = settings
        self._instances: list[dict[int, Instance]] = [{} for _ in range(agents)]
        self._labels: list[dict[int, int]] = [{} for _ in range(agents)]
        self._next = [0] * agents
        self._moments = [0] * agents

    def reset(self, agents: Sequence[int] | Int64[np.ndarray, "k"]) -> None:
        """Forget all objects of `agents` (K,)."""
        for agent in np.asarray(agents, np.int64).tolist():
            self._instances[agent], self._labels[agent] = {}, {}
            self._next[agent] = self._moments[agent] = 0

    def instances(self, agent: int, categories: Sequence[str] | None = None) -> list[Instance]:
        """The instances in an agent's memory, of some categories or all, in the order of first sight."""
        known = self._instances[agent].values()
        return [one for one in known if categories is None or one.category in categories]

    def find(self, agent: int, number: int) -> Instance | None:
        """The object called `number`; None if it was forgotten or became part of another one."""
        return self._instances[agent].get(number)

    def observe(self, agent: int, image: SegmentedImage) -> list[int]:
        """Update the memory from an image; returns the instance numbers of its segments.

        Segments without a category, with fewer than `min_pixels` pixels, or (where segments are not
        tracked) without any known depth are overlooked; with `far_apart` those beyond the depth range are
        kept as directions until something of their category is found there, or nothing.
        """
        one = self.settings
        segments = np.ascontiguousarray(image.segments)
        depths = np.ascontiguousarray(image.depth)
        size = max(0, int(segments.max(initial=0))) + 1
        if size > MAX_SEGMENTS:
            raise InputError(f"expected numbers of segments below {MAX_SEGMENTS:,}, got {size - 1:,}")
        counts, known = np.zeros(size, np.int64), np.zeros(size, np.int64)
        boxes = np.zeros((size, 4), np.int64)
        view = (
            *map(float, image.depth_range), float(image.scale), float(image.offset), one.stride,
        )  # fmt: skip
        measure_segments(segments, depths, *view, counts, known, boxes)
        self._moments[agent] += 1
        found: list[int] = []
        for segment in np.flatnonzero(counts >= one.min_pixels).tolist():
            category = image.categories.get(segment)
            if category is None:
                continue
            if not (known[segment] or image.is_tracked):
                found += self._notice_far(
                    agent, image, segment, category, int(counts[segment]), boxes[segment]
                )
                continue
            every = max(1, math.ceil(known[segment] / FRESH_POINTS))
            fresh = np.zeros((FRESH_POINTS, 6))
            focal, pose = focal_length(segments.shape[1], image.hfov), np.ascontiguousarray(image.pose)
            written = write_segment_points(
                segments, depths, *view, segment, every, boxes[segment], focal, pose, fresh
            )
            instance = self._instance_for(agent, segment, category, fresh[:written], image.is_tracked)
            if written:
                instance.add(fresh[:written], one)
            elif not len(instance.points):
                instance.beyond = look_beyond(image, boxes[segment])
            instance.pixels += int(counts[segment])
            if len(instance.points):
                self._keep_view(agent, instance, image, segment, int(counts[segment]), boxes[segment])
            found.append(instance.number)
        self._forget_far(agent, image.pose[:3, 3])
        self._make_room(agent)
        return [number for number in found if number in self._instances[agent]]

    def missing_features(self, agent: int) -> list[InstanceView]:
        """The views whose feature slot is empty."""
        return [view for one in self.instances(agent) for view in one.views if view.feature is None]

    def set_features(self, views: Sequence[InstanceView], features: Float32[np.ndarray, "n f"]) -> None:
        """Fill the slots of N views with features (N, F) float32.

        Raises InputError for features of another length than the slots, or that are not finite.
        """
        if features.shape != (len(views), self.settings.features) or not np.isfinite(features).all():
            raise InputError(
                f"expected finite features of shape {(len(views), self.settings.features)}, got "
                f"{features.shape}; the length stands in InstanceSettings.features"
            )
        for view, feature in zip(views, features):
            view.feature = feature.astype(np.float32)

    def similarities(
        self, instances: Sequence[Instance], feature: Float32[np.ndarray, "f"]
    ) -> Float32[np.ndarray, "n"]:
        """(N,) float32: the greatest scalar product of `feature` (F,) and a view of each of N objects.

        -1 for objects without a filled slot. Raises InputError for a feature of another length.
        """
        if feature.shape != (self.settings.features,):
            raise InputError(
                f"expected a feature of shape ({self.settings.features},), got {feature.shape}; the length "
                "stands in InstanceSettings.features"
            )
        scores = [
            [view.feature @ feature for view in one.views if view.feature is not None] for one in instances
        ]
        return np.array([max(own, default=-1.0) for own in scores], np.float32)

    def match(self, instances: Sequence[Instance], matcher: ViewMatcher) -> Float32[np.ndarray, "n"]:
        """(N,) float32: the best score that `matcher` gives a view of each of N objects; 0 without views.

        Raises InputError for a matcher that returns another number of scores than it was given crops.
        """
        crops = [view.crop for one in instances for view in one.views]
        owners = [k for k, one in enumerate(instances) for _ in one.views]
        scores = np.zeros(len(instances), np.float32)
        if crops:
            given = np.asarray(matcher(crops), np.float32)
            if given.shape != (len(crops),):
                raise InputError(f"expected {len(crops)} scores of a matcher of views, got {given.shape}")
            np.maximum.at(scores, owners, given)
        return scores

    def _instance_for(
        self, agent: int, segment: int, category: str, fresh: Float[np.ndarray, "k 6"], is_tracked: bool
    ) -> Instance:
        """The instance of a segment: by its number, by its place, or a new one."""
        if is_tracked:
            number = self._labels[agent].get(segment)
            return self._begin(agent, category, segment) if number is None else self._instances[agent][number]
        one = self.settings
        rivals = [other for other in self.instances(agent, (category,)) if len(other.points)]
        shares = [other.overlap(fresh, one.reach) for other in rivals]
        joined = [rivals[k] for k in np.argsort(shares, kind="stable")[::-1] if shares[k] >= one.overlap]
        if not joined:
            return self._begin(agent, category, None)
        first = min(joined, key=lambda one: one.number)
        for other in joined:
            if other is not first:
                self._absorb(agent, first, other)
        return first

    def _notice_far(
        self,
        agent: int,
        image: SegmentedImage,
        segment: int,
        category: str,
        count: int,
        box: Int64[np.ndarray, "4"],
    ) -> list[int]:
        """Keep a segment beyond the depth range as a direction, if nothing known lies there; its number."""
        one = self.settings
        if not one.far_apart or not is_far(image, box):
            return []
        beyond, camera = look_beyond(image, box), image.pose[:3, 3]
        same = self.instances(agent, (category,))
        if any(len(other.points) and is_in_direction(other.middle, camera, beyond) for other in same):
            return []
        near = (
            other
            for other in same
            if other.beyond is not None and np.linalg.norm(other.beyond - beyond) <= one.far_apart
        )
        instance = next(near, None) or self._begin(agent, category, None)
        instance.beyond = beyond
        instance.pixels += count
        self._keep_view(agent, instance, image, segment, count, box)
        return [instance.number]

    def _forget_far(self, agent: int, camera: Float[np.ndarray, "3"]) -> None:
        """Forget directions whose end the camera has come to, or along which something was found since."""
        known = self._instances[agent]
        for far in [one for one in known.values() if one.label is None and one.beyond is not None]:
            offset = far.beyond - camera
            found = any(
                len(other.points) and is_in_direction(other.middle, view.pose[:3, 3], far.beyond)
                for other in self.instances(agent, (far.category,))
                for view in far.views[-1:]
            )
            if found or math.hypot(offset[0], offset[2]) < self.settings.far_apart:
                del known[far.number]

    def _begin(self, agent: int, category: str, label: int | None) -> Instance:
        number = self._next[agent]
        self._next[agent] += 1
        instance = self._instances[agent][number] = Instance(number, category, label)
        if label is not None:
            self._labels[agent][label] = number
        return instance

    def _absorb(self, agent: int, instance: Instance, other: Instance) -> None:
        """Make `other` a part of `instance`: two sides of one object that were seen apart at first."""
        instance.add(np.concatenate([other.points, other.sides], axis=1), self.settings)
        instance.pixels += other.pixels
        for view in other.views:
            self._place_view(instance, view)
        del self._instances[agent][other.number]

    def _keep_view(
        self,
        agent: int,
        instance: Instance,
        image: SegmentedImage,
        segment: int,
        count: int,
        box: Int64[np.ndarray, "4"],
    ) -> None:
        """Keep this view if it is the best from its side."""
        one = self.settings
        corners = (int(box[0]), int(box[1]), int(box[2]), int(box[3]))
        whole = 0.5 if is_cut(corners, image.segments.shape, one.stride) else 1.0
        quality = whole * count * one.stride**2
        sector = sector_of(image.pose, instance.middle, one.views)
        kept = next((view for view in instance.views if view.sector == sector), None)
        if kept is not None and quality < BETTER * kept.quality:
            return
        part = (slice(corners[0], corners[1] + 1, one.stride), slice(corners[2], corners[3] + 1, one.stride))
        color = np.median(image.rgb[part][image.segments[part] == segment].astype(float), axis=0)
        crop = cut_out(image.rgb, corners, one.margin, one.crop_px)
        view = InstanceView(crop, np.array(image.pose), sector, quality, color, self._moments[agent])
        self._place_view(instance, view)

    def _place_view(self, instance: Instance, view: InstanceView) -> None:
        """Put a view in its sector, unless a better one is there."""
        kept = next((other for other in instance.views if other.sector == view.sector), None)
        if kept is None or view.quality >= kept.quality:
            instance.views = [*(other for other in instance.views if other is not kept), view]
            instance.version += 1

    def _make_room(self, agent: int) -> None:
        """Forget the objects with the worst views beyond the bound; of equals, the latest."""
        known = self._instances[agent]
        excess = len(known) - self.settings.max_instances
        if excess <= 0:
            return
        worst = sorted(known.values(), key=lambda one: (one.quality, one.pixels, -one.number))
        for instance in worst[:excess]:
            del known[instance.number]
            if instance.label is not None:
                del self._labels[agent][instance.label]
