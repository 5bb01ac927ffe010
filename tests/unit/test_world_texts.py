"""A world written down for other programs: whatever its names are, they stay words."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.mass import examples

from fabula.formats.world_texts.cypher import write_cypher
from fabula.formats.world_texts.document import WorldDocument, WrittenEdge, WrittenEntity
from fabula.formats.world_texts.graphml import write_graphml
from fabula.formats.world_texts.markdown import write_markdown
from fabula.formats.world_texts.writers import WORLD_WRITERS

HOSTILE = [
    "</data><node id='x'/>",
    "]]>",
    "<!ENTITY x SYSTEM 'file:///etc/passwd'>&x;",
    "'}) DETACH DELETE n //",
    "\\'}) MATCH (n) DETACH DELETE n //",
    "\\u0027}) DETACH DELETE n //",
    "\\\\u0027",
    "# Heading",
    "![x](http://evil/x.png)",
    "[click](javascript:alert(1))",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "www.evil.example",
    "http://evil.example",
    "`code`",
    "| a | b |\n|---|---|",
    "- item\n\n# next",
    "1. one",
    "&lt;b&gt; &#60;",
    "*bold* _it_ ~~no~~",
    "a\x00b\x1b[31m",
    "\ufffe\u202e",
    "---",
    "    code",
    "[x]: http://evil",
    "\r\n\t",
]
TEXTS = st.one_of(
    st.sampled_from(HOSTILE), st.text(max_size=40), st.text("\\'\"`{}()[]<>&#*_!|~$\n\ru0027", max_size=30)
)
IDS = st.from_regex(r"[A-Za-z0-9\-_.:]{1,12}", fullmatch=True)


@st.composite
def worlds(draw: st.DrawFn) -> WorldDocument:
    entities = [
        WrittenEntity(
            id=id,
            kind=draw(st.sampled_from(["character", "faction", "place", "object", "concept"])),
            name=draw(TEXTS),
            aliases=draw(st.lists(TEXTS, max_size=2)),
            description=draw(TEXTS),
            tags=draw(st.lists(TEXTS, max_size=2)),
        )
        for id in draw(st.lists(IDS, max_size=4, unique=True))
    ]
    ends = st.one_of(TEXTS, st.sampled_from([one.id for one in entities] or ["nobody"]))
    edges = [
        WrittenEdge(
            id=f"change_{number}",
            kind=draw(st.sampled_from(["fact", "relationship", "event"])),
            subject=draw(ends),
            predicate=draw(st.one_of(st.sampled_from(["keeps", "located_in"]), TEXTS)),
            object=draw(ends),
            strength=draw(st.none() | st.floats(-1, 1)),
            since=draw(st.none() | st.integers(-10, 10)),
        )
        for number in range(draw(st.integers(0, 4)))
    ]
    return WorldDocument(
        world_id=draw(IDS),
        name=draw(TEXTS),
        description=draw(TEXTS),
        version=3,
        entities=entities,
        edges=edges,
        axioms=draw(st.lists(TEXTS, max_size=2)),
    )


@examples(300)
@given(worlds())
def test_a_world_of_any_names_is_graphml_that_parses(world: WorldDocument) -> None:
    name = "{http://graphml.graphdrawing.org/xmlns}"
    graph = ElementTree.fromstring(write_graphml(world)).find(f"{name}graph")
    assert graph is not None
    nodes = [node.get("id") for node in graph.findall(f"{name}node")]
    assert [one.id for one in world.entities] == nodes[: len(world.entities)] and len(nodes) == len(set(nodes))
    edges = graph.findall(f"{name}edge")
    assert len(edges) == sum(bool(one.subject or one.object) for one in world.edges)
    assert {edge.get(end) for edge in edges for end in ("source", "target")} <= set(nodes)
    assert {child.tag for child in graph.iter()} <= {name + tag for tag in ("graph", "node", "edge", "data")}


@examples(300)
@given(worlds())
def test_no_text_breaks_out_of_a_cypher_string(world: WorldDocument) -> None:
    for line in write_cypher(world).splitlines():
        bare = without_strings(line)
        assert re.fullmatch(
            r"(CREATE \(:Entity:[A-Z][a-z]+ \{[a-z: ,?\[\]+]*\}\);)"
            r"|(MATCH \(a:Entity \{id: \?, world: \?\}\), \(b:Entity \{id: \?, world: \?\}\) "
            r"CREATE \(a\)-\[:[A-Z][A-Z0-9_]* \{[a-z0-9: ,?.\-]*\}\]->\(b\);)",
            bare,
        ), bare
        # Readers that unescape before they look for the end of a string find nothing to unescape.
        assert "\\u" not in line and "\\U" not in line


def without_strings(line: str) -> str:
    """A statement with a question mark for every string, as a reader of Cypher sees it."""
    found, at = [], 0
    while at < len(line):
        if line[at] != "'":
            found.append(line[at])
            at += 1
            continue
        at += 1
        while line[at] != "'":
            at += 2 if line[at] == "\\" else 1
        at += 1
        found.append("?")
    return re.sub(r"\?( \+ \?)+", "?", "".join(found))


@examples(300)
@given(worlds())
def test_a_world_of_any_names_is_inert_markdown(world: WorldDocument) -> None:
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = reader.parse(write_markdown(world))
    marks = {token.type for token in tokens} | {child.type for token in tokens for child in token.children or ()}
    paired = ("heading", "paragraph", "bullet_list", "list_item")
    plain = {f"{name}_{end}" for name in paired for end in ("open", "close")} | {"inline", "text", "text_special"}
    assert marks <= plain, marks - plain
    headings = [token for token in tokens if token.type == "heading_open"]
    kinds = {one.kind for one in world.entities}
    assert len(headings) <= 1 + len(kinds) + len(world.entities) + 2


def test_each_format_says_the_same_in_its_own_way() -> None:
    orr = WrittenEntity(id="orr", kind="character", name="Orr", aliases=["Keeper"], description="Keeps the lamp.")
    edges = [
        WrittenEdge(id="c1", kind="fact", subject="orr", predicate="located_in", object="The tower", since=10),
        WrittenEdge(id="c2", kind="event", subject="orr", predicate="The lamp went out", object="", since=20),
    ]
    world = WorldDocument(
        world_id="sarn", name="Sarn", description="", version=2, entities=[orr], edges=edges, axioms=["Nobody flies."]
    )
    assert write_markdown(world) == (
        "# Sarn\n\n## What can never be\n\n- Nobody flies.\n\n## Characters\n\n### Orr (also Keeper)\n\n"
        "Keeps the lamp.\n\n- Orr located in The tower (from 10)\n- The lamp went out, Orr (from 20)\n"
    )
    assert (
        write_cypher(world)
        .splitlines()[2]
        .endswith("CREATE (a)-[:LOCATED_IN {id: 'c1', kind: 'fact', predicate: 'located_in', since: 10}]->(b);")
    )
    assert json.loads(WORLD_WRITERS["json"].write(world))["edges"][0]["object"] == "The tower"
    assert {writer.suffix for writer in WORLD_WRITERS.values()} == {".json", ".graphml", ".cypher", ".md"}
