"""The emulator's host time per HLO instruction."""

import os
import subprocess
import sys


def test_every_program_has_its_lines(tmp_path):
    script = "import torch; x = torch.ones(64, 64, device='neuron'); (x @ x).exp().cpu()"
    environment = {**os.environ, "TORCHNEURON_HOST_PROFILE": str(tmp_path / "profile")}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True, timeout=120)
    (file,) = (tmp_path / "profile").iterdir()
    rows = [line.split("\t") for line in file.read_text().splitlines()]
    assert all(len(row) == 5 and int(row[0]) > 0 and int(row[1]) > 0 for row in rows)
    assert any("nc_matmul" in row[4] for row in rows)
    assert {"aten::mm", "aten::exp"} <= {row[2] for row in rows}
