"""Settings: what an operator may choose. The TOML file, then the environment, then flags; the later one wins.

1. `fabula.toml` in the working directory, or the file named by `--config` or `FABULA_CONFIG`,
2. `FABULA_<NAME>` in the environment (or one of the aliases named with a setting),
3. flags of the command line.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

CONFIG_NAME = "FABULA_CONFIG"
LONGEST_FILE = 2**20
OTHER_NAMES = frozenset({CONFIG_NAME, "FABULA_SKIP_WEB", "FABULA_URL"})
"""Variables of Fabula that are no settings: the name of the settings file, and those of the build and the examples."""


_LEVELS = {"warn": "warning", "critical": "error", "fatal": "error", "trace": "debug"}
"""Levels of other programs: LOG_LEVEL may be set for all that run on a machine."""


class SettingsError(Exception):
    """A setting cannot be used; the message names it and says what it takes."""


def _setting(default: Any, sentence: str, *, aliases: tuple[str, ...] = (), secret: bool = False) -> Any:
    return Field(default=default, description=sentence, json_schema_extra={"aliases": list(aliases), "secret": secret})


class Settings(BaseModel):
    """Every setting of Fabula, each with its sentence of documentation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = _setting("127.0.0.1", "The address to listen on. Beyond loopback, access tokens are required.")
    port: int = _setting(8420, "The port to listen on; 0 takes any free one.")
    workers: int = _setting(1, "How many server processes share the port; more than one needs Postgres.")
    data_dir: Path = _setting(
        Path("~/.local/share/fabula"),
        "The folder for the database, blobs, the key file and logs of an embedded server.",
    )
    database_url: str = _setting(
        "",
        "A `postgresql://` address turns on the scaled store; empty means SQLite in the data folder.",
        aliases=("DB_DSN",),
        secret=True,
    )
    database_pool_size: int = _setting(
        16, "How many connections to Postgres a process opens at most; that many units of work run at once."
    )
    redis_url: str = _setting(
        "",
        "A `redis://` address through which servers on one Postgres follow each other's turns and count rate limits "
        "together; without it turns go through Postgres, and each server counts for itself.",
        aliases=("REDIS_URL",),
        secret=True,
    )
    broker_url: str = _setting(
        "",
        "A `redis://` or `amqp://` address over which work that follows turns goes to `fabula worker`; empty means "
        "that servers do it themselves.",
        aliases=("CELERY_BROKER_URL",),
        secret=True,
    )
    secret_key: str = _setting(
        "",
        "The key that encrypts stored secrets; empty means a key file (mode 0600) in the data folder.",
        aliases=("SECRET_KEY",),
        secret=True,
    )
    summaries: Literal["auto", "rule", "model"] = _setting(
        "auto",
        "How long plays are summed up after their turns: in the words of the keeper's model, unless that runs in this "
        "process and would hold turns up (`auto`), always (`model`), or in sentences of the play itself (`rule`).",
    )
    log_level: Literal["debug", "info", "warning", "error"] = _setting(
        "info", "How much is logged.", aliases=("LOG_LEVEL", "GAME_AGENT_LOG_LEVEL")
    )
    log_format: Literal["text", "json"] = _setting(
        "text", "How the server's log reads: lines for people, or one JSON object a line."
    )
    log_dir: Path = _setting(Path("logs"), "The folder for the logs of game connections; relative to the data folder.")
    max_log_mib: int = _setting(
        512, "How large the folder of logs of game connections may grow, in MiB; the oldest logs make way."
    )
    backup_dir: Path = _setting(
        Path("backups"), "The folder for backups that are asked of a running server; relative to the data folder."
    )
    allowed_hosts: tuple[str, ...] = _setting(
        (), "Host names under which the server may be addressed, besides loopback and `host`. `*` allows all."
    )
    allowed_origins: tuple[str, ...] = _setting(
        (),
        "Web origins (`https://example.org`) whose pages may call the server, besides its own.",
        aliases=("CORS_ALLOWED_ORIGINS",),
    )
    require_tokens: bool = _setting(
        False, "Ask for an access token on loopback too. Beyond loopback tokens are always required."
    )
    behind_proxy: bool = _setting(
        False,
        "Take requests that a proxy passed on (`X-Forwarded-For`, `Forwarded`) where no tokens are asked for. "
        "Whoever reaches the proxy may then do everything.",
    )
    allow_private_model_addresses: bool = _setting(
        False,
        "Let apis point to private and loopback addresses although the server listens beyond loopback.",
    )
    api_key_variables: tuple[str, ...] = _setting(
        ("*_API_KEY",),
        "Environment variables that an api's key may be read from as `env:NAME`; `*` stands for any letters.",
    )
    models_dir: Path = _setting(
        Path("models"), "The folder of GGUF files for `local` apis; relative to the data folder."
    )
    openai_api_key: str = _setting(
        "", "The key of the model server that `fabula models use` offers.", aliases=("OPENAI_API_KEY",), secret=True
    )
    openai_api_base: str = _setting(
        "", "The address of the model server that `fabula models use` offers.", aliases=("OPENAI_API_BASE",)
    )
    llm_model: str = _setting("", "The model that `fabula models use` chooses.", aliases=("LLM_MODEL",))
    game_model: str = _setting(
        "",
        "The model for turns of the game socket; empty means the same as `llm_model`.",
        aliases=("ACTIVE_STREAM_LLM_MODEL",),
    )
    samples: bool = _setting(True, "Install the sample stories when the server starts with an empty store.")
    max_body_mib: int = _setting(1, "The largest request body, in MiB; stories and uploads have bounds of their own.")
    max_story_mib: int = _setting(
        8, "The largest request that brings a whole story, graph or lorebook, in MiB; authors alone may send one."
    )
    max_archive_mib: int = _setting(64, "The largest uploaded or unpacked archive, in MiB.")
    max_open_per_token: int = _setting(
        64,
        "How many requests, streams and game sockets one access token may have open at once; admins are not counted.",
    )
    calls_per_minute: int = _setting(
        1200,
        "How many calls one access token may make a minute, at all doors; 0 sets no limit, nor has an admin.",
    )
    turns_per_minute: int = _setting(
        60, "How many turns one access token may begin a minute; 0 sets no limit, nor has an admin."
    )
    session_turns_per_minute: int = _setting(
        30, "How many turns may be begun in one session a minute; 0 sets no limit, nor has an admin."
    )
    min_free_mib: int = _setting(
        32, "With less space left on the disk of an embedded server, in MiB, `/readyz` says that it is not ready."
    )
    turn_deadline_s: float = _setting(120.0, "How long a turn may take in all, in seconds.")
    section_deadline_s: float = _setting(900.0, "How long building one section of a story may take in all, in seconds.")
    agent_calls_per_turn: int = _setting(
        40, "How many questions one agent (narrator, actor, keeper ...) may ask its model in one turn; 0 sets no limit."
    )
    model_attempts: int = _setting(4, "How often a model call is tried in all when its server is busy or unreachable.")
    trace_days: int = Field(
        default=7,
        ge=0,
        le=3650,
        description="For how many days it is kept what happened in each turn, with its prompts; 0 keeps nothing.",
        json_schema_extra={"aliases": [], "secret": False},
    )
    otlp_endpoint: str = _setting(
        "",
        "Where traces are sent on to as OpenTelemetry spans (`http://collector:4318`); needs the extra "
        "`opentelemetry`. No words of players or models are among them.",
        aliases=("OTEL_EXPORTER_OTLP_ENDPOINT",),
    )
    embedder: Literal["wordllama", "api", "off"] = _setting(
        "wordllama",
        "What compares memories by their meaning: static word vectors on this machine, a model of a server that speaks "
        "`/v1/embeddings` (`api`), or nothing. After a change the vectors of all memories are made anew.",
    )
    embedder_base: str = _setting(
        "", "The address of the server for `embedder = api`; empty means the same as `openai_api_base`."
    )
    embedder_model: str = _setting("text-embedding-3-small", "The model for `embedder = api`.")
    embedder_key: str = _setting(
        "", "The key for `embedder = api`; empty means the same as `openai_api_key`.", secret=True
    )
    embedder_dimension: int = Field(
        default=512,
        ge=16,
        le=4096,
        description="How many numbers of each vector are kept with `embedder = api`; its model must send as many.",
        json_schema_extra={"aliases": [], "secret": False},
    )
    memo: bool = _setting(True, "Answer repeated seeded model calls from the memo table.")

    @property
    def data_folder(self) -> Path:
        return self.data_dir.expanduser().absolute()

    @property
    def log_folder(self) -> Path:
        return self.data_folder / self.log_dir.expanduser()

    @property
    def backup_folder(self) -> Path:
        return self.data_folder / self.backup_dir.expanduser()

    @property
    def models_folder(self) -> Path:
        return self.data_folder / self.models_dir.expanduser()


