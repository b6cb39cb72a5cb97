"""The file of the bearer token."""

import hmac
import os
import threading
from pathlib import Path

import pytest

from droidgate.serving.tokens import TokenCheck, read_or_make_token
from droidgate_mappings.model.errors import DroidgateError, InputError


def test_a_token_is_made_once_and_only_its_user_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "serve-token"
    token = read_or_make_token(path)
    assert len(token) == 43  # 256 bits in base64
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_or_make_token(path) == token
    assert read_or_make_token(tmp_path / "another") != token


def test_servers_that_start_at_once_have_one_token(tmp_path: Path) -> None:
    tokens: list[str] = []
    threads = [
        threading.Thread(target=lambda: tokens.append(read_or_make_token(tmp_path / "token")))
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tokens) == 16
    assert len(set(tokens)) == 1


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o622])
def test_a_token_that_others_can_read_or_write_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "token"
    path.write_text("x" * 43)
    path.chmod(mode)
    with pytest.raises(InputError, match="other users"):
        read_or_make_token(path)


@pytest.mark.parametrize("text", ["short", "x" * 21, "two words of more than 22", "ä" * 30, "x" * 30 + "\0"])
def test_what_is_not_a_token_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(InputError, match="does not hold a token"):
        read_or_make_token(path)


def test_a_link_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("x" * 43)
    (tmp_path / "token").symlink_to(tmp_path / "other")
    with pytest.raises(DroidgateError):
        read_or_make_token(tmp_path / "token")


def test_tokens_are_compared_in_time_that_does_not_depend_on_them(monkeypatch: pytest.MonkeyPatch) -> None:

    compared: list[tuple[bytes, bytes]] = []
    real = hmac.compare_digest

    def recording(left: bytes, right: bytes) -> bool:
        compared.append((left, right))
        return real(left, right)

    monkeypatch.setattr(hmac, "compare_digest", recording)
    check = TokenCheck("t" * 43)
    assert check.accepts(b"Bearer " + b"t" * 43)
    assert not check.accepts(b"Bearer t")
    assert not check.accepts(None)
    # Digests of one length: not even the token's length shows.
    assert [len(part) for pair in compared for part in pair] == [32] * 6
