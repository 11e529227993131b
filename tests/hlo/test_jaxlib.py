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
        ("s4.1 = s4[8] convert(x)", "element type 21 .* s4, .* use s8"),
        ("f.1 = f8e3m4[8] convert(x)", "f8e3m4, .* use f8e4m3"),
        ("f.1 = f8e4m3fnuz[8] convert(x)", "f8e4m3fnuz, .* use f8e4m3"),
        ("b.1 = f32[2,4] bitcast(x)", "opcode 'bitcast' is not supported: XLA's optimisations"),
    ],
)
def test_what_is_not_supported_is_said(text, words):
    add = "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n"
    module = f"HloModule m\n{add}\nENTRY e {{\n x = f32[8] parameter(0)\n ROOT {text}\n}}\n"
    with pytest.raises(NotImplementedError, match=words):
        _hlo.verify(xla_oracle.proto_of_text(module))


COLLECTIVES = {
    "all-reduce": ("f32[8]", "replica_groups={{0,1},{2,3}}, to_apply=add"),
    "all-reduce of a channel": (
        "f32[8]",
        "channel_id=3, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add",
    ),
    "all-reduce of an iota": ("f32[8]", "replica_groups=[2,4]<=[4,2]T(1,0), to_apply=add"),
    "all-gather": ("f32[32]", "replica_groups={{0,2,4,6},{1,3,5,7}}, dimensions={0}"),
    "reduce-scatter": ("f32[2]", "replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=add"),
    "all-to-all": ("f32[8]", "replica_groups={{0,1},{2,3}}, dimensions={0}"),
    "collective-permute": ("f32[8]", "source_target_pairs={{0,1},{1,2},{2,0}}"),
    "collective-broadcast": ("f32[8]", "replica_groups={{1,0},{3,2}}"),
    "all-gather-start": ("(f32[8], f32[16])", "replica_groups={{0,1}}, dimensions={0}"),
    "all-reduce-start": ("f32[8]", "replica_groups={{0,1}}, to_apply=add"),
    "collective-permute-start": ("(f32[8], f32[8])", "source_target_pairs={{0,1},{1,0}}"),
}
_ADD = "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n"


def _collective(name, shape, attributes):
    opcode = name.split(" ")[0]
    done = opcode.replace("start", "done")
    result = shape.split(", ")[-1].rstrip(")")
    root = (
        f" s = {shape} {opcode}(x), {attributes}\n ROOT r = {result} {done}(s)\n"
        if opcode.endswith("start")
        else f" ROOT r = {shape} {opcode}(x), {attributes}\n"
    )
    return f"HloModule m\n{_ADD}\nENTRY e {{\n x = f32[8] parameter(0)\n{root}}}\n"


def _said(proto, opcode):
    """What XLA says of the instruction, lists of replicas written out."""
    (line,) = [x for x in xla_oracle.hlo_text(proto).splitlines() if f" {opcode}(" in x]
    return line.split(", metadata")[0]


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives_come_through(name):
    opcode = name.split(" ")[0]
    proto = xla_oracle.proto_of_text(_collective(name, *COLLECTIVES[name]))
    written = _hlo.round_trip(proto)
    assert _hlo.round_trip(written) == written
    want = _said(proto, opcode).replace("[2,4]<=[4,2]T(1,0)", "{{0,2,4,6},{1,3,5,7}}")
    assert _said(written, opcode) == want
    ours = _hlo.text(proto)
    assert _hlo.text(xla_oracle.proto_of_text(ours)) == ours


_THREE = "replica_groups={{0,1,2}}"


@pytest.mark.parametrize(
    ("name", "shape", "attributes", "words"),
    [
        ("all-gather", "f32[24]", "replica_groups={{0,1}}, dimensions={0}", "its rule gives"),
        ("reduce-scatter", "f32[4]", f"{_THREE}, dimensions={{0}}, to_apply=add", "part into 3"),
        ("collective-permute", "f32[8]", "source_target_pairs={{0,1},{2,1}}", "two pairs"),
        ("all-reduce", "f32[8]", "replica_groups={{0,1},{2}}, to_apply=add", "one size"),
    ],
)  # fmt: skip
def test_illegal_collectives_are_said(name, shape, attributes, words):
    proto = xla_oracle.proto_of_text(_collective(name, shape, attributes))
    with pytest.raises(ValueError, match=words):
        _hlo.verify(proto)
