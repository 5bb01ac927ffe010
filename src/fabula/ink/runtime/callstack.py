"""Where the story is: frames (function and tunnel calls), threads of frames, and the stack of threads.

Copies are cheap. A copied thread shares its frames with the original, and whichever side wants to change a frame
first makes its own copy of that one frame.
"""

from __future__ import annotations

from fabula.ink.runtime.content import Container, FrameKind
from fabula.ink.runtime.values import Value


class Frame:
    """One call: where it is, what it is, and its temporary variables."""

    __slots__ = ("container", "eval_height", "index", "is_evaluating", "kind", "output_start", "temps")

    def __init__(self, kind: FrameKind, container: Container | None, index: int) -> None:
        self.kind = kind
        self.container = container
        self.index = index
        self.is_evaluating = False
        self.temps: dict[str, Value] = {}
        self.eval_height = 0
        self.output_start = 0

    def copy(self) -> Frame:
        """A frame that may be changed without touching this one."""
        twin = Frame(self.kind, self.container, self.index)
        twin.is_evaluating = self.is_evaluating
        twin.temps = self.temps.copy()
        twin.eval_height = self.eval_height
        twin.output_start = self.output_start
        return twin


class Thread:
    """A pile of frames. Frames from `owned` upwards belong to this thread alone."""

    __slots__ = ("frames", "number", "owned", "previous_container", "previous_index")

    def __init__(self, frames: list[Frame], number: int = 0) -> None:
        self.frames = frames
        self.owned = 0
        self.number = number
        self.previous_container: Container | None = None
        self.previous_index = 0

    def fork(self) -> Thread:
        """A copy that shares all frames until one side changes them."""
        self.owned = len(self.frames)
        twin = Thread(self.frames.copy(), self.number)
        twin.owned = self.owned
        twin.previous_container = self.previous_container
        twin.previous_index = self.previous_index
        return twin

    def top(self) -> Frame:
        """The current frame, ready to be changed."""
        last = len(self.frames) - 1
        if last < self.owned:
            self.frames[last] = self.frames[last].copy()
            self.owned = last
        return self.frames[last]

    def writable(self, index: int) -> Frame:
        """Any frame, ready to be changed."""
        if index >= self.owned:
            return self.frames[index]
        self.frames[index] = self.frames[index].copy()
        return self.frames[index]

    def pop(self) -> None:
        """Leaves the current frame."""
        self.frames.pop()
        if self.owned > len(self.frames):
            self.owned = len(self.frames)


class CallStack:
    """The threads of a flow; the last one is running."""

    __slots__ = ("counter", "threads")

    def __init__(self, threads: list[Thread], counter: int = 0) -> None:
        self.threads = threads
        self.counter = counter

    @staticmethod
    def start(container: Container | None) -> CallStack:
        """One thread with one frame, at the start of a container."""
        return CallStack([Thread([Frame(FrameKind.TUNNEL, container, 0)])])

    def copy(self) -> CallStack:
        """A copy that shares all frames until one side changes them."""
        return CallStack([thread.fork() for thread in self.threads], self.counter)

    def fork_thread(self) -> Thread:
        """A numbered copy of the running thread."""
        self.counter += 1
        twin = self.threads[-1].fork()
        twin.number = self.counter
        return twin

    def thread_numbered(self, number: int) -> Thread | None:
        """The living thread with this number."""
        return next((thread for thread in self.threads if thread.number == number), None)
