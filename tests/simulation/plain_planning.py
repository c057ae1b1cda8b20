"""Plans of discrete actions in plain Python: the slow reference beside the compiled ones."""

import heapq

import numpy as np

from navarena.simulation.motion import turned
from navarena.simulation.navmesh.queries.goal_fields import GoalFields
from navarena.simulation.planning.headings import turns_of

NO_TURNS = (-1, 0)


class PlainPlanner:
    """One body, one goal, one navmesh."""

    def __init__(self, mesh, body, goal, stop_distance):
        self.mesh, self.body, self.stop_distance = mesh, body, stop_distance
        self.turns = turns_of(body).tolist()
        self.fields = GoalFields(1)
        self.fields.set_goals(0, mesh, np.reshape(goal, (-1, 3)))

    def distance(self, position):
        return float(self.fields.distance([0], position[None])[0])

    def moves(self, pose):
        """(turns, (position, yaw, triangle), collided, distance) of every combined move from a pose."""
        position, yaw, triangle = pose
        for turns in self.turns:
            heading = yaw
            for _ in range(abs(turns)):
                heading = turned(heading, np.copysign(self.body.turn_angle, turns))
            end, under, collided = position[None].copy(), np.array([triangle], np.int32), np.zeros(1, bool)
            self.mesh.table.step_bodies(
                np.zeros(1, np.int64),
                under,
                end,
                np.array([heading]),
                np.array([self.body.forward_step]),
                self.body.slides,
                collided,
            )
            yield turns, (end[0], heading, int(under[0])), bool(collided[0]), self.distance(end[0])

    def follow(self, pose, max_actions):
        """(moves, actions, pose, whether it arrived) of the greedy walk from a pose."""
        moves, actions, left = [], 0, self.distance(pose[0])
        while not left < self.stop_distance and actions < max_actions:
            scored = [
                ((left - far) / self.body.forward_step - (0.0125 * abs(turns) + 0.25 * hit), turns, end, far)
                for turns, end, hit, far in self.moves(pose)
                if left - far >= 0.02
            ]
            if not scored:
                return moves, actions, pose, False
            _, turns, pose, left = max(scored, key=lambda one: one[0])
            moves.append(turns)
            actions += abs(turns) + 1
        return moves, actions, pose, left < self.stop_distance

    def search(self, pose, max_actions, breadth=16):
        """Moves of the weighted A* from a pose, or None."""
        nodes, seen, queue = [(pose, 0, 0, None, 0)], set(), [(0.0, 0)]
        while queue:
            for index in [heapq.heappop(queue)[1] for _ in range(min(breadth, len(queue)))]:
                start, heading, before, _, _ = nodes[index]
                for turns, end, _, far in self.moves(start):
                    actions = before + abs(turns) + 1
                    aim = (heading + turns) % len(self.turns)
                    cell = (*np.floor(end[0] / (0.05, 0.5, 0.05)).astype(int).tolist(), aim)
                    steps_left = max(far - self.stop_distance, 0.0) / self.body.forward_step
                    if not actions + steps_left <= max_actions or cell in seen:
                        continue
                    seen.add(cell)
                    nodes.append((end, aim, actions, index, turns))
                    if far < self.stop_distance:
                        return self.trace(nodes)
                    heapq.heappush(queue, (actions + 1.5 * far / self.body.forward_step, len(nodes) - 1))
        return None

    def trace(self, nodes):
        moves, node = [], nodes[-1]
        while node[3] is not None:
            moves.append(node[4])
            node = nodes[node[3]]
        return moves[::-1]

    def plan(self, position, yaw, max_steps):
        """Moves from a pose to the goal, or None."""
        start, budget = (np.asarray(position, float), float(yaw), -1), max_steps - 1
        moves, actions, reached, arrived = self.follow(start, budget)
        if arrived and actions <= budget:
            return moves
        for origin, behind, left in ((reached, moves, budget - actions), (start, [], budget)):
            rest = self.search(origin, left)
            if rest is not None:
                return behind + rest
        return None
