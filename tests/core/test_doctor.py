"""The doctor on healthy and broken computers."""

import hashlib

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


def test_packages(tmp_path):
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("# comment\nnumpy>=1,<9\n\nno-such-package>=1\n")
    here, missing = doctor.check_packages(requirements)
    assert (here.name, here.state) == ("numpy", State.OK)
    assert (missing.name, missing.state) == ("no-such-package", State.BAD)


def test_no_loudspeaker_is_only_a_warning(monkeypatch):
    def silent():
        raise ForespeakError("No audio output device was found: connect one.")

    monkeypatch.setattr(doctor, "_speak", lambda *_: "0.5 s of sound")
    checks = {check.name: check for check in doctor.examine("joe", "cpu", silent)}
    assert checks["audio output"].state is State.WARNING
    assert checks["audio output"].remedy == "connect one."
    assert checks["device"].state is State.OK
    assert checks["speech"].state is State.OK


def test_whatever_goes_wrong_is_reported():
    def broken():
        raise ZeroDivisionError("oh")

    check = doctor.attempt("speech", broken, "mend it")
    assert (check.state, check.found) == (State.BAD, "ZeroDivisionError: oh")
