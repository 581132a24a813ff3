"""Rows of chats or texts → token ids and labels that a trainer takes, with nothing lost in silence.

    train = prepare_sft(ds, tokenizer, max_length=2048, packing="bfd")
    print(report_sft(ds, tokenizer, max_length=2048, packing="bfd"))

`spec` says what is computed, `examples` renders rows, `encode` makes `tokens` of them, `facts` refuses what
must not reach a trainer, `encoded` is the map that does so, `pack` joins rows, `prepare` is the flow.
"""

from __future__ import annotations

from arrowprep.chat.sft.prepare import prepare_sft
from arrowprep.chat.sft.spec import SFTSpec

__all__ = ["SFTSpec", "prepare_sft"]
