"""Lines of content: text, glue, tags, diverts, and the logic in braces (alternatives, conditionals, values)."""

import re
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from enum import IntEnum

from fabula.ink.syntax.expressions import ExpressionParser
from fabula.ink.syntax.tree import (
    Branch,
    Conditional,
    Divert,
    DivertKind,
    Expression,
    Glue,
    Node,
    Output,
    Sequence,
    SequenceKind,
    Step,
    TagEnd,
    TagStart,
    Text,
    TunnelOnwards,
)

_PLAIN_TEXT = re.compile(r"(?:[^-<{}|\n\\#]+|-(?!>)|<(?![->]))+")
_CHOICE_TEXT = re.compile(r"(?:[^-<{}|\n\\#\[\]]+|-(?!>)|<(?![->]))+")
_STRING_TEXT = re.compile(r'(?:[^-<{}|\n\\#"]+|-(?!>)|<(?![->]))+')
_DASH = re.compile(r"-(?!>)")
_UP_TO_BRACE = re.compile(r"[^}\n]*}?")
_ELSE = re.compile(r"else[ \t]*:")
_KIND_SIGNS = re.compile(r"[!&~$]+")
_KIND_WORDS = re.compile(r"((?:once|cycle|shuffle|stopping)(?:[ \t]+(?:once|cycle|shuffle|stopping))*)[ \t]*:")
_KINDS = {
    "!": SequenceKind.ONCE,
    "&": SequenceKind.CYCLE,
    "~": SequenceKind.SHUFFLE,
    "$": SequenceKind.STOPPING,
    "once": SequenceKind.ONCE,
    "cycle": SequenceKind.CYCLE,
    "shuffle": SequenceKind.SHUFFLE,
    "stopping": SequenceKind.STOPPING,
}
_ALLOWED_KINDS = frozenset(
    (
        SequenceKind.ONCE,
        SequenceKind.CYCLE,
        SequenceKind.STOPPING,
        SequenceKind.SHUFFLE,
        SequenceKind.SHUFFLE | SequenceKind.STOPPING,
        SequenceKind.SHUFFLE | SequenceKind.ONCE,
    )
)
_NO_STEP = "Can't use increment/decrement here. It can only be used on a ~ line"


class Level(IntEnum):
    """Where a list of statements stands; it decides what may come and what ends it."""

    BLOCK = 0
    STITCH = 1
    KNOT = 2
    TOP = 3


@dataclass(slots=True)
class _Draft:
    """A branch while its conditional is still being read."""

    pos: int
    own: Expression | None = None
    body: list[Node] = field(default_factory=list)
    is_true: bool = False
    is_else: bool = False
    matches: bool = False


