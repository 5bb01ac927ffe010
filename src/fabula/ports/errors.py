"""Every error that may reach a user, in one tree; each has a code and a sentence that says what to do next.

FabulaError
├── InvalidRequest  -32600   the request is understood but may not be done like this
├── InvalidParams   -32602   the parameters do not decode; data.errors names each field
├── NotFound         40404   the thing named is not there
├── Conflict         40909   it clashes with what is there (duplicate, in use, busy, over budget)
│   └── InUse                something still refers to it; data.users names them
├── TokenNeeded      40101   no valid access token was sent
├── Denied           40303   the caller's role may not do this
├── BackendError     50001   a model, store or generation failed
│   ├── ModelError           see fabula.ports.models
│   └── StoreError           the data folder or database cannot be used as it is
│       └── WriteConflict    two changes got in each other's way; nothing was changed, trying again helps
└── StreamError      50002   a stream broke
"""

from __future__ import annotations

from fabula.story.values import Json, JsonObject


class FabulaError(Exception):
    """Something that a user can understand and act on."""

    code = -32603

    def __init__(self, message: str, **data: Json) -> None:
        super().__init__(message)
        self.message = message
        self.data: JsonObject = data


class InvalidRequest(FabulaError):
    code = -32600


class InvalidParams(FabulaError):
    code = -32602


class NotFound(FabulaError):
    code = 40404


class Conflict(FabulaError):
    code = 40909


class InUse(Conflict):
    """Raised when something that others refer to is removed."""


class TokenNeeded(FabulaError):
    code = 40101


class Denied(FabulaError):
    code = 40303


class BackendError(FabulaError):
    code = 50001


class StoreError(BackendError):
    """The data folder or database cannot be used as it is."""


class WriteConflict(StoreError):
    """Two changes got in each other's way; nothing was changed, trying again helps."""


class StreamError(FabulaError):
    code = 50002
