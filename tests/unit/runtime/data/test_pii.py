"""Personal data that is replaced, and what only looks like it."""

import time
from collections import Counter

import pytest

from runtime.contracts.personal import KINDS, placeholder
from runtime.data import pii
from runtime.data.pii import masked

ALL = {kind: placeholder(kind) for kind in KINDS}


def test_every_kind_of_the_contract_is_looked_for() -> None:
    assert set(pii.KINDS) == set(KINDS)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("写信给wang.li+news@mail.example.com.cn，谢谢", "写信给<email>，谢谢"),
        ("mail <a_b@c-d.org>.", "mail <<email>>."),
        ("手机13812345678或138-1234-5678", "手机<phone>或<phone>"),
        ("拨打+86 13812345678。", "拨打<phone>。"),
        ("总机 010-62345678，传真 (021) 61234567", "总机 <phone>，传真 <phone>"),
        ("call +44 20 7946 0958 or (212) 555-0142 or 212-555-0142 now", "call <phone> or <phone> or <phone> now"),
        ("+4915112345678", "<phone>"),
        ("身份证 11010519491231002X，", "身份证 <id>，"),
        ("440524188001010014", "<id>"),
        ("card 4111 1111 1111 1111 or 4111111111111111", "card <card> or <card>"),
        ("卡号6222021234567890128", "卡号<card>"),
        ("amex 3782-822463-10005", "amex <card>"),
        ("from 203.0.112.45:8080 and [2001:4860:4860::8888]", "from <ip_address>:8080 and [<ip_address>]"),
    ],
)
def test_personal_data_is_replaced_by_its_kind(text: str, clean: str) -> None:
    found: Counter[str] = Counter()
    assert masked(text, ALL, found) == clean
    assert found.total() == clean.count("<") - text.count("<")
    assert masked(clean, ALL, Counter()) == clean


@pytest.mark.parametrize(
    "text",
    [
        "version 1.2.3.4 of Linux 2.6.32.71, section 3.2.1.4",
        "Chrome/96.0.4664.110 and Windows 10.0.19041.1",
        "127.0.0.1 and 192.168.100.12 and 10.0.0.138 are private, as is fe80::1",
        "on 2023-01-15 12:34:56 and 2023/01/15, from 1990-2020",
        "  138\tfor line in lines:\n  139\t    count += 1",
        "身份证号110105194912310021的校验位不对",
        "11010519491331002X has a month of 13",
        "4111 1111 1111 1112 fails the check digit; 1234567890123456 has no issuer",
        "timestamp 1700000000000, pi 3.14159265358979, size 17179869184",
        "0.13812345678 and 138123456789 and 12812345678",
        "UTC+0800, x+12345678, +12345678, isbn 978-7-111-12345-6",
        "git@host and user@localhost and @decorator and a@1.2",
        "std::vector<abc::def>, time 12:34:56:78",
        "sha 13812345678abcdef0123456789",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert masked(text, ALL, Counter()) == text


def test_only_the_kinds_asked_for_are_replaced_by_the_text_asked_for() -> None:
    assert masked("a@b.org, 13812345678", {"email": "[e-mail]"}, Counter()) == "[e-mail], 13812345678"


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["1", "1.", "a", "a.", "@", "a@", "a@b.", "1-", "1 ", "+1 ", "(2", "2001:", "::", "138 ", "4111 "])
def test_time_is_linear_in_the_text(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        start = time.process_time()
        masked(text, ALL, Counter())
        return time.process_time() - start

    assert seconds(400_000) < 40 * max(seconds(40_000), 0.005)