class ContentParser(ExpressionParser):
    """Reads what can stand inside a line. Multi-line blocks hold statements, so that layer is still open here."""

    @abstractmethod
    def statements(self, level: Level) -> list[Node]:
        """Statements up to the end of the enclosing block, stitch, knot or file."""

    # -- text -----------------------------------------------------------------------------------------------------

    def mixed(self) -> list[Node]:
        self._refuse_tilde()
        found: list[Node] = []
        while not self.too_large():
            self._text_run(found)
            sign = self.text[self.pos : self.pos + 1]
            if sign == "{":
                if not self._logic_into(found) and self.at_line_start():
                    return found
            elif sign == "#":
                self._tag_into(found)
            elif sign == "<" and self.sees("<>"):
                found.append(Glue(at=self.base + self.pos))
                self.pos += 2
            else:
                break
        if not self.in_choice:
            self._diverts_into(found)
        return found

    def _refuse_tilde(self) -> None:
        start = self.pos
        self.space()
        if self.sign("~"):
            self.error(
                "You shouldn't use a '~' here - tildas are for logic that's on its own line. "
                "To do inline logic, use { curly braces } instead",
                start,
            )
            self.space()
        else:
            self.pos = start

    def _text_run(self, found: list[Node]) -> None:
        pattern = _STRING_TEXT if self.in_string else _CHOICE_TEXT if self.in_choice else _PLAIN_TEXT
        text, pos = self.text, self.pos
        match = pattern.match(text, pos)
        end = match.end() if match else pos
        if not text.startswith("\\", end):
            if match:
                found.append(Text(at=self.base + pos, text=match.group()))
                self.pos = end
            return
        pieces: list[str] = []
        while True:
            if match:
                pieces.append(match.group())
            if not text.startswith("\\", end):
                break
            pieces.append(text[end + 1 : end + 2])
            end = min(end + 2, len(text))
            match = pattern.match(text, end)
            end = match.end() if match else end
        found.append(Text(at=self.base + pos, text="".join(pieces)))
        self.pos = end

    def _tag_into(self, found: list[Node]) -> None:
        at = self.base + self.pos
        if self.tag_open:
            found.append(TagEnd(at=at))
        found.append(TagStart(at=at))
        self.tag_open = True
        self.pos += 1
        self.space()

    def end_tag(self, found: list[Node]) -> None:
        if self.tag_open:
            found.append(TagEnd(at=self.base + self.pos))
            self.tag_open = False

    # -- diverts --------------------------------------------------------------------------------------------------

    def _diverts_into(self, found: list[Node]) -> None:
        start = self.pos
        self.space()
        if not self.text.startswith(("->", "<-"), self.pos):
            self.pos = start
            return
        trim_end(found, with_space=True)
        self.end_tag(found)
        found.extend(self.diverts())

    def diverts(self) -> list[Node]:
        """`-> a`, `-> a -> b ->`, `->->`, `->-> a`, `<- a`; nothing where no arrow stands."""
        self.space()
        if self.sees("<-"):
            return self._thread()
        found: list[Node] = []
        start = self.pos
        arrows = self._arrows()
        if arrows == 0:
            return []
        while arrows == 1:
            divert = self._divert_after_arrow()
            if divert is None:
                break
            arrows = self._arrows()
            kind = DivertKind.TUNNEL if arrows else DivertKind.PLAIN
            found.append(replace(divert, kind=kind))
        if arrows >= 2:
            found.append(TunnelOnwards(at=self.base + self.pos - 4, after=self._divert_after_arrow()))
            if self._arrows():
                self.error("Tunnel onwards '->->' must only come at the beginning or the end of a divert")
        elif not found:
            found.append(Divert(at=self.base + start, target=()))
            if not self.in_choice:
                self.error("Empty diverts (->) are only valid on choices", start)
        return found

    def _arrows(self) -> int:
        self.space()
        count = 0
        start = self.pos
        while self.sign("->"):
            count += 1
        if count > 2:
            self.error(
                "Unexpected number of arrows in divert. Should only have '->' or '->->'",
                start,
            )
        return count

    def _divert_after_arrow(self) -> Divert | None:
        self.space()
        start = self.pos
        target = self.divert_path()
        if target is None:
            self.pos = start
            return None
        end = self.pos
        self.space()
        args = self.arguments()
        if args is None:
            self.pos = end
        return Divert(at=self.base + start, target=target, args=tuple(args or ()))

    def _thread(self) -> list[Node]:
        start = self.pos
        self.pos += 2
        divert = self._divert_after_arrow()
        if divert is None:
            self.expected("target for new thread")
            return []
        self.space()
        return [
            Divert(
                at=self.base + start,
                target=divert.target,
                args=divert.args,
                kind=DivertKind.THREAD,
            )
        ]

    # -- logic in braces ------------------------------------------------------------------------------------------

    def _logic_into(self, found: list[Node]) -> bool:
        """One `{...}`; False when its end was not found."""
        kept_string, kept_tag = self.in_string, self.tag_open
        start = self.pos
        self.pos += 1
        self.depth += 1
        node = None if self.too_deep() else self._logic(start)
        self.depth -= 1
        closed = False
        if node is None:
            if not self._last_error_stands() or self._last_error < start:
                self.expected("some kind of logic, conditional or sequence within braces: { ... }")
        else:
            found.append(node)
            self.space()
            closed = self.expect("}", self._closing_brace(start))
        if not closed:
            self._leave_braces()
        self.in_string = kept_string
        if not kept_tag:
            self.end_tag(found)
        return closed

    def _closing_brace(self, opening: int) -> str:
        if self.sees("}") or not self.log.has_room() or self.text.find("\n", opening, self.pos) < 0:
            return "closing brace '}' for inline logic"
        return f"closing brace '}}' for the logic that opens on line {self.text.count(chr(10), 0, opening) + 1}"

    def _leave_braces(self) -> None:
        """After a mistake: go on after the next `}` of this line, or at its end; a line not yet begun stays."""
        if self.at_line_start():
            return
        match = _UP_TO_BRACE.match(self.text, self.pos)
        self.pos = match.end() if match else self.pos

    def _logic(self, opening: int) -> Node | None:
        self.space()
        at = self.base + opening
        kind = self._kind()
        if kind is not None:
            elements = self._elements()
            if not elements:
                self.expected("sequence elements (for cycle/stopping etc)")
                return None
            return Sequence(at=at, kind=kind, elements=elements)
        if self.at_line_end():
            return self._conditional(at, None)
        close = self.closing_brace_of_alternatives(opening)
        if close is None:
            return self._conditional_or_value(at)
        question = self._question()
        if question is not None:
            return self._conditional(at, question)
        elements = self._elements()
        return Sequence(at=at, kind=SequenceKind.STOPPING, elements=elements)

    def _conditional_or_value(self, at: int) -> Node | None:
        value = self.expression()
        if value is None:
            return None
        if isinstance(value, Step):
            self.error(_NO_STEP)
        self.space()
        if self.sign(":"):
            return self._conditional(at, value)
        return Output(at=at, value=value)

    def _question(self) -> Expression | None:
        """An expression with a colon after it, or nothing.

        A mistake on the way is one even where the text turns out to be something else, as in the reference:
        `{lamp.<>|dark}` is refused for the `<` that nothing follows.
        """
        start, mark = self.pos, self.log.mark()
        kept = self.in_string, self.tag_open
        value = self.expression()
        if value is not None:
            self.space()
            if self.sign(":"):
                if isinstance(value, Step):
                    self.error(_NO_STEP)
                return value
        if self.log.forgiving:
            self.log.drop(mark)
        if isinstance(value, Step) and not self.log.forgiving:
            self.error(_NO_STEP)
        self.pos = start
        self.in_string, self.tag_open = kept
        return None

    # -- alternatives ---------------------------------------------------------------------------------------------

    def _kind(self) -> SequenceKind | None:
        start = self.pos
        match = _KIND_SIGNS.match(self.text, start)
        if match:
            words = list(match.group())
        else:
            match = _KIND_WORDS.match(self.text, start)
            if match is None:
                return None
            words = match.group(1).split()
        self.pos = match.end()
        kind = SequenceKind(0)
        for word in words:
            kind |= _KINDS[word]
        if kind not in _ALLOWED_KINDS:
            self.error(f"Sequence type combination not supported: {' '.join(words)}", start)
            return SequenceKind.STOPPING
        return kind

    def _elements(self) -> tuple[tuple[Node, ...], ...]:
        if self.line_end():
            return self._block_elements()
        found: list[tuple[Node, ...]] = []
        # A tag still open at the end of an element is closed by the next tag or after the braces, as in the reference.
        while True:
            found.append(tuple(self.mixed()))
            if not self.sign("|"):
                return tuple(found)

    def _block_elements(self) -> tuple[tuple[Node, ...], ...]:
        found: list[tuple[Node, ...]] = []
        self.space_and_lines()
        while self._dash():
            at = self.base + self.pos
            self.space()
            body = self._block_body()
            found.append((Text(at=at, text="\n"), *body) if body else ())
            self.space_and_lines()
        return tuple(found)

    def _dash(self) -> bool:
        match = _DASH.match(self.text, self.pos)
        if match:
            self.pos = match.end()
        return match is not None

    def _block_body(self) -> list[Node]:
        """Statements of one branch, after its dash and condition."""
        self.space()
        start = self.pos
        if self._dash():
            self.error(
                "You can't use a gather (the dashes) within the { curly braces } context. "
                "For multi-line sequences and conditions, you should only use one dash.",
                start,
            )
            self.space()
            while self._dash():
                self.space()
        kept, self.in_string = self.in_string, False
        body = self.statements(Level.BLOCK)
        self.in_string = kept
        return body

    # -- conditionals ---------------------------------------------------------------------------------------------

    def _conditional(self, at: int, condition: Expression | None) -> Conditional | None:
        inline = not self.line_end()
        if not inline:
            branches = self._block_branches(condition)
        elif condition is None:
            return None
        else:
            branches = self._inline_branches()
        if not branches:
            self.expected("conditional content following query")
            return None
        return Conditional(
            at=at,
            condition=condition,
            branches=tuple(self._finish(one, inline) for one in branches),
        )

    def _finish(self, draft: _Draft, inline: bool) -> Branch:
        return Branch(
            at=self.base + draft.pos,
            own=draft.own,
            body=tuple(draft.body),
            is_true=draft.is_true,
            is_else=draft.is_else,
            matches=draft.matches,
            inline=inline,
        )

    def _inline_branches(self) -> list[_Draft]:
        found: list[_Draft] = []
        while True:
            start = self.pos
            body = self.mixed()
            if not body and not found and not self.log.forgiving:
                return []
            # An empty else is none: `{a:x|}` reads as `{a:x}`.
            if body or not found:
                found.append(_Draft(pos=start, body=body, is_true=not found, is_else=bool(found)))
            if not self.sign("|"):
                break
        if len(found) > 2:
            self.error(
                "Expected one or two alternatives separated by '|' in inline conditional",
                found[2].pos,
            )
        return found[:2]

    def _block_branches(self, condition: Expression | None) -> list[_Draft]:
        self.space_and_lines()
        found: list[_Draft] = []
        while (branch := self._block_branch()) is not None:
            found.append(branch)
        if condition is None:
            self._settle_plain(found)
            return found
        if not found:
            found = self._sole_branch()
        elif len(found) == 1 and found[0].is_else:
            found.insert(0, _Draft(pos=found[0].pos, is_true=True))
        self._settle_switch(found)
        return found

    def _block_branch(self) -> _Draft | None:
        start = self.pos
        if not self._dash():
            return None
        self.space()
        branch = _Draft(pos=start)
        match = _ELSE.match(self.text, self.pos)
        if match:
            self.pos = match.end()
            branch.is_else = True
        else:
            branch.own = self._question()
        branch.body = self._block_body()
        if branch.own is None and not branch.is_else and not branch.body:
            self.error("expected content for the conditional branch following '-'", start)
        self.space_and_lines()
        return branch

    def _sole_branch(self) -> list[_Draft]:
        """A block whose first branch has no dash, and perhaps an else."""
        start = self.pos
        body = self._block_body()
        if not body:
            return []
        found = [_Draft(pos=start, body=body)]
        self.space_and_lines()
        other = self._block_branch()
        if other is not None:
            if not other.is_else:
                self.error(
                    "Expected an '- else:' clause here rather than an extra condition",
                    other.pos,
                )
                other.is_else = True
            found.append(other)
        return found

    def _settle_switch(self, branches: list[_Draft]) -> None:
        own_seen = False
        for index, branch in enumerate(branches):
            last = index == len(branches) - 1
            if branch.own is not None:
                branch.matches = own_seen = True
            elif own_seen and last:
                branch.matches = branch.is_else = True
            elif not last and len(branches) > 2:
                self.error(
                    "Only final branch can be an 'else'. Did you miss a ':'?",
                    branch.pos,
                )
            elif index == 0:
                branch.is_true = True
            else:
                branch.is_else = True

    def _settle_plain(self, branches: list[_Draft]) -> None:
        for branch in branches[:-1]:
            if branch.own is not None:
                continue
            if not branch.is_else:
                self.error("Branch doesn't have condition. Are you missing a ':'?", branch.pos)
            elif branches[-1].is_else:
                self.error(
                    "Multiple 'else' cases. Can have a maximum of one, at the end.",
                    branches[-1].pos,
                )
            else:
                self.error(
                    "'else' case in conditional should always be the final one",
                    branch.pos,
                )
        if branches and branches[-1].own is None:
            branches[-1].is_else = True
            if len(branches) == 1:
                self.error("Condition block with no conditions", branches[0].pos)


def trim_end(found: list[Node], *, with_space: bool = False) -> None:
    """Spaces at the end of the last text go; before a divert exactly one stays."""
    while found:
        last = found[-1]
        if not isinstance(last, Text):
            return
        text = last.text.rstrip(" \t") + (" " if with_space else "")
        if text:
            found[-1] = replace(last, text=text)
            return
        found.pop()
