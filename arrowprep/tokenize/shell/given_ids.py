"""Ids that somebody else made of a text: cut, put between special tokens, and padded as a call does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrowprep.errors import BadArgument
from arrowprep.tokenize.batch_encoding import BatchEncoding
from arrowprep.tokenize.request import model_limit, padding_strategy
from arrowprep.tokenize.request import truncation_strategy as strategy_named
from arrowprep.tokenize.shell.pretrained import PreTrainedTokenizer

Ids = list[int]


class GivenIds(PreTrainedTokenizer):
    """For tokenizers that know what stands around a text, and its types, by methods of their own."""

    def build_inputs_with_special_tokens(self, token_ids_0: Ids, token_ids_1: Ids | None = None) -> Ids:
        raise NotImplementedError

    def create_token_type_ids_from_sequences(self, token_ids_0: Ids, token_ids_1: Ids | None = None) -> Ids:
        raise NotImplementedError

    def prepare_for_model(
        self,
        ids: Ids,
        pair_ids: Ids | None = None,
        add_special_tokens: bool = True,
        padding: bool | str = False,
        truncation: bool | str = False,
        max_length: int | None = None,
        stride: int = 0,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_tensors: str | None = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_length: bool = False,
        verbose: bool = True,
        prepend_batch_axis: bool = False,
        **ignored: Any,
    ) -> BatchEncoding:
        """What a call gives for a text, or a pair, of these ids; what is cut off is `overflowing_tokens`.

        Raises BadArgument as a call does, and where the rest of a pair, of which the longer
        text gives way, is asked for.
        """
        cut = strategy_named(truncation)
        if return_overflowing_tokens and cut == "longest_first" and pair_ids is not None:
            raise BadArgument("what is cut off a pair is known with 'only_first' and 'only_second' alone")
        limit = model_limit(self) if max_length is None and cut != "do_not_truncate" else max_length
        added = self.num_special_tokens_to_add(pair_ids is not None) if add_special_tokens else 0
        over = len(ids) + len(pair_ids or ()) + added - (limit or 0)
        rest: Ids = []
        if cut != "do_not_truncate" and limit:
            ids, pair_ids, rest = self.truncate_sequences(ids, pair_ids, over, cut, stride)
        data = self._framed(ids, pair_ids, add_special_tokens)
        names = self.model_input_names
        if not ("token_type_ids" in names if return_token_type_ids is None else return_token_type_ids):
            del data["token_type_ids"]
        if not return_special_tokens_mask:
            del data["special_tokens_mask"]
        if rest and return_overflowing_tokens and not return_tensors:
            data |= {"overflowing_tokens": rest, "num_truncated_tokens": over}
        wanted = "attention_mask" in names if return_attention_mask is None else return_attention_mask
        pad = padding_strategy(padding)
        if pad != "do_not_pad" or wanted:
            data = dict(
                self.pad(data, pad, max_length, pad_to_multiple_of, padding_side, return_attention_mask)
            )
        if return_length:
            data["length"] = len(data["input_ids"])
        return BatchEncoding(data, tensor_type=return_tensors, prepend_batch_axis=prepend_batch_axis)

    def _framed(self, ids: Ids, pair_ids: Ids | None, add_special_tokens: bool) -> dict[str, Any]:
        if not add_special_tokens:
            both = [*ids, *(pair_ids or ())]
            zeros = [0] * len(both)
            return {"input_ids": both, "token_type_ids": zeros, "special_tokens_mask": list(zeros)}
        return {
            "input_ids": self.build_inputs_with_special_tokens(ids, pair_ids),
            "token_type_ids": self.create_token_type_ids_from_sequences(ids, pair_ids),
            "special_tokens_mask": self.get_special_tokens_mask(ids, pair_ids),
        }

    def truncate_sequences(
        self,
        ids: Ids,
        pair_ids: Ids | None = None,
        num_tokens_to_remove: int = 0,
        truncation_strategy: str = "longest_first",
        stride: int = 0,
    ) -> tuple[Ids, Ids | None, Ids]:
        """The ids and the pair's without so many, and what was cut off one with `stride` ids before it.

        "longest_first" of a pair first makes both equally long, then takes from both, and
        tells nothing of what it took.
        """
        count = num_tokens_to_remove
        strategy = strategy_named(truncation_strategy)
        if count <= 0:
            return ids, pair_ids, []
        if strategy == "only_first" or (strategy == "longest_first" and pair_ids is None):
            ids, rest = self._cut(ids, count, stride)
            return ids, pair_ids, rest
        if strategy == "only_second" and pair_ids:
            pair_ids, rest = self._cut(pair_ids, count, stride)
            return ids, pair_ids, rest
        if strategy == "longest_first" and pair_ids is not None:
            uneven = min(abs(len(ids) - len(pair_ids)), count)
            half = (count - uneven) // 2
            first, second = half, count - uneven - half
            if len(ids) > len(pair_ids):
                first += uneven
            else:
                second += uneven
            return self._cut(ids, first)[0], self._cut(pair_ids, second)[0], []
        return ids, pair_ids, []

    def _cut(self, ids: Sequence[int], count: int, stride: int = 0) -> tuple[Ids, Ids]:
        """The ids without `count` at the side that gives way, and these."""
        ids = list(ids)
        window = min(len(ids), stride + count)
        if self.truncation_side == "left":
            return ids[count:], ids[:window]
        return ids[: max(len(ids) - count, 0)], ids[len(ids) - window :]
