"""Tracebacks in the shapes that people paste, as texts: what is understood of them. No file is opened for that.

The shapes were read in issues on GitHub and threads of discuss.pytorch.org; the programs in them are made up.
"""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autodetach.tracebacks.autograd_errors import KINDS
from autodetach.tracebacks.explain import WINDOW, read_log
from autodetach.tracebacks.failure import Failure, Frame, is_library
from autodetach.tracebacks.log_lines import log_lines, without_prefix
from autodetach.tracebacks.text import read

TWICE = (
    "RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they "
    "have already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you "
    "need to access saved tensors after calling backward."
)
PLAIN = f"""\
Traceback (most recent call last):
  File "/home/ann/gan/train.py", line 40, in <module>
    main(args)
  File "/home/ann/gan/train.py", line 33, in main
    loss.backward()
    ^^^^^^^^^^^^^^^
  File "/home/ann/.venv/lib/python3.12/site-packages/torch/_tensor.py", line 522, in backward
    torch.autograd.backward(
  File "/home/ann/.venv/lib/python3.12/site-packages/torch/autograd/graph.py", line 769, in _engine_run_backward
    return Variable._execution_engine.run_backward(  # Calls into the C++ engine to run the backward pass
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
{TWICE}
"""
MAIN = ("/home/ann/gan/train.py", 40, "", "main(args)")
STEP = ("/home/ann/gan/train.py", 33, "main", "loss.backward()")


def failure_in(text: str) -> Failure:
    reading = read(text)
    assert reading is not None
    return reading.failure


def own(text: str) -> list[tuple[str, int, str, str]]:
    return [(frame.path, frame.line, frame.function, frame.source) for frame in failure_in(text).own_frames]


def test_plain() -> None:
    failure = failure_in(PLAIN)
    assert (failure.kind.name, failure.exception) == ("backward-twice", "RuntimeError")
    assert failure.message.startswith("Trying to backward through the graph a second time (or directly")
    assert len(failure.frames) == 4
    assert own(PLAIN) == [MAIN, STEP]


WORDINGS = {
    "backward-twice": (
        "RuntimeError: Trying to backward through the graph second time, but the buffers have already been freed. "
        "Please specify retain_variables=True when calling backward for the first time.",
        "RuntimeError: Trying to backward through the graph a second time, but the buffers have already been freed. "
        "Specify retain_graph=True when calling backward the first time.",
        "RuntimeError: Trying to backward through the graph a second time, but the saved intermediate results have "
        "already been freed. Specify retain_graph=True when calling .backward() or autograd.grad() the first time.",
        "RuntimeError: Trying to backward through the graph a second time (or directly access saved variables after "
        "they have already been freed). Saved intermediate values of the graph are freed when you call .backward().",
        TWICE,
    ),
    "changed-in-place": (
        "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation",
        "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.cuda.FloatTensor [10, 49]], which is output 0 of SubBackward0, is at version 1; expected version 0 "
        "instead. Hint: enable anomaly detection to find the operation that failed to compute its gradient.",
    ),
    "no-graph": (
        "RuntimeError: element 0 of variables does not require grad and does not have a grad_fn",
        "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
        "RuntimeError: there are no graph nodes that require computing gradients",
    ),
    "number-backward": (
        "AttributeError: 'float' object has no attribute 'backward'",
        "AttributeError: 'int' object has no attribute 'backward'",
    ),
    "numpy-of-graph": (
        "RuntimeError: Can't call numpy() on Variable that requires grad. Use var.detach().numpy() instead.",
        "RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
    ),
    "non-leaf-optimized": (
        "ValueError: can't optimize a non-leaf Variable",
        "ValueError: can't optimize a non-leaf Tensor",
    ),
    "leaf-in-place": (
        "RuntimeError: a leaf Variable that requires grad has been used in an in-place operation.",
        "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.",
        "RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation.",
        "RuntimeError: leaf variable has been moved into the graph interior",
    ),
    "view-detached": (
        "RuntimeError: Can't detach views in-place. Use detach() instead",
        "RuntimeError: Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel "
        "(DDP) for training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence",
    ),
    "deep-copied": (
        "RuntimeError: Only Variables created explicitly by the user (graph leaves) support the deepcopy protocol at "
        "the moment",
        "RuntimeError: Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
        "moment.  If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm "
        "usage, see https://github.com/pytorch/pytorch/pull/103001",
    ),
    "no-dimension": (
        "IndexError: invalid index of a 0-dim tensor. Use tensor.item() to convert a 0-dim tensor to a Python number",
        "IndexError: invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++",
    ),
    "out-of-memory": (
        "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity)",
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.22 GiB (GPU 0; 7.79 GiB total capacity)",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 146.00 MiB. GPU 0 has a total capacity of 8 GiB",
        "RuntimeError: cuda runtime error (2) : out of memory at /pytorch/aten/src/THC/generic/THCStorage.cu:58",
        "RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you",
        "RuntimeError: MPS backend out of memory (MPS allocated: 17.9 GB, other allocations: 280 MB)",
    ),
}


