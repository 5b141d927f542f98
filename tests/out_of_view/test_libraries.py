"""What modules and functions that are out of view may be, make and give."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.source import Source

FEATURES = """\
import torch
from torch import nn
from torchvision import models


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = models.vgg16().features
        for param in self.layers.parameters():
            param.requires_grad = False

    def forward(self, x):
        features, names = {}, {"3": "relu1", "8": "relu2"}
        for LAYERS:
            x = layer(x)
            if name in names:
                features[names[name]] = x
        return features


def train(loader):
    net, vgg = nn.Conv2d(3, 3, 3, padding=1), Features()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    total = 0
    for images, _ in loader:
        loss = nn.functional.mse_loss(vgg(net(images))["relu2"], vgg(images)["relu2"])
        total += loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(total / len(loader))
"""


@pytest.mark.parametrize(
    "layers",
    [
        "name, layer in self.layers._modules.items()",
        "name, layer in self.layers.named_children()",
        "name, layer in enumerate(self.layers)",
        "name, layer in enumerate(self.layers.children())",
    ],
)
def test_the_layers_of_a_module_that_is_not_in_view_are_modules(layers: str) -> None:
    text = FEATURES.replace("LAYERS", layers)
    (finding,) = check(Source.from_text(text, "program.py"), CheckOptions()).findings
    assert finding.code == "AD101"


@pytest.mark.parametrize(
    "line",
    [
        "ax = plt.figure().add_subplot(1, 1, 1)",
        "plt.subplot(1, 2, 1).set_title('loss')",
        "(points,) = plt.plot([1], [2])",
        "progress_bar(1, 10, 'x')",
        "y = 5 * other.log(x + 1)",
        "y = 1 - weights.log()",
        "y = weights.scatter(0, x, 1) + 1",
    ],
)
def test_what_is_plotted_and_logged_ends_no_program(line: str) -> None:
    """The results of reports are used, too, and not every `log` is a report."""
    text = (
        "import matplotlib.pyplot as plt\nimport torch\nimport other\nfrom other import progress_bar, weights\n\n"
        "net = torch.nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\ntotal = 0\n"
        f"for x in torch.randn(10, 3):\n    {line}\n    loss = net(x).sum()\n    opt.zero_grad()\n    loss.backward()\n"
        "    opt.step()\n    total += loss\nprint(total)\n"
    )
    (finding,) = check(Source.from_text(text, "program.py"), CheckOptions()).findings
    assert finding.code == "AD101"


def test_an_entry_beside_a_loss_may_be_a_number() -> None:
    text = (
        "import torch\n"
        "\n"
        "def evaluate(batches, model):\n"
        "    accuracies = []\n"
        "    model.eval()\n"
        "    for batch in batches:\n"
        "        output = model(**batch)\n"
        "        accuracies.append(output['accuracy'])\n"
        "    print(sum(accuracies) / len(accuracies))\n"
    )
    (finding,) = check(Source.from_text(text, "program.py"), CheckOptions()).findings
    assert finding.assumptions
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.UNSAFE


def test_a_constructor_that_refuses_what_a_filter_leaves_over_goes_on() -> None:
    text = (
        "import torch\n"
        "from torch import nn\n"
        "\n"
        "class Model(nn.Module):\n"
        "    def __init__(self, groups):\n"
        "        super().__init__()\n"
        "        self.accuracy = nn.Parameter(torch.rand(4))\n"
        "        common = [v for v in groups[0] if v in groups[1]]\n"
        "        if len(common) > 0:\n"
        "            raise RuntimeError('no class can appear in both')\n"
        "\n"
        "    def estimate(self, batches):\n"
        "        running = 0.0\n"
        "        for votes in batches:\n"
        "            loss = torch.sigmoid(votes * self.accuracy).mean()\n"
        "            loss.backward()\n"
        "            running += loss\n"
        "        print('%.6f' % (running / len(batches)))\n"
    )
    (finding,) = check(Source.from_text(text, "program.py"), CheckOptions()).findings
    assert finding.code == "AD101"


def test_what_a_function_of_a_package_inside_torch_makes_may_be_no_tensor() -> None:
    text = (
        "import torch\n"
        "from torch.nn.parallel import comm\n"
        "\n"
        "def copies_of(params, devices, places):\n"
        "    outputs = comm.broadcast_coalesced(params, devices)\n"
        "    for copies in outputs:\n"
        "        for i, _ in enumerate(places):\n"
        "            copies[i] = torch.view_as_complex(copies[i])\n"
        "    return outputs\n"
        "\n"
        "def replicate(network, devices, places):\n"
        "    copies = copies_of(list(network.parameters()), devices, places)\n"
        "    replica = network.copy_of_it()\n"
        "    for key, _ in network._parameters.items():\n"
        "        for j in range(len(devices)):\n"
        "            replica.former[key] = copies[j][0]\n"
        "    return replica\n"
    )
    assert check(Source.from_text(text, "program.py"), CheckOptions()).findings == ()


def test_a_module_is_called_where_its_inputs_are_split_over_devices() -> None:
    text = (
        "import torch\n"
        "from torch import nn\n"
        "\n"
        "net = nn.Linear(4, 1)\n"
        "optimizer = torch.optim.SGD(net.parameters(), 0.1)\n"
        "total = 0.0\n"
        "for _ in range(300):\n"
        "    optimizer.zero_grad()\n"
        "    loss = nn.parallel.data_parallel(net, torch.randn(8, 4), range(2)).square().mean()\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "    total += loss\n"
        "print(float(total))\n"
    )
    (finding,) = check(Source.from_text(text, "program.py"), CheckOptions()).findings
    assert (finding.code, finding.assumptions) == ("AD101", ())


KEEPS_OUTPUTS = """\
import torch
from library import build

