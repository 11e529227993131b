"""The emulator's host time per HLO instruction."""

from processes import output


def test_every_program_has_its_lines(tmp_path):
    script = "import torch; x = torch.ones(64, 64, device='neuron'); (x @ x).exp().cpu()"
    output(script, TORCHNEURON_HOST_PROFILE=tmp_path / "profile")
    (file,) = (tmp_path / "profile").iterdir()
    rows = [line.split("\t") for line in file.read_text().splitlines()]
    assert all(len(row) == 5 and int(row[0]) > 0 and int(row[1]) > 0 for row in rows)
    assert any("nc_matmul" in row[4] for row in rows)
    assert {"aten::mm", "aten::exp"} <= {row[2] for row in rows}
