"""Tiny models with random weights, written to disk in the layouts of the libraries that read them."""

import json
from pathlib import Path
from typing import Any

WORDS = ("couch", "sofa", "desk", "white", "in", "the", "study", "##s", "next", "to")


def seed() -> None:
    import torch

    torch.manual_seed(4)


def write_clip(folder: Path) -> Path:
    from transformers import CLIPConfig, CLIPModel

    seed()
    letters = [*map(chr, range(ord("!"), ord("~") + 1))]
    units = [*letters, *(f"{one}</w>" for one in letters), "so</w>", "<|startoftext|>", "<|endoftext|>"]
    folder.mkdir()
    (folder / "vocab.json").write_text(json.dumps({unit: k for k, unit in enumerate(units)}))
    (folder / "merges.txt").write_text("#version: 0.2\ns o</w>\n")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "CLIPTokenizer", "model_max_length": 20})
    )
    sizes: dict[str, Any] = {
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "projection_dim": 12,
    }
    last = len(units) - 1
    text = {
        "vocab_size": len(units),
        "max_position_embeddings": 20,
        "bos_token_id": last - 1,
        "eos_token_id": last,
        "pad_token_id": last,
    }
    config = CLIPConfig(
        text_config={**sizes, **text},
        vision_config={**sizes, "image_size": 32, "patch_size": 8},
        projection_dim=12,
    )
    CLIPModel(config).save_pretrained(folder)
    return folder


def write_open_clip(folder: Path) -> Path:
    import open_clip
    import torch

    seed()
    config = {
        "embed_dim": 12,
        "vision_cfg": {"image_size": 32, "layers": 2, "width": 16, "head_width": 8, "patch_size": 8},
        "text_cfg": {"context_length": 20, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 2},
    }
    folder.mkdir()
    mean, std = [0.5, 0.4, 0.3], [0.2, 0.2, 0.1]
    (folder / "open_clip_config.json").write_text(
        json.dumps({"model_cfg": config, "preprocess_cfg": {"mean": mean, "std": std}})
    )
    model = open_clip.CLIP(**config)
    torch.save(model.state_dict(), folder / "open_clip_pytorch_model.bin")
    return folder


def write_bert(folder: Path) -> Path:
    from transformers import BertConfig, BertModel

    seed()
    folder.mkdir()
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer"}))
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=80,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def write_sentence(folder: Path, first: bool) -> Path:
    write_bert(folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": first}))
    return folder
