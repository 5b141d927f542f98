"""What is differentiated keeps its history: the tensors are taken, and no copies of values; gradients are on again."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from autodetach.candidates.computed_with_gradients import FOR_ALL, computed_with_gradients
from autodetach.candidates.copied_apart import APART, is_changed_apart
from autodetach.candidates.evaluated_still import evaluations
from autodetach.candidates.gradient_with_history import gradient_with_history
from autodetach.candidates.gradients_on import with_gradients_on
from autodetach.candidates.left_off import without_gradients_inside
from autodetach.candidates.raises_anyway import raises_anyway
from autodetach.candidates.read_when_wanted import read_when_wanted
from autodetach.candidates.same_type import CASTS, may_change_type
from autodetach.candidates.summed_numbers import only_summed
from autodetach.candidates.weighed_by_itself import BY_ITSELF, weighs_itself
from autodetach.machine.events import HistoryLost
from autodetach.machine.graph import ARRAY, COPIED, DETACHED, GATHERED, GRADIENT, NUMBER, OFF, Lost
from autodetach.machine.spelling import called_name, is_dotted, last_word, spelled
from autodetach.node_types import FUNCTIONS
from autodetach.suspect import Candidate
from autodetach.view.filled import is_filled
from autodetach.view.gradient_modes import no_grad_above
from autodetach.view.imported import imported_as
from autodetach.view.kept import is_of
from autodetach.view.program import Program, text
from autodetach.view.respelled import respelled

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

CUT = "what was detached may be meant to be: more is trained then"
OF_ONE_ELEMENT = "a tensor of one element may have dimensions, which a number has not"
OF_ITS_TYPE = "the tensors may be of another type, or on another device, than the new one"
OF_NOTHING = "the list may be empty, of which `torch.tensor` makes a tensor, and `torch.stack` makes none"
WHOLE = frozenset({"mean", "sum"})
OF_INTEGERS = frozenset("BoolTensor ByteTensor CharTensor IntTensor LongTensor ShortTensor".split())
"""What makes tensors that nothing can be differentiated by."""
ON_THE_WAY_TO_NUMPY = frozenset({"cpu", "data", "detach", "numpy"})


def with_history(program: Program, fact: HistoryLost) -> Iterator[Candidate]:
    """Undo what has lost the history, by what it was: copies first, since nobody copies to train nothing."""
    if all(one.how == GRADIENT for one in fact.lost):
        yield from gradient_with_history(program, fact)
        return
    copies = {one.place: one.how for one in fact.lost if one.how in (COPIED, GATHERED)}
    arrays = {one.place for one in fact.lost if one.how == ARRAY}
    if arrays:
        yield from _not_by_numpy(program, copies, arrays)
        return
    if copies:
        if not _differ(program, fact):
            yield from _not_copied(program, copies, [one for one in fact.lost if one.how in (COPIED, GATHERED, NUMBER)])
        return
    if all(one.how == NUMBER for one in fact.lost):
        yield from _not_as_numbers(program, fact)
        return
    yield from _not_detached(program, [one for one in fact.lost if one.how == DETACHED])
    yield from _called_with_gradients(program, fact)
    yield from _without_decorator(program, fact)
    yield from computed_with_gradients(program, fact)
    yield from without_gradients_inside(program, fact)
    yield from with_gradients_on(program, fact)


def _differ(program: Program, fact: HistoryLost) -> bool:
    """Whether some of what is gathered has dimensions, and some has none, on one path or on another."""
    alike = [f for run in program.runs for f in run.machine.facts if isinstance(f, HistoryLost)]
    lost = (one for f in alike if f.site.node is fact.site.node for one in f.lost if one.how in (GATHERED, NUMBER))
    return len({len(one.sizes) for one in lost if one.sizes is not None}) > 1


def _not_copied(program: Program, copies: dict[ast.AST, str], lost: list[Lost]) -> Iterator[Candidate]:
    """The tensor instead of a copy of its value, and a list of tensors stacked; rows in a list are stacked, too.

    What was read as a number before it was copied stays a tensor. `torch.tensor` takes one of one element for a number,
    whatever its dimensions: those of one dimension are joined by `torch.cat`.
    """
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.rename_method import RenameMethod
    from autodetach.codemods.replace_expression import ReplaceExpression
    from autodetach.codemods.set_keyword import SetKeyword

    codemods: list[Codemod] = []
    words: list[tuple[str, str]] = []
    doubt: str | None = None
    cloned = False
    read = [one for one in lost if one.how == NUMBER]
    sizes = {one.sizes for one in lost if one.how != COPIED}
    joining = "cat" if sizes == {(1,)} and set(copies.values()) == {GATHERED} else "stack"
    is_straight = raises_anyway(program, copies)
    for call, how in copies.items():
        if not isinstance(call, ast.Call) or len(call.args) != 1 or not all(map(_goes_with_it, call.keywords)):
            return
        if last_word(call.func) in OF_INTEGERS or (not read and any(k.arg != "requires_grad" for k in call.keywords)):
            return
        whole = call.args[0]
        if not is_straight and _asks_for_device(program, call):
            doubt = OF_ITS_TYPE
        cast = ""
        if not is_straight and may_change_type(program, call, of_numbers=bool(read)):
            cast = CASTS.get(last_word(call.func), "") if how == GATHERED and not read else ""
            doubt = doubt if cast else OF_ITS_TYPE
        if how == COPIED:
            is_apart = is_changed_apart(program, call, whole)
            words += respelled(program, call, spelled(whole))
            if is_apart and is_dotted(whole):
                cloned = True
                codemods.append(ReplaceExpression(call, f"{spelled(whole)}.clone()"))
            else:
                doubt = APART if is_apart else doubt
                codemods.append(_only(program, call, whole))
            continue
        if not isinstance(call.func, ast.Attribute):
            return
        if not is_filled(program, whole) and not is_straight:
            doubt = OF_NOTHING
        module = _torch_by(program, call)
        if module is None:
            return
        is_renamed = spelled(call.func.value) == module
        joined = ast.parse(f"{module}.{joining}", mode="eval").body
        wanted: ast.expr = ast.Call(joined, call.args, [])
        if is_renamed:
            wanted = ast.Call(ast.Attribute(wanted, cast, ast.Load()), [], []) if cast else wanted
            codemods += (RenameMethod(call.func, joining), *([AppendMethod(call, cast)] if cast else []))
        else:  # a method of a tensor, or a class of `torch.cuda`: the new one is of that type, and on that device
            doubt = doubt or OF_ITS_TYPE
            codemods.append(ReplaceExpression(call.func, f"{module}.{joining}"))
        words += respelled(program, call, spelled(wanted))
        # What tensors are joined by takes neither type nor device.
        codemods += (SetKeyword(call, keyword.arg, None) for keyword in call.keywords if keyword.arg is not None)
        rows = [row for row in getattr(whole, "elts", ()) if isinstance(row, (ast.List, ast.Tuple))]
        if rows and joining == "cat":
            return
        codemods += (ReplaceExpression(row, f"{module}.stack({{}})") for row in rows)
    read_whole = _whole(program, read, copies)
    if read_whole is None:
        return
    codemods += read_whole
    is_stacked = GATHERED in copies.values()
    taken = "take a clone of the tensor itself" if cloned else "take the tensor itself"
    message = f"put the tensors together with their history: `torch.{joining}`" if is_stacked else taken
    if not doubt and weighs_itself(program, copies):
        doubt = BY_ITSELF
    is_same = joining == "cat" or all(shape == () for shape in sizes) or all(_is_reduced(program, at) for at in copies)
    doubt = doubt if is_same else OF_ONE_ELEMENT
    yield Candidate(message, tuple(codemods), doubt, adds=True, respelled=tuple(words))


def _torch_by(program: Program, call: ast.Call) -> str | None:
    """The name that `torch` itself has where something is called; None where it has none."""
    root = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if imported_as(program, ast.Call(root, [], [])) == "torch":
        return spelled(root)
    return "torch" if program.imports_torch(call) else None


def _asks_for_device(program: Program, call: ast.Call) -> bool:
    return imported_as(program, call).startswith("torch.cuda.") or any(k.arg == "device" for k in call.keywords)


def _not_as_numbers(program: Program, fact: HistoryLost) -> Iterator[Candidate]:
    """What is differentiated itself: `loss.item()` -> `loss`. The program could only raise there."""
    call = fact.site.node
    if not isinstance(call, ast.Call) or _differ(program, fact):
        return
    tensor = _read_from(fact.lost[0].place)
    if tensor is not None and len({one.place for one in fact.lost}) == 1:
        yield from read_when_wanted(program, fact, tensor)
    codemods = _whole(program, fact.lost, (call.func,))
    if codemods:
        yield Candidate("keep the history of what is differentiated", tuple(codemods), adds=True)


def _whole(program: Program, read: Collection[Lost], ends: Collection[ast.AST]) -> list[Codemod] | None:
    """The tensors instead of the numbers that were read from them, if these only go to some `ends`, or are shown."""
    codemods: list[Codemod] = []
    shown = not any(one.sizes for one in read)
    for number in dict.fromkeys(one.place for one in read):
        tensor = _read_from(number)
        if tensor is None or not isinstance(number, ast.Call) or not only_summed(program, number, ends, shown=shown):
            return None
        statement = program.parents.get(number)
        if isinstance(statement, ast.Assign) and spelled(statement.targets[0]) == spelled(tensor):
            return None  # `loss = loss`
        codemods.append(_only(program, number, tensor, ends))
    return codemods


def _is_reduced(program: Program, copy: ast.AST) -> bool:
    """Whether only the sum or the mean of all elements is taken: the dimensions do not matter to these."""
    around = program.parents[copy]
    call = program.parents.get(around)
    if isinstance(around, ast.Attribute) and isinstance(call, ast.Call) and call.func is around:
        return around.attr in WHOLE and not call.args and not call.keywords
    is_torch = isinstance(around, ast.Call) and is_of(program, around, ("torch",)) and last_word(around.func) in WHOLE
    return is_torch and isinstance(around, ast.Call) and around.args == [copy] and not around.keywords


def _only(program: Program, expression: ast.expr, part: ast.expr, gone: Collection[ast.AST] = ()) -> Codemod:
    """Only a part of an expression is left, in parentheses where operators or names may stand beside it.

    Of calls that are `gone`, only what they are given is left.
    """
    from autodetach.codemods.append_method import ATOMS
    from autodetach.codemods.keep_part import KeepPart

    at: ast.AST = expression
    around = program.parents.get(at)
    while around is not None and around in gone:
        at, around = around, program.parents.get(around)
    is_free = isinstance(around, (ast.stmt, ast.keyword, ast.Dict, ast.List, ast.ListComp))
    if isinstance(around, ast.Call):
        is_free = at is not around.func
    return KeepPart(expression, part, (), not is_free and not isinstance(part, ATOMS))


def _not_by_numpy(program: Program, copies: dict[ast.AST, str], arrays: set[ast.AST]) -> Iterator[Candidate]:
    """`torch.from_numpy(x.detach().numpy()[rows])` -> `x[rows]`; what else numpy computes is not translated."""
    codemods: list[Codemod] = []
    for call, how in copies.items():
        if how != COPIED or not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
            return
        gone = list(_without_history(call.args[0]))
        if not gone or gone[0][0] not in arrays:
            return
        arrays = arrays - {gone[0][0]}
        codemods += (_only(program, call, call.args[0]), *(_only(program, *part) for part in gone))
    if codemods and not arrays:
        yield Candidate("take the tensor itself", tuple(codemods), CUT, adds=True)


def _without_history(whole: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Of `x.detach().cpu().numpy()[rows]`, what takes the history, and then the values, each with what is before it."""
    while isinstance(whole, ast.Subscript):
        if any(isinstance(part, ast.Slice) and part.step is not None for part in ast.walk(whole.slice)):
            return  # tensors refuse steps that are negative
        whole = whole.value
    if called_name(whole) != "numpy":
        return
    while True:
        read = whole.func if isinstance(whole, ast.Call) and not whole.args and not whole.keywords else whole
        if not isinstance(read, ast.Attribute) or read.attr not in ON_THE_WAY_TO_NUMPY:
            return
        if read.attr != "cpu":
            yield whole, read.value
        whole = read.value


