"""What serving does with tensors: paged caches, sampling, batches, windows."""

import pytest
import torch
import torch.nn.functional as F
from user_cases.beside_cpu import agree, compiled

BLOCK, BLOCKS, HEADS, SIZE = 16, 8, 2, 8


def _paged(k, v, q, slots, table, lengths):
    """Writes through a slot mapping, reads through a block table."""
    keys = torch.zeros(BLOCKS * BLOCK, HEADS, SIZE, device=k.device)
    values = torch.zeros_like(keys)
    keys.index_put_((slots,), k)
    values.index_put_((slots,), v)
    blocks = lambda cache: cache.view(BLOCKS, BLOCK, HEADS, SIZE)[table].flatten(1, 2)  # noqa: E731
    keys, values = blocks(keys).transpose(1, 2), blocks(values).transpose(1, 2)
    seen = torch.arange(keys.size(2), device=k.device) < lengths[:, None]
    return F.scaled_dot_product_attention(q, keys, values, seen[:, None, None])


@pytest.mark.parametrize("compile_it", [False, True])
def test_paged_attention_equals_contiguous(compile_it, fresh_dynamo):
    """U123: paged caches and shared prefixes killed the compiler."""
    lengths = torch.tensor([20, 27, 20])
    table = torch.tensor([[5, 2], [5, 7], [5, 0]])  # the first block is shared
    k, v = torch.randn(48, HEADS, SIZE), torch.randn(48, HEADS, SIZE)
    offsets = torch.arange(48)
    slots = torch.cat([5 * BLOCK + offsets[:16], 2 * BLOCK + offsets[:4], 7 * BLOCK + offsets[:11]])
    q = torch.randn(3, HEADS, 1, SIZE)
    function = compiled(_paged) if compile_it else _paged
    used = slice(0, len(slots))
    agree(function, k[used], v[used], q, slots, table, lengths, rtol=1e-4, atol=1e-5)


CACHE_MOVES = {
    "copy blocks": lambda c, pairs: c.index_copy_(0, pairs[:, 1], c[pairs[:, 0]]),
    "swap out and in": lambda c, pairs: c.index_copy_(
        0, pairs[:, 1], c.index_select(0, pairs[:, 0]).cpu().to(c.device)
    ),
    "clear": lambda c, pairs: c.index_fill_(0, pairs[:, 0], 0.0),
}


@pytest.mark.parametrize("move", CACHE_MOVES)
def test_blocks_are_copied_and_swapped(move):
    """U123: copying and swapping blocks was not implemented."""
    pairs = torch.tensor([[5, 1], [2, 0]])
    agree(CACHE_MOVES[move], torch.randn(BLOCKS, BLOCK, HEADS, SIZE), pairs, exact=True)


def _filtered(logits, temperature, k, p, minimum):
    logits = logits / temperature
    kth = logits.topk(k).values[:, -1:]
    logits = logits.masked_fill(logits < kth, float("-inf"))
    ordered, where = logits.sort(descending=True)
    mass = ordered.softmax(-1).cumsum(-1)
    drop = mass - ordered.softmax(-1) >= p
    logits = logits.masked_fill(drop.scatter(1, where, drop), float("-inf"))
    probabilities = logits.softmax(-1)
    keep = probabilities >= minimum * probabilities.amax(-1, keepdim=True)
    return torch.where(keep, probabilities, 0.0)


def _penalised(logits, tokens, penalty, bias):
    chosen = logits.gather(1, tokens)
    chosen = torch.where(chosen < 0, chosen * penalty, chosen / penalty)
    return logits.scatter(1, tokens, chosen).index_add(
        1, torch.tensor([3], device=logits.device), bias
    )


@pytest.mark.parametrize("k", [1, 50, 97])
@pytest.mark.parametrize("p", [0.9, 1.0])
@pytest.mark.parametrize("compile_it", [False, True])
def test_sampling_filters(k, p, compile_it, fresh_dynamo):
    """U130: on the device only a few filters were possible."""
    logits = torch.randn(4, 97) * 3
    function = compiled(_filtered) if compile_it else _filtered
    agree(lambda x: function(x, 0.7, k, p, 0.02), logits)


