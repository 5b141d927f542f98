"""What observation costs: the same training plain, under `run`, and under `run --trace`, in turn.

    python -m tests.doctor.overhead [--rounds 3] [--steps 1500] [--only mlp]

Each program trains a small model on the CPU with one thread, and prints the seconds of its loop behind the first tenth
(warm-up: imports, allocator, the passes that are looked at one by one) and of the whole loop. Around it the whole
process is timed. The table has medians of the processor time of the rounds, and the ratios to the plain program of
medians; wall time on a busy machine says less.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from .program_runs import run

COMMON = """
import sys, time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
steps = int(sys.argv[1])
def train(model, batch):
    optimizer = torch.optim.Adam(model.parameters())
    begun = time.process_time()
    warm = begun
    for step in range(steps):
        if step == steps // 10:
            warm = time.process_time()
        loss = model(*batch()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    end = time.process_time()
    print(end - warm, end - begun)
"""
MODELS = {
    "mlp": """
train(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)),
      lambda: (torch.randn(64, 64),))
""",
    "gru": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru, self.out = nn.GRU(16, 32, batch_first=True), nn.Linear(32, 1)
    def forward(self, x):
        return self.out(self.gru(x)[0])
train(Net(), lambda: (torch.randn(16, 20, 16),))
""",
    "transformer": """
layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
train(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), lambda: (torch.randn(8, 16, 32),))
""",
}
MODES: dict[str, list[str]] = {
    "plain": [],
    "run": ["-m", "autodetach", "run", "-q"],
    "run --trace": ["-m", "autodetach", "run", "-q", "--trace"],
}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    print(f"{'model':12} {'mode':12} {'loop, warm':>18} {'whole loop':>18} {'process, wall':>18}")
    for name, source in MODELS.items():
        if arguments.only not in name:
            continue
        times: dict[str, list[tuple[float, ...]]] = {mode: [] for mode in MODES}
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "train.py").write_text(COMMON + source)
            for _ in range(arguments.rounds):
                for mode, prefix in MODES.items():
                    begun = time.perf_counter()
                    ended = run([sys.executable, *prefix, "train.py", str(arguments.steps)], Path(folder))
                    assert ended.code == 0, ended.err
                    times[mode].append((*map(float, ended.out.split()), time.perf_counter() - begun))
        plain = [statistics.median(column) for column in zip(*times["plain"], strict=True)]
        for mode in MODES:
            medians = [statistics.median(column) for column in zip(*times[mode], strict=True)]
            cells = (f"{each:8.2f} s {each / base:7.2f}x" for each, base in zip(medians, plain, strict=True))
            print(f"{name:12} {mode:12} {' '.join(f'{cell:>18}' for cell in cells)}", flush=True)


if __name__ == "__main__":
    main()
