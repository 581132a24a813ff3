"""A process that renders one template a line, within 200 MB of what it starts with, and says how it went."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from arrowprep.chat import ChatTemplate
from arrowprep.errors import MaskUnavailable, TemplateError

from .attacks import chat
from .chats import CHATS

MEGABYTES = 200


def attempt(source: str, size: int = 0, name: str = "", spans: str = "") -> dict[str, object]:
    """ended: "text", "refused", or what else came of it; seconds: of processor time.

    size: characters of the chat, or name: one of CHATS
    spans: where the assistant's text is to be known from, too
    """
    messages = CHATS[name]() if name else chat(size)
    start = time.process_time()
    try:
        template = ChatTemplate(source)
        if spans:
            rendered = template.render_with_spans(messages, spans=spans)  # type: ignore[arg-type]
        else:
            rendered = template.render(messages)
        ended, detail = "text", rendered.text[:200]
    except MaskUnavailable as error:
        ended, detail = "refused", str(error)
    except TemplateError as error:
        # running out of memory is told as a refusal too, but is none: another process might have had more
        ended = "memory" if isinstance(error.__cause__, MemoryError) else "refused"
        detail = f"{type(error).__name__} ({error.kind}): {error}"
    except BaseException as error:
        ended, detail = type(error).__name__, str(error)
    if ended == "refused" and spans == "" and name == "" and " of the template: " not in detail:
        ended = "refused without a line"
    return {"ended": ended, "detail": detail[:200], "seconds": time.process_time() - start}


def main() -> None:
    ChatTemplate("{{ messages|tojson }}").render(chat(1000))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    space = pages * resource.getpagesize() + MEGABYTES * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (space, space))
    for line in sys.stdin:
        print(json.dumps(attempt(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