def aliases_of(name: str) -> tuple[str, ...]:
    """The environment variables that a setting is read from, its own name first."""
    extra = Settings.model_fields[name].json_schema_extra
    assert isinstance(extra, dict)
    aliases = extra["aliases"]
    assert isinstance(aliases, list)
    return (f"FABULA_{name.upper()}", *(str(alias) for alias in aliases))


def is_secret(name: str) -> bool:
    """Whether a setting's value must never be shown."""
    extra = Settings.model_fields[name].json_schema_extra
    return isinstance(extra, dict) and bool(extra["secret"])


def load_settings(
    *, environment: Mapping[str, str], config: Path | None = None, flags: Mapping[str, object] | None = None
) -> Settings:
    """The settings from all three sources; raises SettingsError with one clear sentence."""
    values: dict[str, object] = {**_from_file(environment, config), **_from_environment(environment)}
    values.update({name: value for name, value in (flags or {}).items() if value is not None})
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(_sentence(error)) from None


def unknown_names(environment: Mapping[str, str]) -> list[str]:
    """A sentence for each `FABULA_*` variable that sets nothing, with the name that was probably meant."""
    known = sorted({alias for name in Settings.model_fields for alias in aliases_of(name)} | OTHER_NAMES)
    return [
        f"{name} is set, but there is no such setting.{_nearest(name, known)}"
        for name in sorted(environment)
        if name.startswith("FABULA_") and name not in known
    ]