def _read_from(number: ast.AST) -> ast.expr | None:
    """The tensor of `loss.item()` and `float(loss)`."""
    if not isinstance(number, ast.Call) or number.keywords:
        return None
    if isinstance(number.func, ast.Attribute) and not number.args:
        return number.func.value
    return number.args[0] if len(number.args) == 1 and isinstance(number.func, ast.Name) else None


def _goes_with_it(keyword: ast.keyword) -> bool:
    """Whether a tensor already is what an argument asks of the copy of its value."""
    if keyword.arg == "requires_grad":
        return isinstance(keyword.value, ast.Constant) and keyword.value.value is True
    return keyword.arg == "device" or (keyword.arg == "dtype" and last_word(keyword.value) in ("float", "float32"))


def _not_detached(program: Program, lost: list[Lost]) -> Iterator[Candidate]:
    """Of several that are detached, nobody knows which of them should be, unless they are parameters in training."""
    wholes = {one.place: _detached_in(one.place) for one in lost}
    if len(wholes) == 1 or all(one.node.leaf for one in lost):
        codemods = tuple(_only(program, at, of) for at, of in wholes.items() if isinstance(at, ast.expr) and of)
        if codemods and len(codemods) == len(wholes):
            yield Candidate("keep the history of what is differentiated", codemods, CUT, adds=True)


