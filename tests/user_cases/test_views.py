"""Views: they alias their base, keep their offset, and have the strides of CPU."""

import pytest
import torch
from user_cases.beside_cpu import agree, compiled, equal

PIECES = {
    "split": lambda a: a.split(2),
    "chunk": lambda a: a.chunk(3),
    "unbind": lambda a: a.reshape(3, 2).unbind(0),
    "tensor_split": lambda a: a.tensor_split(3),
    "narrow": lambda a: [a.narrow(0, 1, 3)],
    "diagonal": lambda a: [a.reshape(2, 3).diagonal()],
    "unfold": lambda a: [a.unfold(0, 2, 2)],
    "select": lambda a: [a[3]],
    "as_strided": lambda a: [a.as_strided((2, 2), (3, 1), 1)],
    "transpose": lambda a: [a.reshape(2, 3).t()],
}


@pytest.mark.parametrize("cut", PIECES)
def test_pieces_alias_their_base(cut):
    """U020: pieces of a split did not see writes to their base."""

    def function(a):
        pieces = PIECES[cut](a)
        a[0] = -1.0
        a[3] = -2.0
        seen = [piece.clone() for piece in pieces]
        for piece in pieces:
            piece.mul_(10)
        return [*seen, a]

    agree(function, torch.arange(6.0), exact=True)


OFFSETS = {
    "odd rows": lambda b: b[1::2],
    "rows and columns": lambda b: b[::2, 1::3],
    "transposed, then cut": lambda b: b.t()[3:],
    "flipped": lambda b: b.flip(0),
    "expanded": lambda b: b[2:3].expand(4, -1),
    "last column": lambda b: b[:, -1],
    "one element": lambda b: b[3, 5],
}


@pytest.mark.parametrize("view", OFFSETS)
@pytest.mark.parametrize("where", ["outside", "inside", "eager"])
def test_views_keep_their_offset(view, where, fresh_dynamo):
    """U140: a compiled function that was given a view read from the start of its base."""
    base = torch.arange(9.0)[:, None].repeat(1, 128) + torch.arange(128.0) / 1024
    if where == "inside":
        function = compiled(lambda b: OFFSETS[view](b) + OFFSETS[view](b))
    elif where == "outside":
        double = compiled(lambda x: x + x)
        function = lambda b: double(OFFSETS[view](b))  # noqa: E731
    else:
        function = lambda b: OFFSETS[view](b) + OFFSETS[view](b)  # noqa: E731
    agree(function, base, exact=True)


def test_views_made_on_cpu_keep_their_offset():
    """U140: moved as a view, then doubled."""
    base = torch.arange(9.0)[:, None].repeat(1, 128)
    double = compiled(lambda x: x + x)
    got = double(base[1::2].to("neuron"))
    equal(got, base[1::2] * 2, exact=True)
    assert got[:, 0].tolist() == [2, 6, 10, 14]


LAYOUTS = {
    "transpose": lambda x: x.transpose(1, 2).contiguous(),
    "view": lambda x: x.view(-1, x.size(-1)),
    "flatten": lambda x: x.flatten(1, 2),
    "reshape of what is no view": lambda x: x.transpose(1, 2).reshape(x.size(0), -1),
    "permute": lambda x: x.permute(3, 1, 0, 2).contiguous(),
    "channels last": lambda x: x.contiguous(memory_format=torch.channels_last),
    "from channels last": lambda x: x.contiguous(memory_format=torch.channels_last).contiguous(),
    "pointwise on channels last": lambda x: x.contiguous(memory_format=torch.channels_last) + 1,
    "expanded": lambda x: x[:, :1].expand(-1, 3, -1, -1).contiguous(),
    "clone": lambda x: x.transpose(-1, -2).clone(),
    "pointwise on permuted": lambda x: x.permute(0, 2, 1, 3) * 2,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(1, 32, 64, 128), (2, 3, 5, 7)])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.int64])
def test_contiguous_copies_and_their_strides(layout, shape, dtype):
    """U142: contiguous() of a transposed tensor had wrong values or strides."""
    x = torch.arange(torch.Size(shape).numel()).reshape(shape) % 2039
    agree(LAYOUTS[layout], x.to(dtype), exact=True, strides=True)


def test_views_of_model_shapes():
    """U142: five dimensions, and a shape of a language model."""
    agree(lambda x: x.view(152, 1280), torch.randn(4, 38, 1280), exact=True, strides=True)
    x = torch.randn(2, 3, 4, 5, 6)
    agree(lambda x: x.permute(4, 2, 0, 3, 1).contiguous(), x, exact=True, strides=True)
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        x.to("neuron").transpose(0, 1).view(-1)


BROADCASTS = {
    "column": lambda d: torch.full((1, 3, 1), 2.5, device=d) * torch.arange(7.0, device=d),
    "full": lambda d: torch.full((3, 1), 2.0, device=d) + torch.arange(600.0, device=d).view(3, -1),
    "expand": lambda d: (
        torch.full((3, 1), 2.0, device=d).expand(2, 3, 200) + torch.arange(200.0, device=d)
    ),
    "odd": lambda d: torch.full((67, 1), 3.0, device=d) - torch.arange(131.0, device=d),
    "scalar": lambda d: torch.full((), 3.0, device=d) * torch.ones(5, 131, device=d),
    "both": lambda d: torch.arange(131.0, device=d)[:, None] * torch.arange(67.0, device=d),
}


@pytest.mark.parametrize("case", BROADCASTS)
@pytest.mark.parametrize("compile_it", [False, True])
def test_full_and_broadcast(case, compile_it, fresh_dynamo):
    """U144: full() and a broadcast gave values that were shifted from row to row."""
    want = BROADCASTS[case]("cpu")
    function = BROADCASTS[case]
    if compile_it:
        function = torch.compile(function, backend="neuron")
    equal(function("neuron"), want, exact=True)


def _floor_divide(view):
    view //= 3


def _modulo(view):
    view %= 3


UPDATES = {
    "xor": lambda z: z.__ixor__(1),
    "or": lambda z: z.__ior__(2),
    "and": lambda z: z.__iand__(1),
    "shift": lambda z: z.__ilshift__(1),
    "add": lambda z: z.__iadd__(5),
    "multiply": lambda z: z.__imul__(3),
    "floor divide": _floor_divide,
    "modulo": _modulo,
}


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize(
    "dtype", [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool]
)
def test_update_of_a_column_leaves_the_others(update, dtype):
    """U147: an update of one column reached other elements."""
    if dtype == torch.bool and update not in ("xor", "or", "and"):
        pytest.skip("booleans have no arithmetic")
    number = dtype != torch.bool

    def function(z):
        if number:
            UPDATES[update](z[:, 0])
            UPDATES[update](z.t()[1, 1::2])
        else:
            z[:, 0] ^= True
            z[1::2, 1] |= True
        return z

    agree(function, torch.zeros(10, 2, dtype=dtype), exact=True)
    agree(function, (torch.arange(20).reshape(10, 2) % 5).to(dtype), exact=True)