def test_every_kind_has_its_wordings() -> None:
    assert set(WORDINGS) == {kind.name for kind in KINDS} - {"no-gradient"}


@pytest.mark.parametrize(("kind", "words"), [(kind, words) for kind, many in WORDINGS.items() for words in many])
def test_every_wording(kind: str, words: str) -> None:
    failure = failure_in(PLAIN.replace(TWICE, words))
    assert failure.kind.name == kind
    assert f"{failure.exception}: {failure.message}" == words
    assert own(PLAIN.replace(TWICE, words)) == [MAIN, STEP]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("w.grad.zero_()", "AttributeError: 'NoneType' object has no attribute 'zero_'"),
        ("w = w - lr * w.grad", "TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'"),
    ],
)
def test_a_gradient_that_is_none_is_known_by_its_line(line: str, words: str) -> None:
    text = f'Traceback (most recent call last):\n  File "a.py", line 7, in <module>\n    {line}\n{words}\n'
    assert failure_in(text).kind.name == "no-gradient"
    assert read(text.replace(".grad", ".name")) is None


OLD_JUPYTER = """\
---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
<ipython-input-7-0a1b2c3d4e5f> in <module>()
      4     out, h = rnn(x, h)
      5     loss = crit(out, y)
----> 6     loss.backward()
      7     opt.step()

/usr/local/lib/python3.6/dist-packages/torch/tensor.py in backward(self, gradient, retain_graph, create_graph)
     91                 products. Defaults to ``False``.
     92         \"\"\"
---> 93         torch.autograd.backward(self, gradient, retain_graph, create_graph)
     94

RuntimeError: Trying to backward through the graph a second time, but the buffers have already been freed.
"""
OLD_JUPYTER_WITH_FILES = OLD_JUPYTER.replace(
    "/usr/local",
    """\
~/work/engine.py in fit(self, data)
     10     def fit(self, data):
---> 11         self.step(data)
     12

/usr/local""",
    1,
)
INPUT_IN = f"""\
RuntimeError                              Traceback (most recent call last)
Input In [3], in <cell line: 5>()
      4 for x in data:
----> 5     step(x)

Input In [2], in step(x)
      1 def step(x):
----> 2     loss(x).backward()

File ~/miniconda3/envs/a/lib/python3.9/site-packages/torch/_tensor.py:396, in Tensor.backward(self, gradient)
    394     inputs=inputs)
--> 396 torch.autograd.backward(self, gradient)

{TWICE}
"""
CELL_IN = f"""\
RuntimeError                              Traceback (most recent call last)
Cell In[5], line 164
    162 loss += fac * scale
--> 164 loss.backward()
    166 bar.update()

File ~/x/train.py:12, in f(a, b)
     11 def f(a, b):
---> 12     return (a * b).backward()

File ~/.../_tensor.py:648, in Tensor.backward(self, gradient, retain_graph, create_graph, inputs)
--> 648 torch.autograd.backward(

{TWICE}
"""


