"""Data that ships with Python packages: nothing is downloaded."""

import pydoc_data.topics

import torch
from sklearn.datasets import load_digits
from torch.utils.data import Dataset, TensorDataset


def digits() -> tuple[TensorDataset, TensorDataset]:
    """scikit-learn's 1,797 digits, 8x8, split 80:20. Images are scaled to [0, 1]."""
    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(data.target, dtype=torch.int64)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(0))
    test, train = order[: len(images) // 5], order[len(images) // 5 :]
    return TensorDataset(images[train], labels[train]), TensorDataset(images[test], labels[test])


class Text(Dataset):
    """Python's own language reference as characters; an item is (tokens [T], next tokens [T])."""

    def __init__(self, length: int):
        text = "\n".join(pydoc_data.topics.topics.values())
        self.alphabet = sorted(set(text))
        codes = {character: code for code, character in enumerate(self.alphabet)}
        self.tokens = torch.tensor([codes[character] for character in text], dtype=torch.int64)
        self.length = length

    def __len__(self):
        return len(self.tokens) - self.length - 1

    def __getitem__(self, start):
        window = self.tokens[start : start + self.length + 1]
        return window[:-1], window[1:]
