"""Content to runtime objects: text, tags, logic lines, conditionals and alternatives."""

from abc import abstractmethod
from collections.abc import Sequence as Row
from typing import assert_never

from fabula.ink.compiler.objects import Container, Divert, Nop
from fabula.ink.compiler.symbols import FlowScope
from fabula.ink.compiler.values import ValueWriter
from fabula.ink.syntax.tree import (
    Assignment,
    Branch,
    Call,
    Choice,
    Conditional,
    ConstantDeclaration,
    Evaluation,
    Expression,
    ExternalDeclaration,
    Gather,
    Glue,
    Include,
    ListDeclaration,
    Node,
    Output,
    Return,
    Sequence,
    SequenceKind,
    TagEnd,
    TagStart,
    Text,
    Todo,
    TunnelOnwards,
    Variable,
    VariableDeclaration,
)
from fabula.ink.syntax.tree import (
    Divert as DivertNode,
)


class ContentWriter(ValueWriter):
    """Writes everything but the weave: choices and gathers are arranged by the layer above."""

    # Host functions whose value is text where they are called on a line of their own.
    shown: frozenset[str] = frozenset()

    @abstractmethod
    def sealed_weave(self, nodes: tuple[Node, ...]) -> Container:
        """The weave inside a conditional branch or an alternative; its loose choices stay inside."""

    def content(self, nodes: Row[Node], into: Container) -> None:
        for node in nodes:
            self.node(node, into)

    def node(self, node: Node, into: Container) -> None:
        match node:
            case Text(text=text):
                into.add("\n" if text == "\n" else f"^{text}")
            case Glue():
                into.add("<>")
            case TagStart():
                into.add("#")
            case TagEnd():
                into.add("/#")
            case DivertNode():
                self.divert(node, into)
            case TunnelOnwards():
                self.tunnel_onwards(node, into)
            case Output(value=value):
                self._output(value, into)
            case Conditional():
                self._conditional(node, into)
            case Sequence():
                into.add(self._sequence(node))
            case Assignment(name=name, value=value):
                self.evaluated(value, into)
                self.assign(name, node.at, into, new=node.temporary)
            case Evaluation():
                self._evaluation(node, into)
            case Return(value=returned):
                self._return(returned, into)
            case VariableDeclaration() | ConstantDeclaration() | ListDeclaration() | ExternalDeclaration() | Todo():
                pass
            case Choice() | Gather() | Include():
                self.log.error(node.at, "This can't stand inside a line")
            case _:
                assert_never(node)

    def _output(self, value: Expression, into: Container) -> None:
        into.add("ev")
        self.value(value, into)
        into.add("out")
        into.add("/ev")
        if isinstance(value, Variable):
            target = self.symbols.resolve(value.path, self.scope)
            if isinstance(target, FlowScope) and target.is_function:
                self.log.warning(
                    value.at,
                    f"'{target.name}' being used as read count rather than being called as function. "
                    f"Perhaps you intended to write {target.name}()",
                )

    def _evaluation(self, node: Evaluation, into: Container) -> None:
        into.add("ev")
        if isinstance(node.action, Call):
            self.call(node.action, into)
            into.add("out" if node.action.name in self.shown else "pop")
        else:
            self.step(node.action, into)
        into.add("/ev")
        if isinstance(node.action, Call) and node.action.name in self.shown:
            into.add("\n")

    def _return(self, value: Expression | None, into: Container) -> None:
        into.add("ev")
        if value is None:
            into.add("void")
        else:
            self.value(value, into)
        into.add("/ev")
        into.add("~ret")

    # -- conditionals ---------------------------------------------------------------------------------------------

    def _conditional(self, node: Conditional, into: Container) -> None:
        if node.condition is not None:
            into.add("ev")
            self.condition(node.condition, into)
            into.add("/ev")
        rejoin = Nop()
        for branch in node.branches:
            into.add(self._branch(branch, rejoin))
        # A switch that matched nothing leaves its value behind.
        if node.condition is not None and node.branches[0].own is not None and not node.branches[-1].is_else:
            into.add("pop")
        into.add(rejoin)

    def _branch(self, branch: Branch, rejoin: Nop) -> Container:
        self._warn_else(branch)
        keeps_value = branch.matches and not branch.is_else
        container = Container()
        if keeps_value:
            container.add("du")
        if not branch.is_true and not branch.is_else and branch.own is not None:
            container.add("ev")
            self.condition(branch.own, container)
            if branch.matches:
                container.add("==")
            container.add("/ev")
        body = self.sealed_weave(branch.body)
        body.name = "b"
        container.add(Divert(target=body, conditional=not branch.is_else))
        if not branch.inline:
            body.content.insert(0, "\n")
        if branch.matches:
            body.content.insert(0, "pop")
        container.keep(body)
        body.add(Divert(target=rejoin))
        return container

    def _warn_else(self, branch: Branch) -> None:
        for node in branch.body:
            if isinstance(node, Text) and node.text.startswith("else:"):
                self.log.warning(
                    node.at,
                    "Saw the text 'else:' which is being treated as content. Did you mean '- else:'?",
                )

    # -- alternatives ---------------------------------------------------------------------------------------------

    def _sequence(self, node: Sequence) -> Container:
        """Counts its own visits, and diverts to the element whose turn it is."""
        container = Container(visits=True, start_only=True)
        container.content.extend(("ev", "visit"))
        self._choose_element(node, container)
        container.add("/ev")
        done = Nop()
        elements = [self.sealed_weave(element) for element in node.elements]
        if node.kind & SequenceKind.ONCE:
            elements.append(Container())
        for index, element in enumerate(elements):
            element.name = f"s{index}"
            element.content.insert(0, "pop")
            element.add(Divert(target=done))
            container.content.extend(
                (
                    "ev",
                    "du",
                    index,
                    "==",
                    "/ev",
                    Divert(target=element, conditional=True),
                )
            )
            container.keep(element)
        container.add(done)
        return container

    def _choose_element(self, node: Sequence, container: Container) -> None:
        count = len(node.elements)
        once, stopping = (
            node.kind & SequenceKind.ONCE,
            node.kind & SequenceKind.STOPPING,
        )
        last = count if once else count - 1
        if once or stopping:
            container.content.extend((last, "MIN"))
        elif node.kind & SequenceKind.CYCLE:
            container.content.extend((count, "%"))
        if not node.kind & SequenceKind.SHUFFLE:
            return
        skip = Nop()
        if once or stopping:
            container.content.extend(("du", last, "==", Divert(target=skip, conditional=True)))
        container.content.extend((count - 1 if stopping else count, "seq"))
        if once or stopping:
            container.add(skip)
