"""larger_than_memory.py WORK PATH ROWS: the same in PyTorch, with a DataLoader over numpy's memmap.

WORK: read and adam take batches whose rows a sampler numbers; read_rows and adam_rows put batches together row by
row, as a DataLoader does unless told otherwise.
"""
import os
import re
import sys
import time

import numpy
import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler

K, SIZE = 20, 1000
SECONDS = float(os.environ.get("SECONDS", 10))
work, path, n = sys.argv[1], sys.argv[2], int(sys.argv[3])


class Rows(Dataset):
    def __init__(self):
        self.data = numpy.memmap(path, dtype=numpy.float64, mode="r", shape=(n, K + 1))

    def __len__(self):
        return n

    def __getitem__(self, index):
        return torch.from_numpy(numpy.array(self.data[index]))


def peak():
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) / 1000


def loader():
    rows = Rows()
    if work.endswith("_rows"):
        return DataLoader(rows, batch_size=SIZE, shuffle=True)
    return DataLoader(rows, batch_size=None, sampler=BatchSampler(RandomSampler(rows), SIZE, drop_last=True))


torch.manual_seed(1)
torch.set_num_threads(1)
truth = torch.linspace(-1, 1, K, dtype=torch.float64)
beta = torch.zeros(K, dtype=torch.float64, requires_grad=True)
optimiser = torch.optim.Adam([beta], lr=0.01)


def adam(batch):
    optimiser.zero_grad()
    logits = batch[:, :K] @ beta
    loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, batch[:, K])
    loss = loss + (beta * beta).sum() / (18 * n)
    loss.backward()
    optimiser.step()


batches = loader()
begin, count = None, 0
while begin is None or time.perf_counter() - begin <= SECONDS:
    for batch in batches:
        if begin is None:
            begin = time.perf_counter()    # the first batch comes after the list of all rows
            continue
        if work.startswith("adam"):
            adam(batch)
        count += len(batch)
        if time.perf_counter() - begin > SECONDS:
            break
print(count, time.perf_counter() - begin, peak(), (beta - truth).abs().max().item(), sep="\t")
