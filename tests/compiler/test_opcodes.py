"""Every opcode of XLA: it runs and gives what XLA gives, or ends in the words that are meant."""

import numpy as np
import pytest
import xla_oracle
from compiler.harness import Program, assert_close
from compiler.opcode_rows import ARGUMENTS, MESSAGES, RANDOM, RUNS, XLA_OPCODES


def test_every_opcode_has_a_row():
    assert set(RUNS) | set(MESSAGES) | {"rng-bit-generator"} == XLA_OPCODES
    assert not set(RUNS) & set(MESSAGES)


@pytest.mark.parametrize("opcode", RUNS)
def test_runs_as_xla_does(opcode):
    proto = xla_oracle.proto_of_text(RUNS[opcode])
    got = Program(proto)(*ARGUMENTS)
    want = ORACLES.get(opcode, lambda: xla_oracle.run(proto, ARGUMENTS))()
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert_close(g, np.asarray(w), 2e-5)


# XLA CPU has no such thunk: one replica keeps what it has.
ORACLES = {"collective-broadcast": lambda: ARGUMENTS[:1]}


@pytest.mark.parametrize("opcode", MESSAGES)
def test_refuses_in_words_that_help(opcode):
    text, words = MESSAGES[opcode]
    proto = xla_oracle.proto_of_text(text)
    with pytest.raises(NotImplementedError, match=words):
        Program(proto)


def test_random_bits_run():
    _, bits = Program(xla_oracle.proto_of_text(RANDOM))(np.array([1, 2], np.uint64))
    assert len(np.unique(bits)) == bits.size
