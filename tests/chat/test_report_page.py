"""The page shows every text as it is, token by token, and needs nothing beside itself."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from arrowprep import Dataset, data, load_tokenizer
from arrowprep.chat.html import page
from arrowprep.chat.report import report_of, traces_of
from arrowprep.chat.sft.encoded import Encoded, RunOptions, encode_sft
from arrowprep.chat.sft.spec import SFTSpec
from arrowprep.chat.show import Piece, ShownText, look_at

HOSTILE = "<script>document.title='run'</script> & \"q\" <img src=x onerror=\"document.title='run'\">"
CHATS = [
    [{"role": "user", "content": HOSTILE}, {"role": "assistant", "content": "No — naïve 🙂🧮 way\n\n  so"}],
    [{"role": "<i>odd</i>", "content": "x"}, {"role": "user", "content": "?"}],
    [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "Four."}],
]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    found = load_tokenizer(data.GPT2)
    found.chat_template = data.CHATML.read_text()
    return found


@pytest.fixture
def ds() -> Dataset:
    return Dataset.from_dict({"messages": CHATS})


def encoded_of(ds: Dataset, tokenizer: Any, **options: Any) -> Encoded:
    return encode_sft(ds, tokenizer, SFTSpec.of(**options))


@pytest.fixture
def html(ds: Dataset, tokenizer: Any) -> str:
    encoded = encoded_of(ds, tokenizer, packing="bfd", max_length=200)
    report = report_of(ds, encoded, *traces_of(ds, tokenizer, encoded, RunOptions()))
    texts = look_at(encoded.function, ds, [0, 1, 2])
    texts[1].problems.append("nothing to train")
    return page("chats <&>", report, texts, encoded.plan())


class Texts(HTMLParser):
    """The text of each <pre>, and every tag with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.pre: list[str] = []
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self._inside = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "pre":
            self._inside = True
            self.pre.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "pre"

    def handle_data(self, text: str) -> None:
        if self._inside:
            self.pre[-1] += text


class TestLooking:
    def test_pieces_hold_all_of_the_text_and_all_tokens(self, ds: Dataset, tokenizer: Any) -> None:
        encoded = encoded_of(ds, tokenizer)
        for conversation, text in zip(CHATS, look_at(encoded.function, ds, [0, 1, 2]), strict=True):
            rendered = tokenizer.apply_chat_template(conversation, tokenize=False)
            assert "".join(piece.text for piece in text.pieces) == rendered
            ids = [token for piece in text.pieces for token in piece.ids]
            assert ids == tokenizer.apply_chat_template(conversation)
            assert text.roles == [message["role"] for message in conversation]

    def test_tokens_that_share_a_character_are_one_piece(self, ds: Dataset, tokenizer: Any) -> None:
        [text] = look_at(encoded_of(ds, tokenizer).function, ds, [0])
        [piece] = [piece for piece in text.pieces if "🧮" in piece.text]
        assert len(piece.ids) > 1
        assert tokenizer.decode(piece.ids) == piece.text == "🧮"

    def test_says_which_tokens_are_cut_off(self, ds: Dataset, tokenizer: Any) -> None:
        encoded = encoded_of(ds, tokenizer, max_length=5, truncation="keep_end")
        [text] = look_at(encoded.function, ds, [2])
        kept = [token for piece in text.pieces if not piece.cut for token in piece.ids]
        assert kept == tokenizer.apply_chat_template(CHATS[2])[-5:]

    def test_a_token_of_no_text_paints_no_neighbour(self, tokenizer: Any) -> None:
        import copy

        framed = copy.deepcopy(tokenizer)
        framed.add_bos_token = True
        rows = Dataset.from_dict({"prompt": ["a b"], "completion": [" c"]})
        [text] = look_at(encoded_of(rows, framed).function, rows, [0])
        assert text.pieces[0] == Piece("", [50256], 0, 0)
        assert [(piece.text, piece.trained) for piece in text.pieces[1:]] == [
            ("a", False),
            (" b", False),
            (" c", True),
            ("<|endoftext|>", True),
        ]

    def test_both_sides_of_a_preference(self, tokenizer: Any) -> None:
        sides = {name: [[{"role": "assistant", "content": name}]] for name in ("chosen", "rejected")}
        rows = Dataset.from_dict({"prompt": [[{"role": "user", "content": "Hi"}]], **sides})
        texts = look_at(encoded_of(rows, tokenizer).function, rows, [0])
        assert [text.side for text in texts] == ["chosen", "rejected"]
        for text in texts:
            assert text.side in "".join(piece.text for piece in text.pieces if piece.trained)


