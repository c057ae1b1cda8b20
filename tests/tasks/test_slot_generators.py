"""Generators of slots are saved and restored."""

import pickle

from navarena.tasks.slot_episodes import SlotGenerators


def test_restored_generators_draw_on():
    generators, other = SlotGenerators(2), SlotGenerators(2)
    generators.seed(5)
    generators[1].random(3)
    saved = pickle.dumps(generators.save_state())
    drawn = [generators[slot].random(4).tolist() for slot in range(2)]
    other.restore_state(pickle.loads(saved))
    assert [other[slot].random(4).tolist() for slot in range(2)] == drawn
