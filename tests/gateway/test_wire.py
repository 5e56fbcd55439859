"""The wire log: tickets, floods and bounds."""

from __future__ import annotations

from mcpeval_dsl.gateway.ticket import CURRENT, RawMessage, Ticket
from mcpeval_dsl.gateway.wire import FRAME_COUNT, WireLog, WireNoise, monotonic_clock


def asked(log: WireLog, identity: int) -> Ticket:
    ticket = Ticket("tools/call")
    token = CURRENT.set(ticket)
    log.sent({"jsonrpc": "2.0", "id": identity, "method": "tools/call"})
    CURRENT.reset(token)
    return ticket


def test_an_answer_goes_to_its_own_ticket() -> None:
    log = WireLog(monotonic_clock())
    first, second = asked(log, 1), asked(log, 2)
    assert log.answered({"jsonrpc": "2.0", "id": "2", "result": {}}, RawMessage({}, 10))
    assert (first.response, second.size) == (None, 10)
    assert not log.answered({"jsonrpc": "2.0", "id": 2, "result": {}}, RawMessage({}, 10))


def test_noise_with_an_address_spoils_only_that_request() -> None:
    log = WireLog(monotonic_clock())
    first, second = asked(log, 1), asked(log, 2)
    log.chatty = True
    assert log.disturbed(WireNoise("garbage", "…", None)) is None
    assert log.disturbed(WireNoise("garbage", "…", "2")) == "2"
    assert (first.broken, second.broken) == (None, "garbage")
    assert log.noise == 2


def test_progress_touches_its_request() -> None:
    log = WireLog(monotonic_clock())
    ticket = asked(log, 1)
    for params in (None, {}, {"progressToken": 9}, {"progressToken": [1]}):
        log.notified({"method": "notifications/progress", "params": params}, 1)
    assert ticket.touched == 0
    log.notified({"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}}, 1)
    assert ticket.touched > 0


def test_a_cancel_of_ours_is_noted() -> None:
    log = WireLog(monotonic_clock())
    ticket = asked(log, 1)
    log.sent({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    assert ticket.cancel_sent


def test_frames_are_bounded_in_number_and_bytes() -> None:
    log = WireLog(monotonic_clock())
    for _ in range(FRAME_COUNT + 10):
        log.notified({"method": "x"}, 1)
    assert (len(log.frames), log.dropped) == (FRAME_COUNT, 10)
    log.notified({"method": "large"}, 100_000_000)
    assert [frame.message for frame in log.frames] == [{"method": "large"}]
