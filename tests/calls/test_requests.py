import threading

import pytest

from droidgate.calls.failures import CallError, Failure, failure_of_code
from droidgate.calls.requests import OpenRequests, RequestKey


def test_two_callers_may_use_one_id_and_one_caller_may_not_use_it_twice() -> None:
    requests = OpenRequests[str]()
    requests.open(RequestKey(10001, "1"), "first")
    requests.open(RequestKey(10002, "1"), "second")
    with pytest.raises(CallError, match="busy"):
        requests.open(RequestKey(10001, "1"), "third")
    assert requests.close(RequestKey(10001, "1")) == "first"
    requests.open(RequestKey(10001, "1"), "again")


def test_a_request_is_answered_once() -> None:
    requests = OpenRequests[str]()
    requests.open(RequestKey(1, "1"), "held")
    assert requests.close(RequestKey(1, "1")) == "held"
    assert requests.close(RequestKey(1, "1")) is None
    assert requests.close(RequestKey(1, "never")) is None


def test_too_many_open_requests_are_refused_by_caller_and_in_all() -> None:
    requests = OpenRequests[int](limit=3, limit_per_caller=2)
    for number in range(2):
        requests.open(RequestKey(1, str(number)), number)
    with pytest.raises(CallError, match="busy"):
        requests.open(RequestKey(1, "2"), 2)
    requests.open(RequestKey(2, "0"), 0)
    with pytest.raises(CallError, match="busy"):
        requests.open(RequestKey(3, "0"), 0)


def test_when_everything_is_interrupted_each_open_request_is_given_back_once() -> None:
    requests = OpenRequests[str]()
    requests.open(RequestKey(1, "1"), "a")
    requests.open(RequestKey(1, "2"), "b")
    assert sorted(requests.close_all().values()) == ["a", "b"]
    assert requests.close_all() == {}
    assert len(requests) == 0


def test_of_many_threads_that_answer_one_request_one_does() -> None:
    requests = OpenRequests[str]()
    won: list[str] = []
    for round_number in range(200):
        key = RequestKey(1, str(round_number))
        requests.open(key, "held")
        barrier = threading.Barrier(4)

        def answer(key: RequestKey = key, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            if requests.close(key) is not None:
                won.append(key.request_id)

        threads = [threading.Thread(target=answer) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(won) == len(set(won)) == 200


@pytest.mark.parametrize(
    ("code", "token"),
    [(1000, "denied"), (1003, "unknown_capability"), (1777, "invalid_argument"), (9, "backend_failure")],
)
def test_a_failure_keeps_the_number_that_an_app_function_gave(code: int, token: str) -> None:
    failure = failure_of_code(code, "no such note")
    assert failure.token == token
    assert failure.app_functions_code() == code
    assert failure.message() == f"{token}: no such note"


def test_a_failure_without_a_number_has_that_of_its_token() -> None:
    assert Failure("timeout").app_functions_code() == 2001
