"""What a generation lacks is refused with its name."""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import refused

from nki import _core

X = np.zeros((32, 8), np.float32)
TRN3_ONLY = {
    "exponential": lambda d, t: nisa.exponential(d, t),
    "activate2": lambda d, t: nisa.activate2(d, nl.exp, t, 1.0, 0.0, nl.multiply, nl.add),
    "rand2": lambda d, t: nisa.rand2(d, 0.0, 1.0),
    "quantize_mx": lambda d, t: nisa.quantize_mx(
        d.view(nl.float8_e4m3fn_x4)[:, :1], t.view(nl.bfloat16)[:, :4], t.view(nl.uint8)[:, :1]
    ),
    "nc_matmul_mx": lambda d, t: nisa.nc_matmul_mx(
        d, *[t.view(nl.float8_e4m3fn_x4)] * 2, *[t.view(nl.uint8)[:, :8]] * 2, accumulate=False
    ),
}


def test_the_list_is_the_tables():
    late = {row["mnemonic"] for row in _core.instructions() if row["since"] == "trn3"}
    assert late == set(TRN3_ONLY)


@pytest.mark.parametrize("mnemonic", TRN3_ONLY)
def test_trn2_refuses(mnemonic, monkeypatch):
    monkeypatch.delenv("NEURON_PLATFORM_TARGET_OVERRIDE", raising=False)
    message = refused(TRN3_ONLY[mnemonic], X, out=X.shape)
    assert f"{mnemonic}.target: exists from trn3 on, the program is made for trn2" in message
