"""The folder of wheels that `make test-all` makes installs and measures where there is no network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.further

_WHEELS = Path(__file__).parents[2] / "build" / "wheels"
_CUT_OFF = ["unshare", "--map-root-user", "--user", "--net"]
_MOST_BYTES = 150e6  # without pip and bytecode; 310 MB were too much for a node
_WAYS = {
    "usual": """
"$2" -m venv here
here/bin/pip install --quiet --no-index --find-links "$3" 'steelyard[mpi]'
""",
    "small": """
"$2" -m venv --without-pip here
"$2" -m pip --python here/bin/python install --quiet --no-compile --no-index --find-links "$3" \\
    'steelyard[mpi]'
""",
}
_MEASURE = """
here/bin/steelyard run self.empty --launches 1 --time-budget 5s --out one
here/bin/steelyard show one --json >one.json
"""


@pytest.mark.parametrize("way", _WAYS)
def test_a_folder_of_wheels_is_enough(way: str, tmp_path: Path) -> None:
    assert list(_WHEELS.glob("steelyard-*.whl")), "there are no wheels; type: make build/wheels/made"
    if subprocess.run([*_CUT_OFF, "true"], capture_output=True).returncode != 0:
        pytest.skip("no namespace of networks can be made here")
    environ = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    environ["PYTHONDONTWRITEBYTECODE"] = "1"
    environ["STEELYARD_CACHE"] = str(tmp_path / "cache")
    base = shutil.which("python3", path=f"{sys.base_prefix}/bin")
    script = f'set -e; cd "$1"; {_WAYS[way]} {_MEASURE}'
    words = [*_CUT_OFF, "sh", "-c", script, "sh", str(tmp_path), str(base), str(_WHEELS)]
    done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    points = json.loads((tmp_path / "one.json").read_text())["points"]
    assert [point["status"] for point in points] == ["ok"]
    taken = sum(file.lstat().st_size for file in (tmp_path / "here").rglob("*"))
    assert way != "small" or taken < _MOST_BYTES