def test_jupyter_before_2022() -> None:
    assert own(OLD_JUPYTER) == [("In [7]", 6, "", "loss.backward()")]
    [frame] = failure_in(OLD_JUPYTER).own_frames
    assert (frame.is_cell, frame.cell) == (True, 7)
    assert frame.context[0] == (4, "out, h = rnn(x, h)")
    assert own(OLD_JUPYTER_WITH_FILES)[1:] == [("~/work/engine.py", 11, "fit", "self.step(data)")]


def test_input_in() -> None:
    assert own(INPUT_IN) == [("In [3]", 5, "", "step(x)"), ("In [2]", 2, "step", "loss(x).backward()")]


def test_cell_in() -> None:
    assert own(CELL_IN) == [
        ("In [5]", 164, "", "loss.backward()"),
        ("~/x/train.py", 12, "f", "return (a * b).backward()"),
    ]


@pytest.mark.parametrize(
    ("path", "cell"),
    [
        ("/tmp/ipykernel_812/3071.py", None),
        ("/tmp/ipython-input-4-1234567.py", 4),
        ("<ipython-input-4-0a1b2c>", 4),
        (r"C:\Users\ann\AppData\Local\Temp\ipykernel_8\99.py", None),
    ],
)
def test_files_that_are_cells(path: str, cell: int | None) -> None:
    [frame] = failure_in(f'  File "{path}", line 3, in <module>\n    x.backward()\n{TWICE}').own_frames
    assert (frame.is_cell, frame.cell, frame.line) == (True, cell, 3)


PYTEST_LONG = f"""\
=================================== FAILURES ===================================
________________________________ test_training _________________________________

    def test_training():
        model = Net()
>       train(model)

tests/test_train.py:12:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

model = Net()

    def train(model):
        for x in data:
>           model(x).backward()

train.py:5:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
    def backward(self):
>           return Variable._execution_engine.run_backward(
E           {TWICE}

/venv/lib/python3.11/site-packages/torch/autograd/graph.py:979: RuntimeError
=========================== short test summary info ============================
FAILED tests/test_train.py::test_training - {TWICE}
1 failed in 2.00s
"""
PYTEST_SHORT = f"""\
________________________________ test_training _________________________________
tests/test_train.py:12: in test_training
    train(model)
train.py:5: in train
    model(x).backward()
/venv/lib/python3.11/site-packages/torch/_tensor.py:623: in backward
    torch.autograd.backward(
E   {TWICE}
=========================== short test summary info ============================
FAILED tests/test_train.py::test_training - RuntimeError: Trying to backward through the g...
"""


def test_pytest_long() -> None:
    assert own(PYTEST_LONG) == [
        ("tests/test_train.py", 12, "", "train(model)"),
        ("train.py", 5, "", "model(x).backward()"),
    ]
    assert failure_in(PYTEST_LONG).frames[-1].is_library


def test_pytest_short() -> None:
    assert own(PYTEST_SHORT) == [
        ("tests/test_train.py", 12, "test_training", "train(model)"),
        ("train.py", 5, "train", "model(x).backward()"),
    ]


def test_pytest_line_and_a_line_that_raised_itself() -> None:
    words = "RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
    assert own(f"/w/test_a.py:9: {words}") == [("/w/test_a.py", 9, "", "")]
    long = f"____ test_a ____\n\n    def test_a():\n>       w.numpy()\nE       {words}\n\ntest_a.py:9: RuntimeError\n"
    assert own(long) == [("test_a.py", 9, "", "w.numpy()")]
    assert own(f"main.py:48: {words.replace('RuntimeError', 'UserWarning')}\n  x.numpy()") == [("main.py", 48, "", "")]


