"""Options of a protocol travel from the command line to the replay."""

from navarena.evaluation import EvaluationSettings, evaluate, replay_run


def test_a_run_with_options_is_custom_and_replays(tmp_path):
    settings = EvaluationSettings(
        "multion-1on-v1+oracle_found=true", "random-oracle-found", out=tmp_path, episodes=4
    )
    run = evaluate(settings)
    assert run.benchmark.identity.is_custom
    assert str(run.benchmark.identity).startswith("multion-1on-v1+custom+oracle_found=true@houses-v1/")
    assert not replay_run(tmp_path).differences
