"""Parsers of dates and durations, and the clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blazarclient import clock, dates, durations, exception

BERLIN = ZoneInfo("Europe/Berlin")
# A Wednesday, 11:30 in Berlin.
NOW = datetime(2031, 1, 15, 10, 30, 45, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("now", "now"),
        ("NOW", "now"),
        ("2031-02-01 09:00", "2031-02-01 09:00"),
        ("2031-2-1 9:5", "2031-02-01 09:05"),
        ("2031-02-01T09:00", "2031-02-01 09:00"),
        ("2031-02-01T09:00:59.000000", "2031-02-01 09:00"),
        ("2031-02-01T09:00Z", "2031-02-01 09:00"),
        ("2031-02-01T09:00+01:00", "2031-02-01 08:00"),
        ("2031-02-01 09:00-05:30", "2031-02-01 14:30"),
        ("2031-02-01", "2031-02-01 00:00"),
        ("2031-02-01 09:00 local", "2031-02-01 08:00"),
        ("2031-07-01 09:00 local", "2031-07-01 07:00"),
        ("2031-02-01 09:00 UTC", "2031-02-01 09:00"),
        ("2031-02-01 09:00 Asia/Tokyo", "2031-02-01 00:00"),
        ("2031-02-01 local", "2031-01-31 23:00"),
        ("2031-02-01 09:00 asia/tokyo", "2031-02-01 00:00"),
        ("2031-02-01 09:00 CET", "2031-02-01 08:00"),
        ("tomorrow 09:00 Asia/Tokyo", "2031-01-16 00:00"),
        ("+2h", "2031-01-15 12:30"),
        ("+1d12h", "2031-01-16 22:30"),
        ("12:00", "2031-01-15 11:00"),
        ("11:00", "2031-01-16 10:00"),
        ("tomorrow 9:00", "2031-01-16 08:00"),
        ("tomorrow 09:00 UTC", "2031-01-16 09:00"),
        ("today 23:59", "2031-01-15 22:59"),
        ("tomorrow", "2031-01-15 23:00"),
        ("friday 09:00", "2031-01-17 08:00"),
        ("wednesday 09:00", "2031-01-22 08:00"),
        ("wednesday 13:00", "2031-01-15 12:00"),
        ("Monday", "2031-01-19 23:00"),
    ],
)
def test_dates_are_parsed(text: str, meant: str) -> None:
    assert dates.to_api(text, NOW, BERLIN) == meant


@pytest.mark.parametrize(
    "text",
    [
        *("", "soon", "2031-13-01 10:00", "2031-02-30 10:00", "25:00", "tomorrow at 9", "+", "+2", "-2h"),
        *(
            "2031-02-01 09:00 Mars/Base",
            "2031-02-01T09:00+01:00 local",
            "now local",
            "+99999999w",
            "9999999999",
        ),
    ],
)
def test_invalid_dates_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"[Ii]nvalid") as caught:
        dates.to_api(text, NOW, BERLIN)

    assert isinstance(caught.value, exception.BlazarClientException)


def test_the_error_for_an_invalid_date_has_examples() -> None:
    with pytest.raises(exception.InvalidDate, match="2026-12-01T09:00"):
        dates.to_api("soon", NOW, BERLIN)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("2031-02-01 09:00 Europe/Berln", "did you mean Europe/Berlin"),
        ("2031-02-01 09:00 Berlin", "did you mean Europe/Berlin"),
        ("tomorrow 09:00 new_yrok", "did you mean America/New_York"),
        ("2031-02-01 09:00 Zzqqx", "use a name such as Europe/Paris"),
    ],
)
def test_an_unknown_time_zone_is_refused_with_similar_names(text: str, hint: str) -> None:
    with pytest.raises(exception.InvalidDate) as caught:
        dates.to_api(text, NOW, BERLIN)

    assert f"unknown time zone '{text.split()[-1]}'; {hint}" in str(caught.value)


@pytest.mark.parametrize("text", ["soon maybe", "2031-13-01 10:00 CET", "2031-13-01 10:00 Berln"])
def test_the_error_for_an_invalid_date_before_an_unknown_word_does_not_mention_time_zones(text: str) -> None:
    with pytest.raises(exception.InvalidDate) as caught:
        dates.to_api(text, NOW, BERLIN)

    assert "time zone" not in str(caught.value)


def test_a_time_that_daylight_saving_skips_is_refused() -> None:
    with pytest.raises(exception.InvalidDate, match="daylight saving"):
        dates.to_api("2031-03-30 02:30 local", NOW, BERLIN)


@given(st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)))  # noqa: DTZ001
def test_the_format_of_requests_is_utc_in_every_time_zone(moment: datetime) -> None:
    text = moment.strftime("%Y-%m-%d %H:%M")

    assert dates.to_api(text, NOW, BERLIN) == text
    assert dates.is_api_form(text)


@given(st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)), st.integers(-1439, 1439))  # noqa: DTZ001
def test_a_date_with_an_offset_is_converted_to_utc(moment: datetime, minutes: int) -> None:
    there = moment.replace(tzinfo=UTC).astimezone(ZoneInfo("UTC"))
    text = (there + timedelta(minutes=minutes)).replace(tzinfo=None).isoformat(timespec="minutes")
    sign, rest = ("-" if minutes < 0 else "+"), divmod(abs(minutes), 60)

    found = dates.parse(f"{text}{sign}{rest[0]:02}:{rest[1]:02}", NOW, BERLIN)

    assert found == there.replace(second=0, microsecond=0)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("90m", timedelta(minutes=90)),
        ("8h", timedelta(hours=8)),
        ("1d12h", timedelta(hours=36)),
        ("1d 12h", timedelta(hours=36)),
        ("2w", timedelta(days=14)),
        ("30s", timedelta(seconds=30)),
    ],
)
def test_client_weakness_45_durations_can_be_weeks_and_compound(text: str, meant: timedelta) -> None:
    assert durations.parse(text) == meant


@pytest.mark.parametrize(
    "text", ["", "1", "h", "1h1h", "-1h", "1y", "1.5h", "1H", "1h2", "4|", "9" * 18 + "w"]
)
def test_invalid_durations_are_refused(text: str) -> None:
    with pytest.raises(exception.InvalidDuration):
        durations.parse(text)


@pytest.mark.parametrize(
    ("text", "minutes"), [("30s", "1m"), ("60s", "1m"), ("61s", "2m"), ("6d", "8640m"), ("0m", "0m")]
)
def test_client_weakness_22_durations_are_rounded_up_to_minutes(text: str, minutes: str) -> None:
    assert durations.whole_minutes(text) == minutes


def test_a_timeout_without_a_unit_is_in_seconds() -> None:
    assert durations.parse_seconds("90") == timedelta(seconds=90)
    assert durations.parse_seconds("90m") == timedelta(minutes=90)


@pytest.mark.parametrize("name", ["Europe/Berlin", ":Europe/Berlin"])
def test_the_time_zone_of_the_user_is_taken_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("TZ", name)

    assert clock.local_zone() == BERLIN


@pytest.mark.parametrize("name", ["", "Nowhere/Land", "../../etc/passwd", "/etc/passwd"])
def test_an_unknown_time_zone_in_the_environment_is_replaced_by_that_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("TZ", name)

    assert clock.local_zone().utcoffset(NOW) is not None


def test_the_current_time_is_aware_and_a_pause_returns() -> None:
    before = clock.now()
    clock.pause(0)

    assert before.utcoffset() == timedelta(0)
    assert before <= clock.now()
