"""The protocol itself, spoken by the official SDK. Whoever imports this module waits half a second for it.

A server is made once for a house; who calls is asked anew for every message. Nothing is kept between messages, so any
server of a store may answer the next one.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.types import Receive, Scope, Send

import fabula
from fabula.actions.house import House
from fabula.actions.tools.call_tool import call_tool
from fabula.actions.tools.callers import Caller, who_is
from fabula.actions.tools.registry import all_tools
from fabula.actions.tools.tool import Tool
from fabula.ports.errors import FabulaError
from fabula.server.access import actor_of
from fabula.server.error_codes import INSIDE, sentence
from fabula.server.mcp.descriptions import INSTRUCTIONS, PLACES, PROMPTS, SCHEME, description, input_schema
from fabula.server.mcp.readings import list_readings, prompt_text, read_address

T = TypeVar("T")

log = logging.getLogger("fabula.mcp")

LARGEST_MESSAGE: Final = 1024 * 1024


def build_server(house: House, caller_of: Callable[[Any], Caller]) -> Any:
    """The server of a house; `caller_of` says who sent a message, from its context."""

    async def list_tools(context: Any, _: Any) -> Any:
        who, registry = who_is(caller_of(context)), all_tools()
        return types.ListToolsResult(tools=[_tool(one) for one in registry if registry.allows(one.name, who)])

    async def call(context: Any, params: Any) -> Any:
        try:
            answer = await call_tool(house, all_tools(), caller_of(context), params.name, params.arguments or {})
        except FabulaError as error:
            return _answer(sentence(error), is_error=True)
        except Exception:
            log.exception("the tool %s failed", params.name[:100])
            return _answer(INSIDE.message, is_error=True)
        return _answer(answer.decode())

    async def list_resources(context: Any, _: Any) -> Any:
        found = await _refused_plainly(list_readings(house, caller_of(context)))
        return types.ListResourcesResult(
            resources=[types.Resource(uri=uri, name=name, description=what) for uri, name, what in found]
        )

    async def list_templates(context: Any, _: Any) -> Any:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(uri_template=f"{SCHEME}{place}/{{id}}", name=place, description=what)
                for place, what in PLACES.items()
            ]
        )

    async def read(context: Any, params: Any) -> Any:
        kind, text = await _refused_plainly(read_address(house, caller_of(context), str(params.uri)))
        contents = types.TextResourceContents(uri=str(params.uri), mime_type=kind, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(context: Any, _: Any) -> Any:
        return types.ListPromptsResult(prompts=[_prompt(one) for one in PROMPTS])

    async def get_prompt(context: Any, params: Any) -> Any:
        asked = prompt_text(house, caller_of(context), params.name, params.arguments or {})
        prompt, text = await _refused_plainly(asked)
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=prompt.sentence, messages=[message])

    return Server(
        "fabula",
        version=fabula.__version__,
        title="Fabula",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


async def _refused_plainly(reading: Awaitable[T]) -> T:
    """What is read; an error becomes one of the protocol, with its sentence and nothing of the inside."""
    try:
        return await reading
    except FabulaError as error:
        raise MCPError(types.INVALID_PARAMS, sentence(error)) from None
    except Exception:
        log.exception("a resource could not be read")
        raise MCPError(types.INTERNAL_ERROR, INSIDE.message) from None


def _answer(text: str, *, is_error: bool = False) -> Any:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)


def _tool(tool: Tool) -> Any:
    hints = types.ToolAnnotations(read_only_hint=not tool.writes, destructive_hint=False, open_world_hint=False)
    return types.Tool(
        name=tool.name, description=description(tool), input_schema=input_schema(tool.name), annotations=hints
    )


def _prompt(prompt: Any) -> Any:
    argument = types.PromptArgument(name=prompt.argument, description=prompt.explains, required=True)
    return types.Prompt(name=prompt.name, description=prompt.sentence, arguments=[argument])


class McpDoor:
    """Speaks the protocol over HTTP: each request stands alone, and is answered with JSON."""

    def __init__(self, house: House) -> None:
        # One line a message is nothing that an operator wants to read.
        logging.getLogger("mcp").setLevel(logging.WARNING)
        self._server = build_server(house, lambda context: actor_of(context.request.scope))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The guard has looked at Host, Origin and token, and bounded the body.
        manager = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True, max_request_body_size=LARGEST_MESSAGE
        )
        async with manager.run():
            await manager.handle_request(scope, receive, send)


async def serve_pipes(house: House, caller: Caller) -> None:
    """Speaks the protocol over standard input and output until the input ends."""
    server = build_server(house, lambda _: caller)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
