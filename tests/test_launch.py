"""The command as users meet it: exit codes, one-line errors, files."""

import io
import json
import os
import signal
import socket
import subprocess
import sys
import wave
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

import launch
from app.serve import INTERRUPTED
from core.engine import Engine
from core.trace import Trace
from core.voices import catalog
from core.voices.joe import Joe
from tests.fake_voice import FakeVoice, fake_engine

ROOT = Path(__file__).parents[1]


@pytest.fixture
def command(monkeypatch, capsys):
    """Runs `launch.py` in this process; (exit code, stdout, stderr)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["launch.py", *map(str, arguments)])
        code = launch.main()
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr(Engine, "load", lambda *_: fake_engine())


def launched(*arguments, **options):
    return subprocess.run(
        [sys.executable, "launch.py", *arguments],
        cwd=ROOT,
        capture_output=True,
        timeout=120,
        check=False,
        **options,
    )


def assert_refused(result, part):
    code, _, error = result
    assert code == 2
    assert error.count("\n") == 1, error
    assert part in error


def test_the_password_may_come_from_the_environment(command, monkeypatch):
    """Where other users of the computer do not see it."""
    served = []
    monkeypatch.setattr("app.serve.serve", lambda *given: served.append(given))
    monkeypatch.setenv("FORESPEAK_PASSWORD", "wört")
    assert command()[0] == command("--password", "another")[0] == 0
    assert [given[-1] for given in served] == ["wört", "another"]


def test_help_loads_nothing_heavy():
    code = "import sys, launch; sys.argv[1:] = ['--help']; launch.main(); print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "doctor" in result.stdout
    assert not {"torch", "gradio", "numpy"} & set(result.stdout.split())


def test_an_error_is_one_line_and_no_traceback(tmp_path):
    (tmp_path / "latin.txt").write_bytes("café".encode("latin-1"))
    result = launched("say", "--file", str(tmp_path / "latin.txt"))
    assert result.returncode == 2
    assert result.stdout == b""
    assert result.stderr.decode().count("\n") == 1
    assert b"UTF-8" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["say"], "--file"),
        (["say", "hello", "--file", "x.txt"], "one of them"),
        (["say", " \n"], "nothing to say"),
        (["say", "hello", "-o", "/nowhere/x.wav"], "/nowhere/x.wav"),
        (["say", "hello", "-o", "."], "not a WAV file"),
        (["say", "hello", "-o", "x.mp3"], "x.wav"),
        (["say", "hello", "--trace", "/nowhere/t.json"], "/nowhere/t.json"),
        (["say", "--file", "/nowhere.txt"], "/nowhere.txt"),
        (["say", "--file", "."], "Cannot read"),
        (["say", "hello", "--gamma", "17"], "γ 17"),
        (["say", "hello", "--gamma", "-1"], "γ -1"),
        (["say", "hello", "--gamma", "0"], "--baseline"),
        (["say", "hello", "--gamma", "two"], "--gamma"),
        (["say", "hello", "--temperature", "nan"], "Temperature nan"),
        (["say", "hello", "--top-p", "0"], "Top-p"),
        (["say", "hello", "--rate", "3"], "rate 3.0"),
        (["say", "hello", "--rule", "guess"], "'guess'"),
        (["say", "hello", "--voice", "nobody"], "'nobody'"),
        (["say", "hello", "--device", "tpu"], "'tpu'"),
        (["bench", "--gamma", "0"], "γ 0"),
        (["bench", "--runs", "0"], "--runs"),
        (["bench", "--json", "/nowhere/b.json"], "/nowhere/b.json"),
        (["--voice", "nobody"], "'nobody'"),
        (["doctor", "--voice", "nobody"], "'nobody'"),
        (["doctor", "--device", "tpu"], "'tpu'"),
        (["--host", "256.0.0.1"], "256.0.0.1"),
        (["--port", "99999"], "--port"),
        (["--password", " "], "password is empty"),
        (["--password", "a\udcffb"], "nobody can type"),
        (["--password", "a\nb"], "nobody can type"),
        (["--tests", ROOT / "launch.py"], "is no folder"),
        (["sing"], "sing"),
        (["say", "hello", "--loud"], "--loud"),
    ],
)
def test_bad_input(command, tmp_path, monkeypatch, arguments, part):
    monkeypatch.chdir(tmp_path)
    assert_refused(command(*arguments), part)
    assert list(tmp_path.iterdir()) == []


def test_a_busy_port_that_was_asked_for_is_an_error(command):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert_refused(command("--port", port, "--no-browser"), str(port))


def test_a_damaged_asset_names_the_file(command, monkeypatch, tmp_path):
    (tmp_path / "codec.safetensors").write_bytes(b"not a checkpoint")
    monkeypatch.setitem(catalog.VOICES, "joe", partial(Joe, folder=tmp_path))
    monkeypatch.chdir(tmp_path)
    assert_refused(command("say", "hello"), "codec.safetensors")


def test_a_missing_package_says_how_to_install(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "app.speakers", None)
    code, _, error = command("say", "hello")
    assert (code, "requirements.txt" in error) == (2, True)


BROKEN_COMPUTER = """
import sys
class Blocker:
    def find_spec(self, name, *_):
        if name in {names}: raise {error}("blocked")
