"""Statements: choices, gathers, logic lines, declarations, and the knots and stitches that hold them."""

import re
from dataclasses import dataclass, replace

from fabula.ink.syntax.content import ContentParser, Level, trim_end
from fabula.ink.syntax.scanner import MAX_NESTING
from fabula.ink.syntax.sources import ProblemLog, SourceFile
from fabula.ink.syntax.tree import (
    Assignment,
    Call,
    Choice,
    ConstantDeclaration,
    Divert,
    DivertTarget,
    Evaluation,
    Expression,
    ExternalDeclaration,
    Flow,
    FlowLevel,
    Gather,
    Include,
    ListDeclaration,
    ListItem,
    ListLiteral,
    Node,
    Number,
    Parameter,
    Return,
    Step,
    String,
    TagStart,
    Text,
    Todo,
    Variable,
    VariableDeclaration,
    walk,
)

_KNOT = re.compile(r"==+")
_EQUALS = re.compile(r"==+[ \t]*")
_FUNCTION = re.compile(r"function(?=[ \t])")
_FIRST_WORD = re.compile(r"(TODO|VAR|CONST|LIST|EXTERNAL|INCLUDE)(?![0-9A-Za-z_])")
_WORDY = frozenset("TVCLEI")
_FEW_VALUES = (
    "Logic following a '~' can't be that type of expression. It can only be something like: "
    "~ return, ~ temp x = 5, ~ x = 5, ~ x++ or ~ myFunction()"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class FileTree:
    """One parsed file, its includes not yet loaded."""

    body: tuple[Node, ...]
    flows: tuple[Flow, ...]


def parse_file(file: SourceFile, log: ProblemLog) -> FileTree:
    """The tree of one file. Mistakes go into the log; what can be understood is kept."""
    return _StatementParser(file, log).file()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Header:
    pos: int
    name: str
    is_function: bool
    params: tuple[Parameter, ...]


class _StatementParser(ContentParser):
    def file(self) -> FileTree:
        body: list[Node] = []
        flows: list[Flow] = []
        while True:
            body.extend(self.statements(Level.TOP))
            if self.pos >= len(self.text):
                return FileTree(body=tuple(body), flows=tuple(flows))
            if self._at_knot():
                flows.append(self._knot())
            else:
                flows.append(self._stitch())

    # -- knots and stitches ---------------------------------------------------------------------------------------

    def _at_knot(self) -> bool:
        return self.sees("==")

    def _at_stitch(self) -> bool:
        """A single `=` with a name after it."""
        if not self.sees("=") or self.sees("=="):
            return False
        start = self.pos
        self.pos += 1
        self.space()
        found = self.identifier() is not None
        self.pos = start
        return found

    def _knot(self) -> Flow:
        header = self._knot_header()
        body = self.statements(Level.KNOT)
        stitches: list[Flow] = []
        while self._at_stitch():
            stitches.append(self._stitch())
        if not body and not stitches:
            kind = "function" if header.is_function else "knot"
            self.log.error(
                self.base + header.pos,
                f"Expected at least one line within the {kind} '{header.name}'",
            )
        return Flow(
            at=self.base + header.pos,
            name=header.name,
            level=FlowLevel.KNOT,
            is_function=header.is_function,
            params=header.params,
            body=tuple(body),
            stitches=tuple(stitches),
        )

    def _stitch(self) -> Flow:
        header = self._stitch_header()
        body = self.statements(Level.STITCH)
        if not body:
            self.log.error(
                self.base + header.pos,
                f"Expected at least one line within the stitch '{header.name}'",
            )
        return Flow(
            at=self.base + header.pos,
            name=header.name,
            level=FlowLevel.STITCH,
            is_function=header.is_function,
            params=header.params,
            body=tuple(body),
            stitches=(),
        )

    def _knot_header(self) -> _Header:
        start = self.pos
        match = _EQUALS.match(self.text, start)
        self.pos = match.end() if match else start
        is_function = self._function_keyword()
        name = self.identifier()
        if name is None:
            self.error(f"Expected the name of the {'function' if is_function else 'knot'}")
        self.space()
        params = self._parameters() or ()
        self.space()
        match = _KNOT.match(self.text, self.pos)
        self.pos = match.end() if match else self.pos
        self.expect_line_end("end of line after knot name definition")
        return _Header(pos=start, name=name or "", is_function=is_function, params=params)

    def _function_keyword(self) -> bool:
        match = _FUNCTION.match(self.text, self.pos)
        if match is None:
            return False
        self.pos = match.end()
        self.space()
        return True

    def _stitch_header(self) -> _Header:
        start = self.pos
        self.pos += 1
        self.space()
        is_function = self._function_keyword()
        name = self.identifier() or ""
        self.space()
        params = self._parameters() or ()
        self.expect_line_end("end of line after stitch name")
        return _Header(pos=start, name=name, is_function=is_function, params=params)

    def _parameters(self) -> tuple[Parameter, ...] | None:
        if not self.sign("("):
            return None
        found: list[Parameter] = []
        while True:
            self.space()
            parameter = self._parameter()
            if parameter is None:
                break
            found.append(parameter)
            self.space()
            if not self.sign(","):
                break
        self.expect(")", "closing ')' for parameter list")
        return tuple(found)

    def _parameter(self) -> Parameter | None:
        """`x`, `-> x`, `ref x` or `ref -> x`."""
        start = self.pos
        first = self.identifier()
        self.space()
        is_divert = self.sign("->")
        self.space()
        second = self.identifier()
        if first is None and second is None and not is_divert:
            self.pos = start
            return None
        by_reference = first == "ref" and (is_divert or second is not None)
        name = second if by_reference or is_divert else first
        if name is None:
            self.error("Expected a parameter name")
        return Parameter(
            at=self.base + start,
            name=name or "",
            by_reference=by_reference,
            is_divert=is_divert,
        )

    # -- statements -----------------------------------------------------------------------------------------------

    def statements(self, level: Level) -> list[Node]:
        found: list[Node] = []
        text, length = self.text, len(self.text)
        while not self.too_large():
            self.space_and_lines()
            start = self.pos
            if start >= length:
                return found
            sign = text[start]
            if sign == "=":
                if self._at_knot() or self._at_stitch():
                    return found
            elif level is Level.BLOCK and (sign == "}" or (sign == "-" and not self.sees("->"))):
                return found
            self._statement(sign, level, found)
            if self.pos <= start:
                self._step_over(sign)
        return found

    def _step_over(self, sign: str) -> None:
        """A sign that nothing can begin with. A stray brace is only a warning: the reference lets it pass."""
        if sign == "}":
            self.warn("Unexpected '}': no logic is open here", self.pos)
            self.pos += 1
        else:
            self.error(f"Unexpected '{sign}'")
            self.skip_line()

    def _statement(self, sign: str, level: Level, found: list[Node]) -> None:
        if sign == "-" or sign == "<":
            if self.text.startswith(("->", "<-"), self.pos):
                found.extend(self.diverts())
                self.expect_line_end()
                return
            if sign == "-":
                found.append(self._gather())
                return
        elif sign == "*" or sign == "+":
            self._choice_into(found)
            return
        elif sign == "~":
            self._logic_line(level, found)
            return
        elif sign in _WORDY and self._declaration_into(found):
            return
        self._line_into(found)

    def _line_into(self, found: list[Node]) -> None:
        start = self.pos
        self.tag_open = False
        line = self.mixed()
        if not line:
            return
        first = line[0]
        if isinstance(first, Text) and first.text.startswith("return"):
            self.warn(
                "Do you need a '~' before 'return'? If not, perhaps use a glue: <> (since it's lowercase) "
                "or rewrite somehow?",
                start,
            )
        if not isinstance(line[-1], Divert):
            trim_end(line)
        self.end_tag(line)
        found.extend(line)
        # A line that is only a tag belongs to the line below it.
        if not isinstance(first, TagStart):
            found.append(Text(at=self.base + self.pos, text="\n"))
        self.expect_line_end()

    # -- choices and gathers --------------------------------------------------------------------------------------

    def _gather(self) -> Gather:
        start, depth = self.pos, 0
        while self._dash():
            depth += 1
            self.space()
        label = self._label()
        self.line_end()
        return Gather(at=self.base + start, depth=self._bounded(depth, start), label=label)

    def _bounded(self, depth: int, pos: int) -> int:
        if depth > MAX_NESTING:
            self.error(f"This is nested too deeply (more than {MAX_NESTING} levels)", pos)
        return min(depth, MAX_NESTING)

    def _label(self) -> str | None:
        start = self.pos
        if not self.sign("("):
            return None
        self.space()
        name = self.identifier()
        if name is None:
            self.pos = start
            return None
        self.space()
        self.expect(")", "closing ')' for bracketed name")
        return name

    def _choice_into(self, found: list[Node]) -> None:
        start, depth = self.pos, 0
        bullet = self.text[start]
        while self.sign(bullet):
            depth += 1
            self.space()
        if self.in_choice:
            self.error("A choice can't stand inside the text of another choice", start)
            self.skip_line()
            return
        label = self._label()
        self.space()
        if label is not None:
            self.line_end()
        conditions = self._choice_conditions()
        self.space()
        self.in_choice, self.tag_open = True, False
        choice = Choice(
            at=self.base + start,
            depth=self._bounded(depth, start),
            label=label,
            sticky=bullet == "+",
            fallback=False,
            conditions=conditions,
            start=(),
            only=(),
            inner=(),
        )
        found.append(self._choice_content(choice, start))
        self.in_choice = False
        self.expect_line_end()

    def _choice_conditions(self) -> tuple[Expression, ...]:
        conditions: list[Expression] = []
        while self.sign("{"):
            condition = self.expression()
            if condition is None:
                self.expected("choice condition inside { }")
                self._leave_braces()
                break
            if isinstance(condition, Step):
                self.error("Can't use increment/decrement here. It can only be used on a ~ line")
            conditions.append(condition)
            self.space()
            if not self.expect("}", "closing '}' for choice condition"):
                self._leave_braces()
            self.line_end()
            self.space()
        return tuple(conditions)

    def _choice_content(self, choice: Choice, start_pos: int) -> Choice:
        start = self.mixed()
        only: list[Node] = []
        inner: list[Node] = []
        brackets = self.sign("[")
        if brackets:
            self.end_tag(start)
            only = self.mixed()
            self.expect("]", "closing ']' for weave-style option")
            self.end_tag(only)
            inner = self.mixed()
        self.space()
        self.end_tag(inner or start)
        diverts = self.diverts()
        empty = not (start or only or inner)
        if empty and not diverts:
            self.warn(
                "Choice is completely empty. Interpreting as a default fallback choice. "
                "Add a divert arrow to remove this warning: * ->",
                start_pos,
            )
        if brackets and not start and not only:
            self.warn(
                "Blank choice - if you intended a default fallback choice, use the `* ->` syntax",
                start_pos,
            )
        inner.extend(divert for divert in diverts if not (isinstance(divert, Divert) and not divert.target))
        inner.append(Text(at=self.base + self.pos, text="\n"))
        return replace(
            choice,
            fallback=empty,
            start=tuple(start),
            only=tuple(only),
            inner=tuple(inner),
        )

    # -- logic lines ----------------------------------------------------------------------------------------------

    def _logic_line(self, level: Level, found: list[Node]) -> None:
        self.pos += 1
        self.space()
        start = self.pos
        node = self._after_tilde(level)
        if node is None:
            self.expected("expression after '~'")
            self.skip_line()
            return
        found.append(node)
        # A called function may print, and what it prints is a line.
        if any(isinstance(part, Call) for part in walk(node)):
            found.append(Text(at=self.base + start, text="\n"))
        self.expect_line_end()

    def _after_tilde(self, level: Level) -> Node | None:
        start = self.pos
        word = self.word()
        if word == "return":
            if level is Level.TOP:
                self.error("should not have return statement outside of a knot")
            self.pos += len(word)
            return Return(at=self.base + start, value=self.expression())
        if word == "temp":
            return self._temporary()
        assigned = self._assigned()
        if assigned is not None:
            return assigned
        value = self.expression()
        if isinstance(value, Call | Step):
            return Evaluation(at=self.base + start, action=value)
        if value is None:
            return None
        self.error(_FEW_VALUES, start)
        return Text(at=self.base + start, text="")

    def _temporary(self) -> Node | None:
        start = self.pos
        self.pos += len("temp")
        self.space()
        name = self.identifier()
        if name is None:
            self.expected("variable name")
            return None
        self.space()
        if not self.expect("=", "'=' and a value for the temporary variable"):
            return None
        return self._assignment(start, name, temporary=True)

    def _assigned(self) -> Node | None:
        """`x = value`, `x += value`, `x -= value`; nothing where no such sign follows the name."""
        start = self.pos
        name = self.identifier()
        self.space()
        step = self.text[self.pos : self.pos + 2]
        if name is None or not (step in ("+=", "-=") or (step[:1] == "=" and step != "==")):
            self.pos = start
            return None
        if step[:1] == "=":
            self.pos += 1
            return self._assignment(start, name, temporary=False)
        self.pos += 2
        amount = self.expression()
        if amount is None:
            self.expected("value expression to be assigned")
            return None
        action = Step(at=self.base + start, name=name, increase=step == "+=", amount=amount)
        return Evaluation(at=self.base + start, action=action)

    def _assignment(self, start: int, name: str, *, temporary: bool) -> Node | None:
        value = self.expression()
        if value is None:
            self.expected("value expression to be assigned")
            return None
        if isinstance(value, Step):
            self.error("Can't use increment/decrement as sub-expression", start)
        return Assignment(at=self.base + start, name=name, value=value, temporary=temporary)

    # -- declarations ---------------------------------------------------------------------------------------------

    def _declaration_into(self, found: list[Node]) -> bool:
        match = _FIRST_WORD.match(self.text, self.pos)
        if match is None:
            return False
        start, word = self.pos, match.group()
        self.pos = match.end()
        self.space()
        node: Node | None
        if word == "TODO":
            node = self._todo(start)
        elif word == "INCLUDE":
            node = self._include(start)
        elif word == "EXTERNAL":
            node = self._external(start)
        elif word == "LIST":
            node = self._list_declaration(start)
        else:
            node = self._global(start, word)
        if node is not None:
            found.append(node)
            self.expect_line_end()
        else:
            self.skip_line()
        return True

    def _todo(self, start: int) -> Todo:
        self.sign(":")
        self.space()
        message = self.rest_of_line().rstrip()
        self.pos += len(self.rest_of_line())
        self.log.todo(self.base + start, message)
        return Todo(at=self.base + start, message=message)

    def _include(self, start: int) -> Include | None:
        name = self.rest_of_line().strip()
        if not name:
            self.expected("filename for include statement")
            return None
        self.pos += len(self.rest_of_line())
        return Include(at=self.base + start, file=name)

    def _external(self, start: int) -> ExternalDeclaration | None:
        name = self.identifier()
        if name is None:
            self.expected("name of external function")
            return None
        self.space()
        params = self._parameters()
        if params is None:
            self.expected(f"declaration of arguments for EXTERNAL, even if empty, i.e. 'EXTERNAL {name}()'")
            return None
        return ExternalDeclaration(at=self.base + start, name=name, params=tuple(one.name for one in params))

    def _global(self, start: int, word: str) -> Node | None:
        constant = word == "CONST"
        name = self.identifier()
        if name is None:
            self.expected("constant name" if constant else "variable name")
            return None
        self.space()
        if not self.expect(
            "=",
            "the '=' for an assignment of a value, e.g. '= 5' (initial values are mandatory)",
        ):
            return None
        self.space()
        value_pos = self.pos
        value = self.expression()
        if value is None:
            self.expected(f"initial value for {name}")
            return None
        self._check_initial(value, value_pos, constant)
        if constant:
            return ConstantDeclaration(at=self.base + start, name=name, value=value)
        return VariableDeclaration(at=self.base + start, name=name, value=value)

    def _check_initial(self, value: Expression, pos: int, constant: bool) -> None:
        if isinstance(value, String):
            if len(value.parts) != 1 or not isinstance(value.parts[0], Text):
                self.error("Constant strings cannot contain any logic.", pos)
        elif isinstance(value, Number | DivertTarget):
            pass
        elif constant:
            self.error(
                "initial value for a constant must be a number, string or divert target",
                pos,
            )
        elif not isinstance(value, Variable | ListLiteral):
            self.error(
                "initial value for a variable must be a number, constant, list or divert target",
                pos,
            )
        self.space()
        if not constant and self.sees(","):
            self.error("Unexpected ','. If you're trying to declare a new list, use the LIST keyword, not VAR")
            self.pos += len(self.rest_of_line())

    def _list_declaration(self, start: int) -> ListDeclaration | None:
        name = self.identifier()
        if name is None:
            self.expected("list name")
            return None
        self.space()
        if not self.expect("=", "the '=' for an assignment of the list definition"):
            return None
        self.space_and_lines()
        items: list[ListItem] = []
        while (item := self._list_item(items[-1].value + 1 if items else 1)) is not None:
            items.append(item)
            end = self.pos
            self.space_and_lines()
            if not self.sign(","):
                self.pos = end
                break
            self.space_and_lines()
        if not items:
            self.expected("list item names")
            return None
        return ListDeclaration(at=self.base + start, name=name, items=tuple(items))

    def _list_item(self, value: int) -> ListItem | None:
        """`name`, `(name)`, `name = 3`, `(name) = 3` or `(name = 3)`."""
        start = self.pos
        initial = open_bracket = self.sign("(")
        self.space()
        name = self.identifier()
        if name is None:
            self.pos = start
            return None
        self.space()
        if open_bracket and self.sign(")"):
            open_bracket = False
            self.space()
        if self.sign("="):
            value = self._list_value(value)
            self.space()
            if open_bracket and self.sign(")"):
                open_bracket = False
        if open_bracket:
            self.error("Expected closing ')'")
        return ListItem(at=self.base + start, name=name, value=value, initial=initial)

    def _list_value(self, default: int) -> int:
        self.space()
        negative = self.sign("-")
        self.space()
        number = self._number()
        if number is None or not isinstance(number.value, int):
            self.expected("value to be assigned to list item")
            return default
        return -number.value if negative else number.value
