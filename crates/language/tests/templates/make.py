"""Write cases.json: conversations and templates with what transformers renders of them.

    python make.py smollm2.jinja=TEMPLATE gemma3=tokenizer_config.json ...

Each argument is a name and the file of a template, or a ``tokenizer_config.json`` that has one;
those in ``own/`` are always taken. With ``--out`` another file than cases.json is written.
"""

from __future__ import annotations

import argparse
import datetime
import json
from pathlib import Path

from transformers.utils import chat_template_utils as reference

HERE = Path(__file__).parent
NOW = datetime.datetime(2026, 2, 3, 4, 5, 6)


class Clock(datetime.datetime):
    """A clock that stands."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:
        """Give the same time always."""
        del tz
        return NOW


WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather <now> & later, in “any” city's centre.\n  Zürich too: 東京 🌦️",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "its name"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": None},
                "days": {"type": "array", "items": {"type": "integer"}},
                "exact": {"type": "boolean", "default": True},
                "limit": {"type": ["number", "null"], "maximum": 1.5e16, "minimum": 0.00001},
                "nothing": {"type": "object", "properties": {}},
            },
            "required": ["city"],
        },
        "return": {"type": "string"},
    },
}
CLOCK = {
    "type": "function",
    "function": {
        "name": "get_time",
        "description": "",
        "parameters": {"type": "object", "properties": {}, "required": []},
    },
}


def _message(role: str, content: object, **other: object) -> dict:
    return {"role": role, "content": content, **other}


def _call(name: str, arguments: object) -> dict:
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


def _conversations() -> dict[str, list[dict]]:
    user, answer = _message("user", "Hello!"), _message("assistant", "Hi, how are you?")
    arguments = {"city": 'Zürich "HB"', "days": [1, 2], "exact": True, "limit": None, "z": 1.0}
    calls = _message("assistant", "", tool_calls=[_call("get_weather", arguments)])
    result = _message("tool", '{"sky": "blue"}', name="get_weather", tool_call_id="call12345")
    thought = '<think>\nHm, "so".\n</think>\n\nBecause of Rayleigh.'
    return {
        "one user": [user],
        "system": [_message("system", "  You are\n terse. "), user],
        "two turns": [user, answer, _message("user", " And \n you?\n")],
        "system and answered": [_message("system", "S"), user, answer],
        "spaces and scripts": [
            _message("user", "\n\t Hello\u00a0 l\u2028ala é ß 'q' \"Q\" \\ 🧑‍🚀 \x1c\x7f ")
        ],
        "empty": [_message("user", "")],
        "parts": [
            _message("system", [{"type": "text", "text": "Be brief."}]),
            _message("user", [{"type": "text", "text": " It's? "}, {"type": "image"}]),
        ],
        "thinking": [user, _message("assistant", thought), _message("user", "more"), answer],
        "reasoning field": [user, _message("assistant", "Yes.", reasoning_content="\nHm.\n")],
        "reasoning by another name": [user, _message("assistant", "Yes.", thinking="Hm.")],
        "call": [user, calls],
        "call and answer": [_message("system", "S"), user, calls, result],
        "whole tool turn": [
            user,
            calls,
            result,
            _message("assistant", "Blue."),
            _message("user", "ta"),
        ],
        "two results": [user, calls, result, {**result, "content": "more"}],
        "two calls": [
            user,
            _message(
                "assistant",
                "Let me see.",
                tool_calls=[_call("get_time", {}), _call("get_weather", {"city": "Bern"})],
            ),
            {**result, "content": {"sky": ["grey", 1]}},
        ],
        "arguments as text": [user, _message("assistant", "", tool_calls=[_call("f", '{"a": 1}')])],
        "null content": [user, _message("assistant", None, tool_calls=[_call("get_time", {})])],
        "two users": [user, user],
        "assistant first": [answer, user],
        "unknown roles": [user, _message("skip", "x"), answer, _message("stop", "y"), user],
        "only system": [_message("system", "S")],
        "none": [],
    }


def _settings() -> dict[str, dict]:
    return {
        "plain": {},
        "prompt": {"add_generation_prompt": True},
        "tools": {"tools": [WEATHER, CLOCK], "add_generation_prompt": True},
        "not thinking": {"variables": {"enable_thinking": False}, "add_generation_prompt": True},
        "variables": {
            "tools": [CLOCK],
            "variables": {"date_string": "3 Mar 2025", "tools_in_user_message": False},
        },
    }


def _render(template: str, specials: dict, messages: list, setting: dict) -> dict:
    normalised = reference._normalize_chat_messages(messages)
    try:
        texts, _ = reference.render_jinja_template(
            [normalised],
            tools=setting.get("tools"),
            chat_template=template,
            add_generation_prompt=setting.get("add_generation_prompt", False),
            **specials,
            **setting.get("variables", {}),
        )
    except Exception as error:
        refused = type(error).__name__ == "TemplateError"
        return {"refused": str(error)} if refused else {"failed": str(error)}
    return {"text": texts[0]}


def _template(path: Path) -> tuple[str, dict]:
    text = path.read_text()
    if path.suffix != ".json":
        return text, {"bos_token": "<s>", "eos_token": "</s>"}
    config = json.loads(text)
    specials = {}
    for name in ("bos_token", "eos_token"):
        token = config.get(name)
        token = token["content"] if isinstance(token, dict) else token
        if token is not None:
            specials[name] = token
    return config["chat_template"], specials


def main() -> None:
    """Render every conversation with every template and setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("templates", nargs="*", metavar="NAME=FILE")
    parser.add_argument("--out", type=Path, default=HERE / "cases.json")
    arguments = parser.parse_args()
    reference.datetime = Clock
    files = {f"own {p.stem}": p for p in sorted((HERE / "own").glob("*.jinja"))}
    for argument in arguments.templates:
        name, _, path = argument.partition("=")
        files[name] = Path(path)
    conversations, settings = _conversations(), _settings()
    templates = {}
    for name, path in files.items():
        source, specials = _template(path)
        expected = {
            f"{conversation}/{setting}": _render(source, specials, messages, options)
            for conversation, messages in conversations.items()
            for setting, options in settings.items()
        }
        templates[name] = {"source": source, "specials": specials, "expected": expected}
    out = {
        "now": NOW.isoformat(),
        "conversations": conversations,
        "settings": settings,
        "templates": templates,
    }
    arguments.out.write_text(json.dumps(out, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