def test_penalties_and_bias():
    """U130: repetition penalty and logit bias; a seed repeats the sample."""
    tokens = torch.tensor([[1, 5, 1], [0, 96, 3]])
    agree(lambda x, t, b: _penalised(x, t, 1.2, b), torch.randn(2, 97), tokens, torch.ones(2, 1))
    weights = torch.rand(2, 97, device="neuron")
    draws = []
    for _ in range(2):
        generator = torch.Generator(device="neuron").manual_seed(7)
        draws.append(torch.multinomial(weights, 5, generator=generator).tolist())
    assert draws[0] == draws[1]


def test_greedy_equals_the_largest():
    """U125: log-probabilities of tokens, the best ones in order."""

    def function(logits):
        values, tokens = logits.log_softmax(-1).topk(5)
        return values, tokens, logits.argmax(-1)

    _, tokens, best = agree(function, torch.randn(4, 97), rtol=1e-4, atol=1e-5)
    assert tokens[:, 0].tolist() == best.tolist()


class Layered(torch.nn.Module):
    """Two layers, one with full and one with sliding attention, and caches."""

    def __init__(self, window=8, length=40):
        super().__init__()
        self.embed = torch.nn.Embedding(50, 16)
        self.qkv = torch.nn.ModuleList([torch.nn.Linear(16, 48) for _ in range(2)])
        self.out = torch.nn.Linear(16, 50)
        self.window, self.length = window, length

    def empty(self, batch, device):
        return [torch.zeros(2, batch, self.length, 16, device=device) for _ in range(2)]

    def forward(self, token, position, caches):
        x = self.embed(token)
        places = torch.arange(self.length, device=x.device)
        for i, layer in enumerate(self.qkv):
            q, k, v = layer(x).chunk(3, -1)
            if i == 0:
                at, seen = position, places <= position
            else:
                at = position % self.window
                seen = (places < self.window) & (places <= position)
            caches[i][0].index_copy_(1, at, k)
            caches[i][1].index_copy_(1, at, v)
            x = x + F.scaled_dot_product_attention(q, caches[i][0], caches[i][1], seen[None, None])
        return self.out(x)


def _greedy(model, prompts, device, n=6, caches=None):
    tokens = torch.tensor(prompts, device=device)
    caches = model.empty(len(prompts), device) if caches is None else caches
    for cache in caches:
        cache.zero_()
    result = []
    for position in range(len(prompts[0]) + n):
        known = position < len(prompts[0])
        token = tokens[:, position : position + 1] if known else result[-1]
        logits = model(token, torch.tensor([position], device=device), caches)
        result.append(logits.argmax(-1))
    return torch.cat(result[-n:], 1).tolist()


@pytest.mark.parametrize("batch", [4, 8, 32])
def test_tokens_do_not_depend_on_the_batch(batch):
    """U133: a request answers the same whoever is beside it."""
    with torch.no_grad():
        model = Layered()
        prompts = torch.randint(50, (batch, 3)).tolist()
        want = [_greedy(model, [prompt], "cpu")[0] for prompt in prompts[:4]]
        model.to("neuron")
        assert [_greedy(model, [prompts[0]], "neuron")[0]] == want[:1]
        assert _greedy(model, prompts, "neuron")[:4] == want


@pytest.mark.parametrize("compile_it", [False, True])
def test_requests_leave_no_state_behind(compile_it, fresh_dynamo):
    """U151: after the first request a sliding window gave garbage."""
    with torch.no_grad():
        model = Layered()
        one, other = [[3, 7, 1] * 5], [[9, 9, 2] * 5]
        want = {id(p): _greedy(model, p, "cpu") for p in (one, other)}
        model.to("neuron")
        if compile_it:
            model.compile(backend="neuron")
        caches = model.empty(1, "neuron")
        order = [one, one, one, other, one, other, one]
        for i, prompts in enumerate(order):
            n = 2 if i == 4 else 6  # one is given up in the middle
            got = _greedy(model, prompts, "neuron", n, caches)
            assert got[0] == want[id(prompts)][0][:n] or n == 2
