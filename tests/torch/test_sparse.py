"""The device has no kernels for sparse tensors, and says so: no fallback, no internal message."""

import pytest
import torch
from torch.nn import functional

DENSE = torch.eye(3)
USES = {
    "to_sparse": lambda d: DENSE.to(d).to_sparse(),
    "to_sparse_csr": lambda d: DENSE.to(d).to_sparse_csr(),
    "coo": lambda d: torch.sparse_coo_tensor([[0], [1]], [1.0], (2, 2), device=d),
    "coo moved": lambda d: DENSE.to_sparse().to(d),
    "csr product": lambda d: DENSE.to_sparse_csr().to(d) @ DENSE.to(d),
}


@pytest.mark.parametrize("use", USES)
def test_refused_in_words(use):
    USES[use]("cpu")
    with pytest.raises(NotImplementedError, match=r"no kernels for sparse tensors.*\.cpu\(\)"):
        USES[use]("neuron")
    assert (torch.ones(2, device="neuron") + 1).tolist() == [2, 2]  # usable afterwards


EMBEDDINGS = {
    "embedding": lambda i, w: functional.embedding(i, w, sparse=True),
    "embedding_bag": lambda i, w: functional.embedding_bag(i[None], w, sparse=True, mode="sum"),
}


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_sparse_gradients_are_refused_with_what_to_do(name):
    weight = torch.randn(3, 2, device="neuron", requires_grad=True)
    out = EMBEDDINGS[name](torch.tensor([0], device="neuron"), weight)
    with pytest.raises(NotImplementedError, match="make the embedding with sparse=False"):
        out.sum().backward()
    assert EMBEDDINGS[name](torch.tensor([0], device="neuron"), weight.detach()).shape == (1, 2)
