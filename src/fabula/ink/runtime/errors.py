"""What can go wrong while a compiled story plays, as one tree.

    InkError
    ├── InkFormatError        the compiled story cannot be read
    ├── InkUsageError         the host asked for something that is not possible now
    ├── InkRuntimeError       the story itself did something that Ink refuses
    │   ├── InkBudgetExceeded     it ran for too many steps, or made too much text
    │   └── InkDepthExceeded      it called itself too deeply
    ├── InkExternalError      a host function is missing, failed, or returned a foreign value
    └── InkStateError         a saved state cannot be read
        └── InkEditedError    the story was edited, and the saved place is not there any more

Each class has a stable `code`. After any of them the story is as it was before the call that raised.
"""

from __future__ import annotations


class InkError(Exception):
    """Anything that the Ink runtime raises on purpose.

    >>> issubclass(InkBudgetExceeded, InkError)
    True
    """

    code = "ink_error"


class InkFormatError(InkError):
    """The compiled story is not JSON of inkVersion 18 to 21: compile it again."""

    code = "ink_format"


class InkUsageError(InkError):
    """The call does not fit the moment: look at `can_continue`, `current_choices` and `pending_request` first."""

    code = "ink_usage"


class InkRuntimeError(InkError):
    """The story asked for something Ink refuses, such as a division by zero; `path` says where."""

    code = "ink_runtime"

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(f"{message} (at {path})" if path else message)
        self.message = message
        self.path = path


class InkBudgetExceeded(InkRuntimeError):
    """One call ran longer than `step_budget` allows: raise the budget, or look for an endless loop."""

    code = "ink_budget"


class InkDepthExceeded(InkRuntimeError):
    """Functions, tunnels or threads were nested too deeply: look for a recursion without an end."""

    code = "ink_depth"


class InkExternalError(InkError):
    """An EXTERNAL function is unbound or failed; its own exception is the `__cause__`."""

    code = "ink_external"


class InkStateError(InkError):
    """The text is not a saved state that this story can load."""

    code = "ink_state"


class InkEditedError(InkStateError):
    """The story was edited since the save, and the saved place does not exist unchanged.

    `reason` says what is missing, `resume_turn` is the nearest earlier turn whose place still exists (load that
    turn's save), and `resume_knot` is a knot or stitch to start from with `choose_path`; either may be None.
    """

    code = "ink_edited"

    def __init__(self, reason: str, resume_turn: int | None = None, resume_knot: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.resume_turn = resume_turn
        self.resume_knot = resume_knot