RICH = """\
╭──────────── Traceback (most recent call last) ────────────╮
│ /home/ann/gan/train.py:40 in <module>                     │
│                                                           │
│   39 if __name__ == "__main__":                           │
│ ❱ 40 │   main(args)                                       │
│   41                                                      │
│                                                           │
│ /home/ann/gan/train.py:33 in main                         │
│                                                           │
│   32 │   opt.zero_grad()                                  │
│ ❱ 33 │   loss.backward()                                  │
│ ╭──────── locals ────────╮                                │
│ │ x = tensor([1., 2.])   │                                │
│ ╰────────────────────────╯                                │
│                                                           │
│ /home/ann/.venv/lib/python3.12/site-packages/torch/_tenso │
│ r.py:522 in backward                                      │
│                                                           │
│ ❱ 522 │   │   torch.autograd.backward(                    │
╰───────────────────────────────────────────────────────────╯
RuntimeError: one of the variables needed for gradient
computation has been modified by an inplace operation:
[torch.FloatTensor [4, 6]], which is output 0 of TBackward.
"""


def test_rich() -> None:
    assert own(RICH) == [MAIN, STEP]
    failure = failure_in(RICH)
    assert failure.kind.name == "changed-in-place"
    assert failure.frames[-1].path.endswith("site-packages/torch/_tensor.py")
    windows = RICH.replace("│ ❱", "| >").replace("│", "|").translate({ord(c): "+" for c in "╭╮╰╯"} | {ord("─"): "-"})
    assert own(windows) == [MAIN, STEP]


def test_a_line_that_rich_has_cut() -> None:
    cut = Frame("a.py", 3, source="total = first(x) + secon", cut=True)
    assert cut.quotes("    total = first(x) + second(y)")
    assert not Frame("a.py", 3, source="total = first(x) + secon").quotes("total = first(x) + second(y)")


PREFIXES = {
    "time": "2024-05-01 12:00:00,{n:03d} ",
    "iso": "2024-05-01T12:00:{n:02d}.123Z ",
    "logging": "2024-05-01 12:00:00,{n:03d} - trainer - ERROR - ",
    "level": "ERROR:root:",
    "loguru": "2024-05-01 12:00:00.{n:03d} | ERROR    | __main__:run:{n} - ",
    "rank": "[rank0]: ",
    "default": "[default1]:",
    "mpi": "[1,0]<stderr>:",
    "docker": "worker-1  | ",
    "ray": "(RayTrainWorker pid=123, ip=10.0.0.2) ",
    "srun": "3: ",
    "glog": "E0501 12:00:00.{n:06d} 1234 torch/distributed/elastic/run.py:702] [0]: ",
    "journal": "May  1 12:00:{n:02d} gpu7 python[812]: ",
    "tab": "\t",
    "unheard of": "~~ pod/{n} ~~ ",
}


@pytest.mark.parametrize("name", PREFIXES)
def test_prefix_on_every_line(name: str) -> None:
    text = "".join(PREFIXES[name].format(n=n) + line for n, line in enumerate(PLAIN.splitlines(keepends=True), 10))
    assert own(text) == [MAIN, STEP]
    assert failure_in(text).exception == "RuntimeError"


@pytest.mark.parametrize("name", [name for name in PREFIXES if name != "unheard of"])
def test_prefix_before_what_pytest_and_jupyter_print(name: str) -> None:
    for text in (PYTEST_SHORT, CELL_IN, RICH):
        lines = text.splitlines(keepends=True)
        assert own("".join(PREFIXES[name].format(n=n) + line for n, line in enumerate(lines, 10))) == own(text)


@pytest.mark.parametrize(
    "line", ["    x = a | b", "loss.backward()", "Cell In[3], line 5", "train.py:12: in f", "x[0]: int"]
)
def test_what_is_no_prefix_stays(line: str) -> None:
    assert without_prefix(line) == line


@pytest.mark.parametrize(
    "speakers",
    [
        ("[rank0]:", "[rank1]:"),
        ("(Worker pid=1)", "(Worker pid=2)"),
        ("a-1  |", "a-2  |"),
        ("[1,0]<stderr>:", "[1,1]<stderr>:"),
    ],
)
def test_processes_that_break_into_each_other(speakers: tuple[str, ...]) -> None:
    text = "".join(f"{speaker} {line}\n" for line in PLAIN.splitlines() for speaker in speakers)
    assert own(text) == [MAIN, STEP]