sys.meta_path.insert(0, Blocker())
import launch
sys.argv = ["launch.py", "doctor"]
sys.exit(launch.main())
"""


@pytest.mark.parametrize(
    ("names", "error"),
    [
        (["torch"], "OSError"),  # as on Windows without the Visual C++ runtime
        (["torch", "numpy", "rich", "packaging", "sounddevice"], "ModuleNotFoundError"),
    ],
)
def test_doctor_works_where_packages_do_not(names, error):
    code = BROKEN_COMPUTER.format(names=names, error=error)
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (1, "")
    assert "PyTorch cannot" in result.stdout
    assert "BAD" in result.stdout
    assert "audio output" in result.stdout


@pytest.mark.usefixtures("fake")
class TestSay:
    def test_writes_the_sound_and_prints_the_metrics(self, command, tmp_path):
        path, trace = tmp_path / "hello.wav", tmp_path / "t.json"
        code, table, _ = command("say", "hello there", "-o", path, "--trace", trace)
        assert code == 0
        for name in ("Audio length", "RTF", "TTFA", "Underrun", "Acceptance length", "codebook 1"):
            assert name in table
        with wave.open(str(path)) as file:
            assert file.getparams()[:3] == (1, 2, 22050)
            samples = file.getnframes()
            sound = file.readframes(samples)
        assert Trace.load(trace).pcm().tobytes() == sound
        assert sorted(p.name for p in tmp_path.iterdir()) == ["hello.wav", "t.json"]

    def test_same_seed_is_the_baseline_sample_for_sample(self, command, tmp_path):
        options = ["say", "the same words", "--rule", "same-seed", "--seed", 5, "-o"]
        command(*options, tmp_path / "fast.wav")
        command(*options, tmp_path / "plain.wav", "--baseline")
        assert (tmp_path / "fast.wav").read_bytes() == (tmp_path / "plain.wav").read_bytes()

    def test_reads_standard_input(self, command, tmp_path, monkeypatch):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbfhello")))
        assert command("say", "-", "-o", tmp_path / "x.wav")[0] == 0

    def test_the_file_has_a_default_name(self, command, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        _, _, error = command("say", "hello")
        assert "Wrote speech.wav" in error
        assert (tmp_path / "speech.wav").exists()

    def test_a_failure_leaves_the_old_file_and_no_other(self, command, tmp_path):
        path = tmp_path / "old.wav"
        path.write_bytes(b"old")
        assert_refused(command("say", "hello\nfail", "-o", path), "fake voice failed")
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]

    def test_ctrl_c_is_quiet_and_leaves_nothing(self, command, tmp_path, monkeypatch):
        def interrupt(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(FakeVoice, "draft", interrupt)
        assert command("say", "hello", "-o", tmp_path / "x.wav") == (130, "", "")
        assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("fake")
def test_bench_writes_what_it_prints(command, tmp_path, monkeypatch):
    monkeypatch.setattr("core.bench.SENTENCES", ("hello there my friend", "one more of them"))
    path = tmp_path / "b.json"
    options = ["--runs", 1, "--gamma", 2, "--rule", "same-seed"]
    code, table, _ = command("bench", *options, "--json", path)
    assert code == 0
    assert "Predicted speed-up" in table
    assert "0 of 2" in table
    assert set(json.loads(path.read_text())["v"]) == {"1", "2", "3"}


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize(
    ("options", "said", "warning"),
    [
        ([], "http://127.0.0.1:", ""),
        (["--host", "0.0.0.0"], "http://localhost:", "--password"),
        (["--host", "0.0.0.0", "--password", "word"], "http://localhost:", ""),
    ],
)
def test_the_page_says_where_it_is(command, monkeypatch, capsys, options, said, warning):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("app.serve.time", SimpleNamespace(sleep=interrupt))
    monkeypatch.setattr("app.serve.leave_a_core", lambda: None)
    monkeypatch.setattr("app.serve.os._exit", sys.exit)
    with pytest.raises(SystemExit, match=str(INTERRUPTED)):
        command("--no-browser", *options)
    output, error = capsys.readouterr()
    assert said in output.splitlines()[0]
    assert warning in error
    assert error.count("\n") == bool(warning)


def test_the_page_stops_quietly():
    with subprocess.Popen(
        [sys.executable, "launch.py", "--no-browser"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    ) as page:
        assert "http://127.0.0.1:" in page.stdout.readline()
        page.send_signal(signal.SIGINT)
        _, error = page.communicate(timeout=60)
    assert (page.returncode, error) == (INTERRUPTED, "")
