"""Chats: messages → text and the spans the assistant wrote → masks → packed training batches.

    template = ChatTemplate(text, special_tokens={"bos_token": "<s>"})
    rendered = template.render([{"role": "user", "content": "Hi"}], add_generation_prompt=True)
    rendered.text, rendered.spans

Each name below is loaded when first used: rendering needs no pyarrow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arrowprep.chat.collate import DataCollatorWithFlattening, DataCollatorWithPadding
    from arrowprep.chat.convention import Convention
    from arrowprep.chat.mask import span_mask
    from arrowprep.chat.packing import Packing, pack
    from arrowprep.chat.report import ChatReport, report_sft
    from arrowprep.chat.sft import SFTSpec, prepare_sft
    from arrowprep.chat.template import ChatTemplate, Rendered, choose_template
    from arrowprep.chat.tools import function_schema
    from arrowprep.chat.train_on import TrainOn, trained_spans

_HOME = {
    "ChatTemplate": "template",
    "Convention": "convention",
    "Rendered": "template",
    "choose_template": "template",
    "function_schema": "tools",
    "span_mask": "mask",
    "TrainOn": "train_on",
    "trained_spans": "train_on",
    "Packing": "packing",
    "pack": "packing",
    "SFTSpec": "sft",
    "prepare_sft": "sft",
    "ChatReport": "report",
    "report_sft": "report",
    "DataCollatorWithFlattening": "collate",
    "DataCollatorWithPadding": "collate",
}

__all__ = [
    "ChatReport",
    "ChatTemplate",
    "Convention",
    "DataCollatorWithFlattening",
    "DataCollatorWithPadding",
    "Packing",
    "Rendered",
    "SFTSpec",
    "TrainOn",
    "choose_template",
    "function_schema",
    "pack",
    "prepare_sft",
    "report_sft",
    "span_mask",
    "trained_spans",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'arrowprep.chat' has no attribute {name!r}")
    value = getattr(import_module(f"arrowprep.chat.{home}"), name)
    globals()[name] = value
    return value