def test_an_exception_group() -> None:
    group = "  + Exception Group Traceback (most recent call last):\n  | ExceptionGroup: two (1 sub-exception)\n"
    inner = "".join(f"    | {line}\n" for line in PLAIN.splitlines())
    assert own(
        f"{group}  +-+---------------- 1 ----------------\n{inner}    +------------------------------------\n"
    ) == [
        MAIN,
        STEP,
    ]


def test_colours_and_line_ends() -> None:
    coloured = PLAIN.replace("File", "\x1b[35mFile\x1b[0m").replace("line 33", "line \x1b[1;35m33\x1b[0m")
    assert own(coloured) == [MAIN, STEP]
    assert own(PLAIN.replace("\n", "\r\n")) == [MAIN, STEP]
    assert own(PLAIN.replace("\n", "\r\r\n")) == [MAIN, STEP]
    assert own("\x1b]0;title\x07" + PLAIN) == [MAIN, STEP]


def test_json_line_and_powershell() -> None:
    import json

    logged = json.dumps({"level": "error", "exc": PLAIN})
    assert own(f'{{"level": "info"}}\n{logged}\n') == [MAIN, STEP]
    reading = read_log(PLAIN.encode("utf-16"))
    assert reading is not None
    assert len(reading.failure.own_frames) == 2


OTHER = """\
Traceback (most recent call last):
  File "/home/ann/gan/cli.py", line 9, in run
    main()
ValueError: no model
"""


@pytest.mark.parametrize(
    "between",
    [
        "\nDuring handling of the above exception, another exception occurred:\n\n",
        "\nThe above exception was the direct cause of the following exception:\n\n",
        "\nsome output\n",
    ],
)
def test_of_several_tracebacks_the_autograd_one(between: str) -> None:
    for text in (PLAIN + between + OTHER, OTHER + between + PLAIN):
        assert own(text) == [MAIN, STEP]
        reading = read(text)
        assert reading is not None
        assert reading.others == 0


def test_of_several_autograd_errors_the_last() -> None:
    first = PLAIN.replace("line 33", "line 21")
    reading = read(first + "epoch 2\n" + PLAIN + "FAILED - " + TWICE)
    assert reading is not None
    assert [frame.line for frame in reading.failure.own_frames] == [40, 33]
    assert reading.others == 1


def test_the_error_of_a_replica() -> None:
    text = PLAIN.replace("Traceback", "RuntimeError: Caught RuntimeError in replica 0 on device 0.\nOriginal Traceback")
    assert own(OTHER + text) == [MAIN, STEP]


def test_forward_pass_of_anomaly_detection() -> None:
    warning = (
        "/venv/lib/python3.12/site-packages/torch/autograd/graph.py:979: UserWarning: Error detected in MulBackward0. "
        "Traceback of forward call that caused the error:\n"
        '  File "/home/ann/gan/train.py", line 20, in <module>\n    y = x * w\n'
    )
    failure = failure_in(warning + PLAIN)
    assert [(frame.line, frame.source) for frame in failure.forward] == [(20, "y = x * w")]
    assert own(warning + PLAIN) == [MAIN, STEP]


def test_windows() -> None:
    text = PLAIN.replace("/home/ann/gan/train.py", r"C:\Users\Ann B\gan\train.py")
    text = text.replace("/home/ann/.venv/lib/python3.12/", r"C:\Python312\Lib" + "\\").replace("torch/", "torch\\")
    assert [frame.path for frame in failure_in(text).own_frames] == [r"C:\Users\Ann B\gan\train.py"] * 2
    assert own(r"C:\w\test_a.py:9: RuntimeError: CUDA out of memory")[0][:2] == (r"C:\w\test_a.py", 9)


def test_truncated() -> None:
    lines = PLAIN.splitlines()
    assert own("\n".join(lines[3:])) == [STEP]
    assert own("\n".join([*lines[:5], "  ...", TWICE])) == [MAIN, STEP]
    assert own("\n".join(line for line in lines if not line.startswith("    "))) == [
        (*MAIN[:3], ""),
        (*STEP[:3], ""),
    ]
    assert own(TWICE) == []
    assert read("\n".join(lines[:-1])) is None


