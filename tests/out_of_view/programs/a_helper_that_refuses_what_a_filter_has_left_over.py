"""Nobody knows whether anything is left over: what is behind the helper may run, and be returned."""

import torch


def load(module, state):
    known = [name for name, _ in module.named_parameters()]
    excess = [key for key in state.keys() if key not in known]
    if len(excess) > 0:
        raise ValueError("not in the module: %r" % excess)


def run_task(batches, model):
    loss, outputs = 0, []
    original = model.state_dict(keep_vars=True)
    for batch in batches:
        output = model(batch)
        outputs.append(output)
        loss = loss + output.pow(2).mean()
    load(model, original)
    return loss, outputs
