"""torch.fft on the device: never the CPU, judged by the transform computed in float64."""

import pytest
import torch
from torch import fft

pytestmark = pytest.mark.usefixtures("strict")

WIDE = {torch.float32: torch.float64, torch.complex64: torch.complex128}
REAL, COMPLEX = torch.float32, torch.complex64
ONE_DIM = {
    "fft": (fft.fft, COMPLEX),
    "fft of real": (fft.fft, REAL),
    "ifft": (fft.ifft, COMPLEX),
    "ifft of real": (fft.ifft, REAL),
    "rfft": (fft.rfft, REAL),
    "irfft": (fft.irfft, COMPLEX),
    "hfft": (fft.hfft, COMPLEX),
    "ihfft": (fft.ihfft, REAL),
}
MANY_DIMS = {
    "fft2": (fft.fft2, COMPLEX),
    "ifft2": (fft.ifft2, COMPLEX),
    "fftn": (fft.fftn, COMPLEX),
    "fftn of real": (fft.fftn, REAL),
    "ifftn": (fft.ifftn, COMPLEX),
    "rfftn": (fft.rfftn, REAL),
    "irfftn": (fft.irfftn, COMPLEX),
    "hfftn": (fft.hfftn, COMPLEX),
    "ihfftn": (fft.ihfftn, REAL),
}
NORMS = ["backward", "ortho", "forward"]
# Powers of two, mixed radices, primes on both sides of the largest radix, a product of two.
LENGTHS = [1, 2, 3, 16, 30, 31, 37, 60, 101, 128, 331, 37 * 41]


def close(got, truth):
    """As near as values of this size can be after a few dozen roundings in fp32."""
    assert got.dtype == {v: k for k, v in WIDE.items()}[truth.dtype]
    assert got.shape == truth.shape
    scale = truth.abs().max().item() if truth.numel() else 0.0
    difference = (got.cpu().to(truth.dtype) - truth).abs()
    assert difference.numel() == 0 or difference.max().item() <= 1e-6 * max(scale, 1e-3)


def check(function, x):
    """Result and gradient, of a weighted sum: no place is like another."""
    wide = x.detach().to(WIDE[x.dtype]).requires_grad_()
    here = x.detach().to("neuron").requires_grad_()
    truth, got = function(wide), function(here)
    close(got.detach(), truth.detach())
    weights = torch.linspace(0.5, 1.5, truth.numel()).reshape(truth.shape)
    (want,) = torch.autograd.grad(truth, wide, weights.to(truth.dtype))
    (ours,) = torch.autograd.grad(got, here, weights.to(got.dtype).to("neuron"))
    close(ours, want)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("name", ONE_DIM)
def test_one_dimension(name, dim, norm):
    function, dtype = ONE_DIM[name]
    check(lambda x: function(x, dim=dim, norm=norm), torch.randn(6, 5, 9, dtype=dtype))


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("name", ONE_DIM)
def test_lengths(name, n):
    function, dtype = ONE_DIM[name]
    length = n if n > 1 or name not in ("hfft", "irfft") else 2
    check(lambda x: function(x, n=length), torch.randn(3, n // 2 + 1, dtype=dtype))
    check(lambda x: function(x, n=length), torch.randn(2, n + 3, dtype=dtype))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("dims", [(0, 1), (1, 0), (-1, -3), (2, 0, 1), (0, 1, 2, 3), (3, 1, 0, 2)])
@pytest.mark.parametrize("name", MANY_DIMS)
def test_many_dimensions(name, dims, norm):
    function, dtype = MANY_DIMS[name]
    if name.endswith("2"):
        dims = dims[:2]
    check(lambda x: function(x, dim=dims, norm=norm), torch.randn(4, 3, 5, 6, dtype=dtype))


LAYOUTS = {
    "transposed": lambda x: x.transpose(0, 2),
    "sliced": lambda x: x[:, 1:, ::2],
    "expanded": lambda x: x[:1].expand(3, -1, -1),
    "permuted": lambda x: x.permute(1, 2, 0),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ONE_DIM)
def test_layouts(name, layout):
    """Gradients of irfft and hfft once depended on strides that some hosts' libraries choose."""
    function, dtype = ONE_DIM[name]
    x = torch.randn(6, 5, 9, dtype=dtype)
    for dim in range(3):
        check(lambda x, d=dim: function(LAYOUTS[layout](x), dim=d), x)
        check(lambda x, d=dim: LAYOUTS[layout](function(x, dim=d)), x)


@pytest.mark.parametrize("name", ONE_DIM)
def test_double(name):
    function, dtype = ONE_DIM[name]
    x = torch.randn(3, 30, dtype=WIDE[dtype])
    got, want = function(x.to("neuron")).cpu(), function(x)
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)


def test_no_elements():
    for function, dtype in ONE_DIM.values():
        got = function(torch.empty(0, 8, dtype=dtype, device="neuron"))
        row = function(torch.ones(1, 8, dtype=dtype))  # CPU's library takes no empty batch
        assert (got.shape, got.dtype) == ((0, *row.shape[1:]), row.dtype)


@pytest.mark.parametrize("name", ONE_DIM)
def test_out(name):
    function, dtype = ONE_DIM[name]
    x = torch.randn(4, 6, dtype=dtype)
    want = function(x)
    for out in (torch.empty(0, dtype=want.dtype), torch.empty_like(want.t()).t()):
        given = out.to("neuron")
        assert function(x.to("neuron"), out=given) is given
        torch.testing.assert_close(given.cpu(), want)


def test_stft_and_back():
    x = torch.randn(2, 4000)
    window = torch.hann_window(400)

    def both(x, window):
        s = torch.stft(x, 400, 160, window=window, return_complex=True)
        return s, torch.istft(s, 400, 160, window=window)

    for got, want in zip(both(x.to("neuron"), window.to("neuron")), both(x, window), strict=True):
        torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-4)


def test_compiled():
    torch._dynamo.reset()
    x = torch.randn(4, 30)

    def convolve(x):
        return fft.irfft(fft.rfft(x) * fft.rfft(x.flip(1)), n=30) + x

    got = torch.compile(convolve, backend="neuron", fullgraph=True)(x.to("neuron"))
    torch.testing.assert_close(got.cpu(), convolve(x), rtol=1e-4, atol=1e-4)


WRONG = {
    "dimension": lambda x: fft.fft(x, dim=5),
    "length": lambda x: fft.fft(x, n=0),
    "norm": lambda x: fft.fft(x, norm="none"),
    "dimension twice": lambda x: fft.fftn(x, dim=(0, 0)),
    "complex for a real transform": lambda x: fft.rfft(x * 1j),
    "half": lambda x: fft.fft(x.half()),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_arguments(wrong):
    x = torch.randn(3, 4)
    with pytest.raises(Exception) as on_cpu:  # noqa: PT011 - whatever CPU raises
        WRONG[wrong](x)
    with pytest.raises(on_cpu.type):
        WRONG[wrong](x.to("neuron"))