def test_blanks_that_a_forum_has_eaten() -> None:
    assert own("\n".join(line.strip() for line in PLAIN.splitlines())) == [MAIN, STEP]


def test_notes_and_repeated_lines() -> None:
    text = PLAIN.replace("    loss.backward()", "    loss.backward()\n  [Previous line repeated 3 more times]")
    assert own(text + "note of the author\nsecond note\n") == [MAIN, STEP]


def test_words_about_an_error_are_none() -> None:
    text = PLAIN.replace(TWICE, "KeyError: 'x'").replace("loss.backward()", f"loss.backward()  # {TWICE}")
    assert read(text) is None or not failure_in(text).exception
    assert read("all is well\n") is None
    assert read("") is None


@pytest.mark.parametrize(
    "path",
    [
        "/usr/lib/python3/dist-packages/torch/tensor.py",
        "/usr/lib/python3.11/threading.py",
        r"C:\Python39\lib\site-packages\torch\_tensor.py",
        r"C:\Users\a\Anaconda3\lib\runpy.py",
        "<frozen runpy>",
        "~/.../torch/autograd/__init__.py",
        "/opt/pytorch/torch/nn/modules/module.py",
    ],
)
def test_library(path: str) -> None:
    assert is_library(path)


@pytest.mark.parametrize("path", ["train.py", "/home/ann/torch_models/a.py", "/lib/data/train.py", "torchlib/nn/a.py"])
def test_own_file(path: str) -> None:
    assert not is_library(path)


HOSTILE = (
    "[" * 200_000,
    "2024-05-01 " * 20_000,
    'File "' * 50_000,
    "a.py:1: " * 50_000,
    "(" + "a" * 500_000,
    "\x1b[" * 100_000,
    "│" * 200_000,
    "_" * 200_000,
    "| " + "x " * 100_000 + "|",
    "E   " + "Error: " * 50_000 + TWICE,
    "-" * 100_000 + "> 3 x",
    "A" * 300_000 + "Error",
    'Traceback \\n File \\"' * 30_000,
    " " * 300_000 + TWICE,
    "\r" * 300_000,
    "ERROR:" * 50_000,
    ".py:" * 60_000 + "1: in f",
    "w-" * 100_000 + " |",
    "\n".join(["A" * 19_000 + " Trying to backward through the graph"] * 60),
)


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_long_lines_take_no_longer_than_their_length(number: int) -> None:
    start = time.process_time()
    read(f"{HOSTILE[number]}\n" * 3 + PLAIN)
    assert time.process_time() - start < 3


def test_a_long_log_is_read_around_its_last_error() -> None:
    noise = b"step 12 loss 0.31 lr 0.001 \xff\xfe\x00 not text\n" * 220_000
    assert len(noise) > WINDOW
    start = time.process_time()
    reading = read_log(noise + PLAIN.encode() + noise)
    assert time.process_time() - start < 20
    assert reading is not None
    assert [frame.line for frame in reading.failure.own_frames] == [40, 33]


TEXTS = (PLAIN, OLD_JUPYTER, INPUT_IN, CELL_IN, PYTEST_LONG, PYTEST_SHORT, RICH)
ODD = ("│", "❱ 3", "E ", "> x", "", "\x1b[")
PIECES = st.sampled_from([*ODD, *(line for text in TEXTS for line in text.splitlines())])


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES | st.text(max_size=60), max_size=40), st.sampled_from(["\n", "\r\n", "\r", "\n[rank0]: "]))
@example(["│ a.py:99999999999999999999 in f │", TWICE], "\n")
def test_no_text_makes_it_fail(lines: list[str], newline: str) -> None:
    reading = read(newline.join(lines))
    if reading is not None:
        for frame in reading.failure.frames:
            assert frame.line >= 1 or frame.line == 0
            assert "\n" not in frame.path + frame.source


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=400))
def test_no_bytes_make_it_fail(raw: bytes) -> None:
    read_log(raw)
    read_log(raw + TWICE.encode())


def test_lines_are_kept_apart() -> None:
    assert log_lines("a\r\nb\rc\n") == ["a", "b", "c", ""]