def _detached_in(place: ast.AST) -> ast.expr | None:
    """The tensor of `x.detach()` and `x.data`."""
    read = place.func if isinstance(place, ast.Call) and not place.args else place
    return read.value if isinstance(read, ast.Attribute) and read.attr in ("detach", "data") else None


def _called_with_gradients(program: Program, fact: HistoryLost) -> Iterator[Candidate]:
    """An optimizer's `step` under `no_grad` calls the closure that it is given where gradients are on.

    So do those of PyTorch: https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.step.html
    """
    from autodetach.codemods.under_no_grad import UnderNoGrad

    for statement, _ in reversed(fact.trail):
        function = program.scope(statement)
        if isinstance(function, FUNCTIONS) and no_grad_above(function):
            called = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
            given = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
            if isinstance(called, ast.Call) and isinstance(called.func, ast.Name) and called.func.id in given:
                under = UnderNoGrad((statement,), "torch.enable_grad()")
                yield Candidate(f"call `{text(called.func)}` where gradients are on", (under,), adds=True)
            return


def _without_decorator(program: Program, fact: HistoryLost) -> Iterator[Candidate]:
    """A function is decorated to record no history, and what it is given has some, or an optimizer trains its weights.

    What it loses may be lost in what it calls. Of several such functions, nobody knows which of them should be.
    """
    from autodetach.codemods.drop_decorator import DropDecorator
    from autodetach.codemods.under_no_grad import UnderNoGrad

    steps = [step for run in program.runs for step in run.machine.steps if step.what != "grad"]
    trained = {leaf for step in steps for leaf in (*step.idle, *(leaf for leaf, _ in step.consumed))}
    places = [one.place for one in fact.lost if one.how == OFF and (not one.node.leaf or one.node in trained)]
    functions = {program.scope(place) for place in places}
    functions = {function for function in functions if no_grad_above(function)}
    if places and not functions:
        running = {program.scope(statement) for statement, _ in fact.trail}
        called = {f for run in program.runs for f in run.machine.called_on if no_grad_above(f)}
        functions = called - running
    function = functions.pop() if len(functions) == 1 else None
    mode = no_grad_above(function)
    if mode is None or not isinstance(function, FUNCTIONS):
        return
    if others := evaluations(program, function):
        message = f"let `{text(mode)}` go, and evaluate under `torch.no_grad()`"
        under = (UnderNoGrad((statement,)) for statement in others)
        yield Candidate(message, (DropDecorator(mode), *under), FOR_ALL, adds=True)
    yield Candidate(f"let `{text(mode)}` go", (DropDecorator(mode),), FOR_ALL, adds=True)
