"""The public names of `fabula.ink`: each is there, and nobody waits for what is not asked for."""

import subprocess
import sys

import pytest

import fabula.ink


@pytest.mark.parametrize("name", fabula.ink.__all__)
def test_a_public_name_is_there(name: str) -> None:
    assert getattr(fabula.ink, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        _ = fabula.ink.nothing


def test_playing_does_not_load_the_compiler() -> None:
    code = "import sys; from fabula.ink import Story; print('fabula.ink.compiler' in sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )
    assert shown.stdout == "False\n"
