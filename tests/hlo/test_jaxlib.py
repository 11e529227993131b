"""HLO against XLA: what JAX writes comes through our reader and writer unharmed."""

import hlo.hlo_texts
import jax
import neuron_testing
import numpy as np
import pytest
import xla_oracle
from jax_functions import CASES

_hlo = neuron_testing.hlo
_EACH_CASE = pytest.mark.parametrize(
    ("function", "arguments"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)


def _assert_same(got, want):
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert g.dtype == w.dtype
        np.testing.assert_array_equal(g, w)


@_EACH_CASE
def test_round_trip_computes_the_same(function, arguments):
    proto = xla_oracle.proto_of(function, *arguments)
    arguments = jax.tree.leaves(arguments)
    written = _hlo.round_trip(proto)
    assert _hlo.round_trip(written) == written
    assert _hlo.clone_is_equal(proto)
    want = xla_oracle.run(proto, arguments)
    _assert_same(xla_oracle.run(written, arguments), want)


@_EACH_CASE
def test_xla_reads_our_text(function, arguments):
    proto = xla_oracle.proto_of(function, *arguments)
    text = _hlo.text(proto)
    assert _hlo.text(xla_oracle.proto_of_text(text)) == text


@pytest.mark.parametrize("name", hlo.hlo_texts.TEXTS)
def test_ops_that_jax_does_not_write(name):
    text, arguments = hlo.hlo_texts.TEXTS[name]
    proto = xla_oracle.proto_of_text(text)
    written = _hlo.round_trip(proto)
    _assert_same(xla_oracle.run(written, arguments), xla_oracle.run(proto, arguments))
    ours = _hlo.text(proto)
    assert _hlo.text(xla_oracle.proto_of_text(ours)) == ours


def test_aliases_survive():
    text, _ = hlo.hlo_texts.TEXTS["aliases"]
    proto = _hlo.round_trip(xla_oracle.proto_of_text(text))
    assert "input_output_alias={ {1}: (0, {}, may-alias) }" in _hlo.text(proto)
    assert "{1}: (0, {}, may-alias)" in xla_oracle.hlo_text(proto)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("s4.1 = s4[8] convert(x)", "element type 21"),
        ("all.1 = f32[8] all-reduce(x), replica_groups={{0,1}}, to_apply=add", "collectives"),
    ],
)
def test_what_is_not_supported_is_said(text, words):
    add = "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n"
    module = f"HloModule m\n{add}\nENTRY e {{\n x = f32[8] parameter(0)\n ROOT {text}\n}}\n"
    with pytest.raises(NotImplementedError, match=words):
        _hlo.verify(xla_oracle.proto_of_text(module))