model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
history = []
for x in torch.randn(1000, 8, 4):
    optimizer.zero_grad()
    out = model(x)
    {learns}
    optimizer.step()
    history.append(out)
print(len(history))
"""


@pytest.mark.parametrize(
    ("learns", "fix"),
    [
        ("out.loss.backward()", None),
        ("out['loss'].backward()", None),
        ("sum(out).backward()", Applicability.UNSAFE),
        ("(out - x).pow(2).mean().backward()", Applicability.SAFE),
        ("out.pow(2).mean().backward()", Applicability.SAFE),
        ("torch.nn.functional.mse_loss(out, x).backward()", Applicability.SAFE),
    ],
)
def test_what_a_module_out_of_view_gives_may_be_a_record(learns: str, fix: Applicability | None) -> None:
    source = Source.from_text(KEEPS_OUTPUTS.format(learns=learns), "program.py")
    (finding,) = check(source, CheckOptions()).findings
    assert finding.code == "AD102"
    assert (None if finding.fix is None else finding.fix.applicability) is fix


PARTS_OF_A_LOSS = """\
import torch.nn.functional as F


def train(model, optimizer, loader):
    total = 0.0
    for x, y, z in loader:
        optimizer.zero_grad()
        out = model(x)
        first, second = F.cross_entropy(out, y), F.mse_loss(out, z)
        loss = first + 0.5 * second
        loss.backward()
        optimizer.step()
        total += first
    return total.item() / len(loader)
"""


@pytest.mark.parametrize("part", ["first", "second"])
def test_parts_of_a_loss_have_history_if_all_come_from_one_value(part: str) -> None:
    text = PARTS_OF_A_LOSS.replace("total += first", f"total += {part}")
    result = check(Source.from_text(text, "program.py"), CheckOptions())
    assert [finding.code for finding in result.findings] == ["AD101"]


def test_parts_that_come_from_two_values_need_not_have_history() -> None:
    text = PARTS_OF_A_LOSS.replace("F.mse_loss(out, z)", "model.penalty(z)").replace("+= first", "+= second")
    assert check(Source.from_text(text, "program.py"), CheckOptions()).findings == ()


def test_who_computes_a_weight_out_of_view_trains_it_all_the_same() -> None:
    text = (
        "import torch\nfrom torch import nn\nfrom torch.nn.utils import parametrize\nfrom library import Positive\n\n"
        "network = nn.Linear(4, 1, bias=False)\nparametrize.register_parametrization(network, 'weight', Positive())\n"
        "optimizer = torch.optim.SGD(network.parameters(), lr=0.1)\npredicted = network(torch.ones(2, 4))\n"
        "for step in range(5):\n    loss = predicted.pow(2).mean()\n    optimizer.zero_grad()\n    loss.backward()\n"
        "    optimizer.step()\n"
    )
    (finding,) = check(Source.from_text(text, "train.py"), CheckOptions()).findings
    assert finding.code == "AD301"
    assert finding.fix is not None
    assert finding.fix.message == "compute `predicted` inside the loop"


PLAYED = """\
import torch
from game import play
from torch import nn

cell = nn.LSTMCell(4, 4)
optimizer = torch.optim.Adam(cell.parameters())
memory = []
for episode in range(100):
    state, rewards = (torch.zeros(1, 4), torch.zeros(1, 4)), []
    for step in range(5):
        state = cell(torch.randn(1, 4), state)
        rewards.append(play(state[0].argmax().item()))
    loss = state[0].mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    memory.append((state, rewards))
print(len(memory))
"""


def test_beside_a_state_what_others_give_is_stored_as_it_is() -> None:
    (finding,) = check(Source.from_text(PLAYED, "play.py"), CheckOptions()).findings
    assert finding.code == "AD102" and finding.fix is not None
    assert finding.fix.applicability is Applicability.SAFE
    assert [edit.replacement for edit in finding.fix.edits] == ["tuple(s.detach() for s in state)"]


TUNED = """\
def tune(args, batches, optimizer, start, end):
    model = Autoencoder(args.size)
    tuner = Tuner(model, list(model.decoder.parameters()))
    for batch in batches:
        optimizer.zero_grad()
        gradients = tuner.backward(GIVEN)
        optimizer.step()
"""


@pytest.mark.parametrize("given", ["[start.grad]", "(start.grad, end.grad)", "[start.grad], batch.is_last"])
def test_what_is_given_several_gradients_is_no_tensor(given: str) -> None:
    source = Source.from_text(TUNED.replace("GIVEN", given), "program.py")
    assert check(source, CheckOptions()).findings == ()
