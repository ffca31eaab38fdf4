"""The doctor on healthy and broken computers."""

import hashlib

import numpy
import pytest

from core import doctor
from core.doctor import State
from core.errors import ForespeakError


@pytest.fixture
def assets(tmp_path):
    data = b"weights"
    (tmp_path / "target.safetensors").write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    (tmp_path / "SHA256SUMS").write_text(f"{digest}  target.safetensors\n")
    return tmp_path


def test_whole_assets(assets):
    (check,) = doctor.check_assets(assets)
    assert check.state is State.OK


def test_damaged_assets(assets):
    (assets / "target.safetensors").write_bytes(b"weighty")
    (check,) = doctor.check_assets(assets)
    assert (check.state, check.remedy) == (State.BAD, doctor.RESTORE)
    assert not doctor.can_speak([check])


def test_missing_assets(assets):
    (assets / "target.safetensors").unlink()
    (check,) = doctor.check_assets(assets)
    assert check.state is State.BAD


def test_no_list_of_checksums_is_only_a_warning(tmp_path):
    (check,) = doctor.check_assets(tmp_path)
    assert doctor.can_speak([check])


@pytest.mark.parametrize("cut", [b"", b"\n", b"0123abc", b"0123  x\n", b"\xff\xfe\x00", b"f" * 64])
def test_a_damaged_list_of_checksums(assets, cut):
    (assets / "SHA256SUMS").write_bytes(cut)
    (check,) = doctor.check_assets(assets)
    assert (check.state, check.remedy) == (State.BAD, doctor.RESTORE)
    assert "SHA256SUMS" in check.name


def test_the_rest_of_a_damaged_list_is_still_checked(assets):
    with (assets / "SHA256SUMS").open("a") as sums:
        sums.write("0123")
    states = [check.state for check in doctor.check_assets(assets)]
    assert states == [State.BAD, State.OK]


def test_packages(tmp_path):
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("# comment\nnumpy>=1,<9\n\nno-such-package>=1\n")
    here, missing = doctor.check_packages(requirements)
    assert (here.name, here.state) == ("numpy", State.OK)
    assert (missing.name, missing.state) == ("no-such-package", State.BAD)


@pytest.mark.parametrize("range_", [">=99", ">=1,<1.5", "==1.0"])
def test_a_package_of_another_version(tmp_path, range_):
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(f"numpy{range_}\n")
    (check,) = doctor.check_packages(requirements)
    assert (check.name, check.state, check.remedy) == ("numpy", State.BAD, doctor.INSTALL)
    assert numpy.__version__ in check.found


def test_the_packages_here_are_those_required():
    checks = list(doctor.check_packages(doctor.ROOT / "requirements.txt"))
    assert [check for check in checks if check.state is not State.OK] == []


def raiser(error):
    def probe():
        raise error

    return probe


@pytest.mark.parametrize("unknown", [("nobody", "cpu"), ("joe", "tpu")])
def test_what_forespeak_does_not_have_is_refused(unknown):
    with pytest.raises(ForespeakError, match=r"'nobody'|'tpu'"):
        doctor.examine(*unknown, lambda: "Card")


def test_an_error_brings_its_own_remedy():
    error = ForespeakError("No GPU: install it (Debian: apt install gpu).")
    check = doctor.attempt("device", raiser(error), "mend it")
    assert (check.state, check.found) == (State.BAD, "No GPU")
    assert check.remedy == "install it (Debian: apt install gpu)."


def test_whatever_goes_wrong_is_reported():
    check = doctor.attempt("speech", raiser(ZeroDivisionError("oh")), "mend it")
    assert (check.state, check.found) == (State.BAD, "ZeroDivisionError: oh")
    assert check.remedy == "mend it"


def test_every_declared_voice_is_listed_with_its_licence(monkeypatch):
    pytest.importorskip("huggingface_hub")
    monkeypatch.setattr("core.hub.Hub.find", lambda *_: None)
    absent = {check.name: check for check in doctor.check_voices()}
    assert all(check.state is State.WARNING for check in absent.values())
    assert "launch.py fetch llasa-3b (CC BY-NC" in absent["voice llasa-3b"].remedy
    monkeypatch.setattr("core.hub.Hub.find", lambda *_: doctor.ROOT)
    monkeypatch.setattr("core.voices.declared.expect_rtf", lambda *_: 7.66)
    present = list(doctor.check_voices())
    assert {check.state for check in present} == {State.OK}
    assert all(check.found.endswith("about 7.7 on this CPU") for check in present)
