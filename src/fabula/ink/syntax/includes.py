"""Puts the files of a story together: each INCLUDE line is replaced by what its file holds.

1. The main file is parsed.
2. Each file that it includes is asked for by name, parsed, and searched for includes of its own.
3. Text of an included file stays where its INCLUDE line stood; its knots go to the end of the story.

Names are asked for as the author wrote them. A file that includes itself, by whatever way, is a problem; so are too
many files, or too much text.
"""

from collections.abc import Callable
from dataclasses import replace

from fabula.ink.syntax.sources import ProblemLog, Sources
from fabula.ink.syntax.statements import FileTree, parse_file
from fabula.ink.syntax.tree import Flow, Include, Node, StoryTree

IncludeReader = Callable[[str], str | None]

MAX_FILES = 1_000
MAX_DEPTH = 40
MAX_CHARACTERS = 40_000_000


def parse_story(
    text: str,
    *,
    file_name: str | None,
    include: IncludeReader | None,
    sources: Sources,
    log: ProblemLog,
) -> StoryTree:
    """The tree of a whole story, with all its files."""
    main = parse_file(sources.add(file_name, text), log)
    loader = _Loader(include, sources, log)
    names = (file_name,) if file_name else ()
    body, flows = loader.fill(main, names)
    return StoryTree(body=tuple(body), flows=(*flows, *loader.flows))


class _Loader:
    """Loads included files and collects their knots."""

    def __init__(self, include: IncludeReader | None, sources: Sources, log: ProblemLog) -> None:
        self._include = include
        self._sources = sources
        self._log = log
        self._refused = False
        self.flows: list[Flow] = []

    def fill(self, tree: FileTree, names: tuple[str, ...]) -> tuple[list[Node], list[Flow]]:
        body = self._fill_nodes(tree.body, names)
        return body, [self._fill_flow(flow, names) for flow in tree.flows]

    def _fill_flow(self, flow: Flow, names: tuple[str, ...]) -> Flow:
        if not any(isinstance(node, Include) for node in flow.body) and not flow.stitches:
            return flow
        self._warn_inside(flow)
        stitches = tuple(self._fill_flow(stitch, names) for stitch in flow.stitches)
        return replace(flow, body=tuple(self._fill_nodes(flow.body, names)), stitches=stitches)

    def _warn_inside(self, flow: Flow) -> None:
        for node in flow.body:
            if isinstance(node, Include):
                self._log.warning(
                    node.at,
                    f"INCLUDE should stand at the top of a file, but this one is inside '{flow.name}'",
                )

    def _fill_nodes(self, nodes: tuple[Node, ...], names: tuple[str, ...]) -> list[Node]:
        return [self._load(node, names) if isinstance(node, Include) else node for node in nodes]

    def _load(self, node: Include, names: tuple[str, ...]) -> Include:
        text = self._read(node, names)
        if text is None:
            return node
        tree = parse_file(self._sources.add(node.file, text), self._log)
        body, flows = self.fill(tree, (*names, node.file))
        self.flows.extend(flows)
        is_empty = not tree.flows and all(isinstance(one, Include) and one.is_empty for one in body)
        return replace(node, body=() if is_empty else tuple(body), is_empty=is_empty)

    def _read(self, node: Include, names: tuple[str, ...]) -> str | None:
        if node.file in names:
            self._log.error(node.at, f"Recursive INCLUDE detected: '{node.file}' is already open.")
            return None
        if len(names) > MAX_DEPTH or len(self._sources.files) >= MAX_FILES or self._sources.size > MAX_CHARACTERS:
            if not self._refused:
                self._log.error(
                    node.at,
                    "Too many files or too much text is included; the rest is left out",
                )
            self._refused = True
            return None
        try:
            text = self._include(node.file) if self._include else None
        except (OSError, LookupError, ValueError) as error:
            self._log.error(node.at, f"Failed to load: '{node.file}' ({error})")
            return None
        if text is None:
            self._log.error(node.at, f"Failed to load: '{node.file}'")
        return text
