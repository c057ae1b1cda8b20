"""The agent `vlm`: sends images to a language model over HTTP and executes the action it names.

    vlm?url=http://127.0.0.1:8000/v1&model=NAME&history=3&map=true

Answers are kept by the content of their requests, so that going on with a run, or running it once more, asks
for none of them again.
"""

import json
import re
import reprlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Int64

from navarena.agents.agent import Agent, Boundary, EpisodeStarts, Start, require_discrete
from navarena.agents.language.prompts import FILE, fill, read_prompts
from navarena.agents.language.questions import Interviewer, Memory
from navarena.agents.language.settings import LanguageModelSettings, read_settings
from navarena.core.chat import Answer, AnswerStore, ChatClient, ChatError, encode_request
from navarena.core.errors import ActionError, AgentTimeoutError, ServiceUnreachableError
from navarena.core.files import cache_folder, hash_file
from navarena.tasks.task import Phase, Task

FOLDER = "answers"
"""Of the cache, with the answers of models."""

SAID = 80
"""Letters of an answer that names no action, as the model is reminded of it."""


class LanguageModelAgent(Agent):
    """Asks a language model that sees images for every action: vlm?url=http://HOST:PORT/v1&model=NAME.

    It plays every protocol for bodies in scenes with colour images and discrete actions. A request shows the
    goal, the images of now and of some steps before, what the body measures of its pose, and maybe a map; the
    prompts are in one file. All running episodes are asked for at once. An answer that names no action is
    followed by a reminder; after the last one the episode ends (`illegal_action`), as it does when answers
    take too long (`timed_out`). A server that refuses or is not there ends the run.

    Args:
        task: the rules.
        seed: of nothing but sampled words (a temperature above 0), if the server heeds it.

    Raises InputError without the address of a server, for continuous actions and for tasks without images.
    """

    on_graphs = False
    settings: ClassVar[LanguageModelSettings | None] = None

    @classmethod
    def with_options(cls, text: str) -> type["LanguageModelAgent"]:
        members = {"settings": read_settings(text), "__doc__": cls.__doc__}
        return type("LanguageModelAgent", (cls,), members)

    @classmethod
    def weights_beside(cls) -> tuple[str, ...]:
        if cls.settings is None or cls.settings.prompts_file == FILE:
            return ()
        return (hash_file(cls.settings.prompts_file, "prompts"),)

    def __init__(self, task: Task, seed: int = 0) -> None:
        settings = LanguageModelSettings() if self.settings is None else self.settings
        require_discrete(task, "vlm")
        self._prompts = read_prompts(settings.prompts_file)
        self._interviewer = Interviewer(task, self._prompts, settings)
        self._phases = ("phase",) if "phase" in task.sensors else ()
        self.sensors = (*self._interviewer.sensors, *self._phases)
        self._options, self._seed, self._task = settings, seed, task
        self._client = ChatClient(settings.server)
        self._store = AnswerStore(cache_folder() / FOLDER) if settings.cache else None
        self._pool = ThreadPoolExecutor(settings.parallel, "vlm")
        self._legal = tuple(task.actions)
        self._memories: dict[int, Memory] = {}
        self._episodes = EpisodeStarts()
        self._asked: list[int] = []
        self._costs: dict[int, dict[str, float]] = {}
        if task.declares_itself:
            self.forgo_declaration()

    def forgo_declaration(self) -> None:
        """The declaration is no legal action any more."""
        self._legal = tuple(name for name in self._task.actions if name != self._task.declaration)

    def reset(self, starts: Sequence[Start]) -> None:
        for start in map(self._episodes.mark, starts):
            if start.boundary >= Boundary.EPISODE:
                self._memories[start.slot] = self._interviewer.make_memory()
                self._costs[start.slot] = {}

    def episode_costs(self, slot: int) -> Mapping[str, float]:
        """Answers, those of them that were kept from before, tokens, and seconds of the model."""
        return dict(self._costs.get(slot, {}))

    def act(
        self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]
    ) -> Int64[np.ndarray, "n"]:
        actions = np.zeros(len(active), np.int64)
        asked = active.copy()
        for name in self._phases:  # where an oracle leads, nothing that is said counts
            asked &= observations[name].reshape(len(active)) == Phase.AGENT
        questions: dict[int, list[dict[str, Any]]] = {}
        for slot in np.flatnonzero(asked).tolist():
            own = {name: observations[name][slot] for name in self._interviewer.sensors}
            memory = self._memories[slot]
            self._interviewer.look(memory, own)
            system = self._interviewer.system_message(self._legal)
            questions[slot] = [system, self._interviewer.question(memory, own)]
        self._asked = list(questions)
        for slot, name in self._decide(questions).items():
            self._memories[slot].actions.append(name)
            actions[slot] = self._task.actions.index(name)
        return actions

    def overrule(self, actions: Int64[np.ndarray, "n"]) -> None:
        for slot in self._asked:
            self._memories[slot].actions[-1] = self._task.actions[actions[slot]]

    def _decide(self, questions: Mapping[int, list[dict[str, Any]]]) -> dict[int, str]:
        """Slot -> name of the chosen action; equal questions are asked once.

        Raises what the first slot without an answer led to, after all have been answered.
        """
        keys = {slot: encode_request({"messages": messages}) for slot, messages in questions.items()}
        first = {key: slot for slot, key in reversed(keys.items())}
        pending = {key: self._pool.submit(self._ask, questions[slot]) for key, slot in first.items()}
        chosen, problems = {}, []
        for slot, key in keys.items():
            name, costs, problem = pending[key].result()
            _add(self._costs[slot], costs)
            chosen[slot] = name
            problems += [problem] if problem is not None else []
        if problems:
            raise problems[0]
        return chosen

    def _ask(self, messages: list[dict[str, Any]]) -> tuple[str, dict[str, float], Exception | None]:
        """(action, costs, what went wrong): the name that the model gives, after reminders if need be."""
        costs: dict[str, float] = {}
        text = ""
        for _ in range(self._options.retries + 1):
            body = self._make_body(messages)
            try:
                answer, is_kept = self._find_answer(body)
            except ChatError as error:
                kind = AgentTimeoutError if error.is_late else ServiceUnreachableError
                return "", costs, kind(f"{error}; {REMEDY}")
            _add(costs, _count(answer, is_kept))
            text, name = answer.text, read_action_name(answer.text, self._legal)
            if name is not None:
                return name, costs, None
            said = {"said": text[:SAID], "names": ", ".join(self._legal)}
            reminder = {"role": "user", "content": fill(self._prompts.again, said)}
            messages = [*messages, {"role": "assistant", "content": text[:SAID]}, reminder]
        problem = ActionError(
            f"expected one of the actions {', '.join(self._legal)} from {self._options.model}, got "
            f"{reprlib.repr(text)} after {self._options.retries} reminders"
        )
        return "", costs, problem

    def _find_answer(self, body: Mapping[str, Any]) -> tuple[Answer, bool]:
        """The answer to a request, and whether it was kept from before; raises ChatError."""
        server = self._client.server
        kept = None if self._store is None else self._store.find(server, body)
        if kept is not None:
            return kept, True
        answer = self._client.ask(body)
        if self._store is not None:
            self._store.keep(server, body, answer)
        return answer, False

    def _make_body(self, messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The body of a request: messages and the schema of the answer."""
        settings = self._options
        body = {
            "model": settings.model,
            "messages": messages,
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
        }
        if settings.temperature:
            body["seed"] = self._seed
        if settings.structured:
            schema = make_schema(self._legal, settings.reason)
            form = {"name": "action", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body


REMEDY = "check the server and the agent's options, then give the same command again"


def make_schema(actions: Sequence[str], reason: bool) -> dict[str, Any]:
    """The JSON schema of an answer that names one of `actions`, with a `reason` before it or without."""
    named = {"type": "string", "enum": list(actions)}
    properties = {"reason": {"type": "string"}, "action": named} if reason else {"action": named}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_NAMED = re.compile(r'"action"\s*:\s*("(?:[^"\\]|\\.)*")')


def read_action_name(text: str, actions: Sequence[str]) -> str | None:
    """The action that an answer names; None if it names none of `actions`.

    It is the last value of "action" in it, so that a model may think aloud before, or the whole answer.
    """
    found = _NAMED.findall(text)
    try:
        said = json.loads(found[-1]) if found else text
    except ValueError:  # an escape that JSON does not know
        return None
    name = said.strip().strip("\"'`.").lower()
    return name if name in actions else None


def _add(costs: dict[str, float], more: Mapping[str, float]) -> None:
    for name, value in more.items():
        costs[name] = costs.get(name, 0) + value


def _count(answer: Answer, is_kept: bool) -> dict[str, float]:
    """Token costs of an answer, cached answers included."""
    return {
        "answers": 1,
        "kept_answers": int(is_kept),
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "model_seconds": answer.seconds,
    }
