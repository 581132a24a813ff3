"""No template takes more than two seconds and 200 MB for a chat of a megabyte, or leaves the sandbox.

Each attack runs in a process with a limit on its memory, which is ended when it hangs.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arrowprep.chat import ChatTemplate
from arrowprep.errors import ChatError, TemplateForbidden

from .attacks import ATTACKS
from .chats import BARE, CHATS, TAGGED

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits are read and set as on Linux")

SECONDS = 2.0  # of processor time
PATIENCE = 120.0  # of waiting, on a machine however busy


class Prisoner:
    """The process, started anew whenever it was ended."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def attempt(self, source: str, size: int = 0, **chat: str) -> dict[str, Any]:
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.hostile.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=Path(__file__).parents[2],
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"source": source, "size": size, **chat}) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        answer = self.process.stdout.readline() if ready else ""
        if not answer:
            code = self.end()
            return {"ended": "no answer", "detail": f"exit code {code}", "seconds": PATIENCE}
        return json.loads(answer)  # type: ignore[no-any-return]

    def end(self) -> int | None:
        process, self.process = self.process, None
        if process is None:
            return None
        process.kill()
        return process.wait()


@pytest.fixture(scope="module")
def prisoner() -> Iterator[Prisoner]:
    prisoner = Prisoner()
    yield prisoner
    prisoner.end()


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_ends_soon_and_small(prisoner: Prisoner, name: str) -> None:
    result = prisoner.attempt(ATTACKS[name], 1_000_000 if "chat" in name else 1000)
    assert result["ended"] in ("text", "refused"), result
    assert result["seconds"] < SECONDS, result


SHOWN = "{{ messages }}{{ messages|tojson }}{% for m in messages %}{{ m.content|upper }}{% endfor %}"
SHOWN += "{{ messages[0].content|unique|list|length if messages[0].content is iterable }}"


@pytest.mark.parametrize("name", CHATS)
def test_a_hostile_chat_ends_soon_and_small(prisoner: Prisoner, name: str) -> None:
    for options in (
        {"source": SHOWN},
        {"source": TAGGED, "spans": "generation"},
        {"source": BARE, "spans": "infer"},
    ):
        result = prisoner.attempt(name=name, **options)
        assert result["ended"] in ("text", "refused"), result
        assert result["seconds"] < SECONDS, result


ESCAPES = [
    name for name in ATTACKS if name.split(" of ")[0] in ("classes", "globals", "the module", "the code")
]


@pytest.mark.parametrize("name", [*ESCAPES, "classes by attr", "the context of self", "changing the chat"])
def test_what_leads_out_of_the_sandbox_shows_nothing(prisoner: Prisoner, name: str) -> None:
    result = prisoner.attempt(ATTACKS[name], 100)
    assert result["ended"] == "refused" or result["detail"] == "", result


def test_an_honest_template_renders_a_megabyte(prisoner: Prisoner) -> None:
    honest = "{% for m in messages %}<{{ m.role }}>{{ m.content.strip().split('</think>')[-1] }}{% endfor %}"
    assert prisoner.attempt(honest, 1_000_000)["ended"] == "text"


def test_what_is_stopped_is_told_with_its_line() -> None:
    with pytest.raises(TemplateForbidden, match=r"line 3 of the template: .*more work") as caught:
        ChatTemplate(
            "\n{% for i in range(99999) %}\n{% for j in range(99999) %}{% endfor %}{% endfor %}"
        ).render([{"role": "user"}])
    assert (caught.value.kind, caught.value.line) == ("limit", 3)


def test_a_conversation_that_contains_itself_is_refused() -> None:
    message: dict[str, Any] = {"role": "user"}
    message["content"] = [message]
    with pytest.raises(ChatError, match="contain themselves"):
        ChatTemplate("{{ messages }}").render([message])


def test_an_attack_through_the_data_stays_data() -> None:
    content = "{{ 7 * 7 }}{% for x in range(99999) %}{% endfor %}"
    assert (
        ChatTemplate("{{ messages[0].content }}").render([{"role": "user", "content": content}]).text
        == content
    )
