"""Identity of a result: `protocol@dataset/split#hash`."""

import hashlib
from dataclasses import dataclass, replace

from navarena.core.protocol_ids import CUSTOM, OPTION_MARK, join_protocol, split_protocol

DATASET_MARK = "@"
"""Stands before the name of the episodes."""


@dataclass(frozen=True)
class Identity:
    """Rules and episodes of a result; two numbers compare only when their identities are equal.

    Attributes:
        protocol: id that binds the rules, such as "pointnav-v1".
        dataset: name of the episodes, such as "houses-v1".
        split: such as "val"; what nobody else uses starts with "custom".
        hash: hexadecimal, of the episodes themselves.
    """

    protocol: str
    dataset: str
    split: str
    hash: str

    def __str__(self) -> str:
        return f"{self.protocol}{DATASET_MARK}{self.dataset}/{self.split}#{self.hash}"

    @classmethod
    def of(cls, text: str) -> "Identity":
        """The identity that is written as `text`."""
        protocol, _, rest = text.partition(DATASET_MARK)
        path, _, digest = rest.rpartition("#")
        dataset, _, split = path.rpartition("/")
        return cls(protocol, dataset, split, digest)

    @property
    def is_custom(self) -> bool:
        """Whether rules or episodes are nobody else's; such a result compares with no published one."""
        return OPTION_MARK in self.protocol or self.split.split("-")[0] == CUSTOM

    def departing(self, name: str, value: str) -> "Identity":
        """The identity of the same episodes under rules that depart in `name`, such as "corrupt".

        What separates the parts of an identity is a dash in `value`, such as the name of a folder.
        """
        base, options = split_protocol(self.protocol)
        text = value.replace(OPTION_MARK, "-").replace(DATASET_MARK, "-")
        return replace(self, protocol=join_protocol(base, {**options, name: text}))

    def first(self, count: int) -> "Identity":
        """The identity of the first `count` episodes alone."""
        digest = hashlib.sha256(f"{self.hash}:first:{count}".encode()).hexdigest()
        return Identity(
            self.protocol, self.dataset, f"custom-{self.split}-first-{count}", digest[: len(self.hash)]
        )
