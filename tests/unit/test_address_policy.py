"""The address policy: a table of hostile base_urls, the welcome ones, and the pin between check and call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.adapters.models import open_ai
from fabula.adapters.models.address_policy import AddressPolicy, AddressRefused, policy_of
from fabula.adapters.models.session import open_session
from fabula.adapters.models.wire import Wire
from fabula.ports.errors import InvalidRequest
from fabula.ports.models import CallOrigin, Message, ModelRefused, ModelReply, ModelRequest, whole
from fabula.settings import Settings
from fabula.testing.model_kit import RunningClock
from fabula.testing.model_script import Redirect
from fabula.testing.model_server import ModelServer

NAMES = {
    "public.example": ["93.184.216.34"],
    "inside.example": ["10.1.2.3"],
    "both.example": ["93.184.216.34", "127.0.0.1"],
    "six.example": ["2606:2800:220:1:248:1893:25c8:1946"],
    "six-inside.example": ["::1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "metadata.example": ["169.254.169.254"],
    "127.0.0.1.nip.example": ["127.0.0.1"],
    "localhost": ["127.0.0.1"],
    "localhost.localdomain": ["127.0.0.1"],
    "xn--bcher-kva.example": ["93.184.216.34"],
    "odd.example": ["not an address"],
}


async def resolve(host: str, port: int) -> list[str]:
    if host not in NAMES:
        raise OSError("no such host")
    return NAMES[host]


BEYOND_LOOPBACK = policy_of(Settings(host="0.0.0.0"), resolve)
ON_LOOPBACK = policy_of(Settings(host="127.0.0.1"), resolve)
OPENED = policy_of(Settings(host="0.0.0.0", allow_private_model_addresses=True), resolve)

HOSTILE = [
    # loopback, in every spelling
    "http://127.0.0.1/v1",
    "http://127.0.0.1:11434/v1",
    "http://127.1.2.3/v1",
    "http://127.1/v1",
    "http://127.0.1/v1",
    "http://2130706433/v1",
    "http://017700000001/v1",
    "http://0x7f000001/v1",
    "http://0x7f.0.0.1/v1",
    "http://0177.0.0.1/v1",
    "http://0177.0.0.01/v1",
    "http://127.0.0.1./v1",
    "http://0/v1",
    "http://0.0.0.0/v1",
    "http://0.0.0.0:8080/v1",
    "http://[::1]/v1",
    "http://[0:0:0:0:0:0:0:1]/v1",
    "http://[::]/v1",
    "http://[::ffff:127.0.0.1]/v1",
    "http://[::ffff:7f00:1]/v1",
    "http://[0:0:0:0:0:ffff:7f00:0001]/v1",
    "http://[::127.0.0.1]/v1",
    "http://[2002:7f00:1::]/v1",
    "http://[64:ff9b::127.0.0.1]/v1",
    "http://[64:ff9b::7f00:1]/v1",
    "http://[64:ff9b:1::7f00:1]/v1",
    "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/v1",
    "http://[2001:db8::5efe:7f00:1]/v1",
    "http://localhost/v1",
    "http://localhost./v1",
    "http://LOCALHOST:1234/v1",
    "http://models.localhost/v1",
    "http://localhost.localdomain/v1",
    "http://127.0.0.1.nip.example/v1",
    # private networks
    "http://10.0.0.1/v1",
    "http://10.255.255.255/v1",
    "http://172.16.0.1/v1",
    "http://172.31.255.254/v1",
    "http://192.168.1.1/v1",
    "http://0xC0.0xA8.1.1/v1",
    "http://3232235777/v1",
    "http://100.64.0.1/v1",
    "http://198.18.0.1/v1",
    "http://[fc00::1]/v1",
    "http://[fd12:3456:789a::1]/v1",
    "http://[fec0::1]/v1",
    "http://[::ffff:10.0.0.1]/v1",
    "http://[2002:c0a8:0101::1]/v1",
    "http://inside.example/v1",
    "http://both.example/v1",
    "http://six-inside.example/v1",
    "http://mapped.example/v1",
    # link-local and metadata services
    "http://169.254.169.254/latest/meta-data",
    "http://169.254.170.2/v1",
    "http://2852039166/v1",
    "http://0xa9fea9fe/v1",
    "http://0251.0376.0251.0376/v1",
    "http://[::ffff:169.254.169.254]/v1",
    "http://[64:ff9b::a9fe:a9fe]/v1",
    "http://[fd00:ec2::254]/latest",
    "http://[fd20:ce::254]/v1",
    "http://[fe80::1]/v1",
    "http://[fe80::1%25eth0]/v1",
    "http://100.100.100.200/latest",
    "http://168.63.129.16/v1",
    "http://192.0.0.192/opc",
    "http://metadata.google.internal/computeMetadata/v1",
    "http://metadata.google.internal./v1",
    "http://METADATA.goog/v1",
    "http://metadata/v1",
    "http://instance-data/latest",
    "http://metadata.example/v1",
    # multicast, broadcast, reserved
    "http://224.0.0.1/v1",
    "http://239.255.255.250:1900/v1",
    "http://255.255.255.255/v1",
    "http://240.0.0.1/v1",
    "http://[ff02::1]/v1",
    # user names and confusions
    "http://user@public.example/v1",
    "http://user:pass@public.example/v1",
    "http://public.example@127.0.0.1/v1",
    "http://public.example:80@169.254.169.254/v1",
    "http://@public.example/v1",
    "http://public.example\\@127.0.0.1/v1",
    "http://public.example\t.evil/v1",
    "http://public.example /v1",
    "http://public.example/v1?x=1",
    "http://public.example/v1#@127.0.0.1",
    "http://%31%32%37.0.0.1/v1",
    "http://①②⑦.⓪.⓪.①/v1",
    "http://127。0。0。1/v1",
    "http://ｌocalhost/v1",
    "http://odd.example/v1",
    # other schemes and no address at all
    "file:///etc/passwd",
    "ftp://public.example/v1",
    "gopher://127.0.0.1:6379/_x",
    "unix:///var/run/docker.sock",
    "javascript:alert(1)",
    "data:text/plain,hello",
    "//public.example/v1",
    "public.example/v1",
    "http://",
    "http:///v1",
    "http://[::1/v1",
    "http://[not-six]/v1",
    "http://public.example:99999/v1",
    "http://public.example:port/v1",
    "http://-bad-.example/v1",
    "http://a..b/v1",
    "",
    "   ",
]

ALWAYS = [
    "http://169.254.169.254/v1",
    "http://[fe80::1]/v1",
    "http://[fd00:ec2::254]/v1",
    "http://100.100.100.200/v1",
    "http://metadata.google.internal/v1",
    "http://metadata.example/v1",
    "http://[::ffff:169.254.169.254]/v1",
    "http://0.0.0.0/v1",
    "http://224.0.0.1/v1",
    "http://2852039166/v1",
    "http://user:pass@127.0.0.1/v1",
    "file:///etc/passwd",
]

WELCOME = [
    ("https://public.example/v1", "https://public.example/v1"),
    ("https://public.example/v1/", "https://public.example/v1"),
    (" HTTPS://Public.Example:443/v1 ", "https://public.example/v1"),
    ("http://93.184.216.34:8000/openai/v1", "http://93.184.216.34:8000/openai/v1"),
    ("https://six.example", "https://six.example"),
    ("https://[2606:2800:220:1:248:1893:25c8:1946]:8443/v1", "https://[2606:2800:220:1:248:1893:25c8:1946]:8443/v1"),
    ("https://bücher.example/v1", "https://xn--bcher-kva.example/v1"),
    ("https://not-known-yet.example/v1", "https://not-known-yet.example/v1"),
]

LOCAL = [
    "http://127.0.0.1:11434/v1",
    "http://localhost:1234/v1",
    "http://[::1]:8080/v1",
    "http://192.168.1.20:8000/v1",
    "http://inside.example/v1",
]


def test_the_table_lists_at_least_sixty_hostile_addresses() -> None:
    assert len(set(HOSTILE)) >= 60


@pytest.mark.parametrize("base_url", HOSTILE)
async def test_a_server_beyond_loopback_refuses(base_url: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        await BEYOND_LOOPBACK.check(base_url)
    assert refusal.value.name == "invalid_request"
    assert refusal.value.message.endswith(".")
    assert "pass@" not in refusal.value.message


@pytest.mark.parametrize("base_url", ALWAYS)
@pytest.mark.parametrize("policy", [ON_LOOPBACK, OPENED], ids=["on_loopback", "opened"])
async def test_no_setting_opens(base_url: str, policy: AddressPolicy) -> None:
    with pytest.raises(AddressRefused):
        await policy.check(base_url)


@pytest.mark.parametrize(("base_url", "normalised"), WELCOME)
async def test_public_addresses_are_welcome_and_normalised(base_url: str, normalised: str) -> None:
    assert await BEYOND_LOOPBACK.check(base_url) == normalised


@pytest.mark.parametrize("base_url", LOCAL)
async def test_local_model_servers_are_welcome_on_loopback_or_by_setting(base_url: str) -> None:
    assert await ON_LOOPBACK.check(base_url) == base_url
    assert await OPENED.check(base_url) == base_url


@given(st.text(max_size=60))
async def test_any_text_is_judged_without_a_crash(text: str) -> None:
    for candidate in (text, f"http://{text}/v1"):
        try:
            kept = await BEYOND_LOOPBACK.check(candidate)
        except InvalidRequest:
            continue
        assert await BEYOND_LOOPBACK.check(kept) == kept


async def ask(policy: AddressPolicy, base_url: str) -> ModelReply:
    clock = RunningClock()
    async with await open_session(policy) as session:
        wire = Wire(session=session, policy=policy, base_url=base_url, api_key="k", clock=clock)
        client = open_ai.OpenAiClient(wire=wire, base_url=base_url, model="m", learned={})
        request = ModelRequest(
            origin=CallOrigin(agent="test"),
            messages=(Message(role="user", content="hello"),),
            deadline=clock.monotonic() + 20,
        )
        return await whole(client, request)


async def test_a_name_that_changes_its_address_between_check_and_call_is_refused() -> None:
    answers = [["93.184.216.34"], ["127.0.0.1"]]

    async def rebinding(host: str, port: int) -> list[str]:
        return answers.pop(0)

    policy = AddressPolicy(allow_private=False, resolve=rebinding)
    async with ModelServer(["caught"]) as server:
        base_url = await policy.check(f"http://rebind.example:{server.port}/v1")
        with pytest.raises(ModelRefused, match="private or loopback"):
            await ask(policy, base_url)
        assert server.requests == []


async def test_the_connection_goes_to_the_judged_address_and_nowhere_else() -> None:
    asked = []

    async def pinned(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    async with ModelServer(["pinned"]) as server:
        reply = await ask(AddressPolicy(allow_private=True, resolve=pinned), f"http://model.example:{server.port}/v1")
        assert reply.text == "pinned"
        assert server.requests[0].headers["Host"] == f"model.example:{server.port}"
    assert asked == ["model.example"]


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "0177.0.0.1", "[::ffff:127.0.0.1]"])
async def test_a_numeric_host_is_judged_at_call_too(host: str) -> None:
    async with ModelServer(["caught"]) as server:
        with pytest.raises(ModelRefused):
            await ask(AddressPolicy(allow_private=False), f"http://{host}:{server.port}/v1")
        assert server.requests == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_never_followed(status: int) -> None:
    async with ModelServer(["reached"]) as hidden:
        target = f"{hidden.base_url}/chat/completions"
        async with ModelServer([Redirect(to=target, status=status)]) as server:
            with pytest.raises(ModelRefused, match="another address"):
                await ask(AddressPolicy(allow_private=True), server.base_url)
        assert hidden.requests == []