def _nearest(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    return f" Did you mean {near[0]}?" if near else " `fabula doctor --settings` lists them all."


def _from_environment(environment: Mapping[str, str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, field in Settings.model_fields.items():
        text = next((environment[alias] for alias in aliases_of(name) if environment.get(alias)), None)
        if text is not None:
            is_list = field.annotation == tuple[str, ...]
            found[name] = tuple(part.strip() for part in text.split(",") if part.strip()) if is_list else text
    if isinstance(level := found.get("log_level"), str):
        found["log_level"] = _LEVELS.get(level.lower(), level.lower())
    return found


def _from_file(environment: Mapping[str, str], config: Path | None) -> dict[str, object]:
    named = config or (Path(environment[CONFIG_NAME]) if environment.get(CONFIG_NAME) else None)
    path = named or Path("fabula.toml")
    if named is None and not path.is_file():
        return {}
    try:
        with path.open("rb") as file:
            text = file.read(LONGEST_FILE + 1)
        if len(text) > LONGEST_FILE:
            raise SettingsError(f"The settings file {path} is too large to be one. Name another.")
        values: dict[str, object] = tomllib.loads(text.decode("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"The settings file {path} cannot be read: {error}.") from None
    if isinstance(level := values.get("log_level"), str):
        values["log_level"] = level.lower()
    return values


def _sentence(error: ValidationError) -> str:
    first = error.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else "settings"
    if first["type"] == "extra_forbidden":
        return f"There is no setting named '{name}'. `fabula doctor --settings` lists them all."
    return f"The setting '{name}' cannot be used: {first['msg']}."