class TestPage:
    def test_texts_are_shown_as_they_are(self, html: str, tokenizer: Any) -> None:
        assert Texts(html).pre == [tokenizer.apply_chat_template(chat, tokenize=False) for chat in CHATS]

    def test_nothing_of_the_data_becomes_markup(self, html: str) -> None:
        tags = Texts(html).tags
        assert [tag for tag, _ in tags].count("script") == 1
        assert not [tag for tag, _ in tags if tag == "img"]
        assert "<i>odd" not in html
        assert "<title>chats &lt;&amp;&gt;</title>" in html

    def test_nothing_is_loaded_from_elsewhere(self, html: str) -> None:
        tags = Texts(html).tags
        assert not [attributes for _, attributes in tags if {"src", "href"} & attributes.keys()]
        assert not re.search(r"url\(|@import", html)

    def test_each_token_tells_its_id_offsets_and_mask(self, html: str, tokenizer: Any) -> None:
        about = [attributes["data-about"] for _, attributes in Texts(html).tags if "data-about" in attributes]
        one = tokenizer.apply_chat_template(CHATS[2], return_dict=True, return_assistant_tokens_mask=True)
        spans = tokenizer(
            tokenizer.apply_chat_template(CHATS[2], tokenize=False), return_offsets_mapping=True
        )["offset_mapping"]
        expected = [
            f"id {token} · characters {start}–{stop} · {'trained' if ours else 'not trained'}"
            for token, (start, stop), ours in zip(
                one["input_ids"], spans, one["assistant_masks"], strict=True
            )
        ]
        assert about[-len(expected) :] == expected

    def test_a_text_that_could_not_be_made_is_shown_with_its_problem(
        self, ds: Dataset, tokenizer: Any
    ) -> None:
        report = report_of(ds, encoded_of(ds, tokenizer), [], [])
        shown = ShownText(7, "", [], [], "refused", ["<refused>"])
        assert "&lt;refused&gt;" in page("x", report, [shown])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    pytest.importorskip("selenium", reason="selenium is not installed: the page is not tried in a browser")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("chromium and chromedriver are not installed: the page is not tried in a browser")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=1100,1600"):
        options.add_argument(argument)
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield found
    found.quit()


class TestInABrowser:
    @pytest.fixture
    def opened(self, browser: Any, html: str, tmp_path: Path) -> Any:
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        browser.get(path.as_uri())
        return browser

    def css(self, element: Any, name: str, pseudo: str = "") -> str:
        script = "return getComputedStyle(arguments[0], arguments[1])[arguments[2]]"
        return str(element.parent.execute_script(script, element, pseudo or None, name))

    def shown_rows(self, opened: Any) -> list[str]:
        return [
            a.get_attribute("id") for a in opened.find_elements("tag name", "article") if a.is_displayed()
        ]

    def test_shows_the_texts_and_runs_nothing_of_them(self, opened: Any, tokenizer: Any) -> None:
        assert opened.title == "chats <&>"
        texts = [pre.get_property("textContent") for pre in opened.find_elements("tag name", "pre")]
        assert texts == [tokenizer.apply_chat_template(chat, tokenize=False) for chat in CHATS]

    def test_trained_tokens_alone_are_painted(self, opened: Any) -> None:
        clear = "rgba(0, 0, 0, 0)"
        painted = {
            piece.get_property("textContent")
            for piece in opened.find_elements("css selector", "#row-2 pre > span")
            if self.css(piece, "backgroundColor") != clear
        }
        assert "".join(sorted(painted)) == "".join(sorted({"Four", ".", "<", "|", "im", "_", "end", ">"}))

    def test_filters_by_role_and_problem(self, opened: Any) -> None:
        from selenium.webdriver.support.select import Select

        assert self.shown_rows(opened) == ["row-0", "row-1", "row-2"]
        role = Select(opened.find_element("id", "role"))
        role.select_by_value("<i>odd</i>")
        assert self.shown_rows(opened) == ["row-1"]
        assert opened.find_element("id", "shown").text == "1 shown"
        role.select_by_value("assistant")
        assert self.shown_rows(opened) == ["row-0", "row-2"]
        role.select_by_value("")
        Select(opened.find_element("id", "problem")).select_by_value("nothing to train")
        assert self.shown_rows(opened) == ["row-1"]

    def test_a_token_tells_about_itself_under_the_pointer(self, opened: Any) -> None:
        from selenium.webdriver import ActionChains

        token = opened.find_element("css selector", "#row-2 .m")
        ActionChains(opened).move_to_element(token).perform()
        content = self.css(token, "content", "::after")
        assert re.fullmatch(r'"id \d+ · characters \d+–\d+ · trained"', content)

    def test_the_console_is_quiet(self, opened: Any) -> None:
        assert [entry for entry in opened.get_log("browser") if entry["level"] == "SEVERE"] == []
