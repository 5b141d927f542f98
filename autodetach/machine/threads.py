"""Threads and pools: what they run is run there and then, in the mode that a thread begins with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from autodetach.machine.core import Args, Core, Named
from autodetach.machine.graph import Site
from autodetach.machine.program_values import External, Function, Instance, Method, Native
from autodetach.machine.state import Raised
from autodetach.machine.swallowing import anything, are_asked_for, taking
from autodetach.machine.tasks import Task
from autodetach.machine.values import Mapping, Opaque, Sequence, Value

BOUND = ("start", "run", "join", "is_alive")
CALLING = frozenset("map submit imap apply starmap apply_async run_in_executor".split())
"""Methods of pools that call what they are given."""
KEEPING_ERRORS = frozenset({"submit", "apply_async"})
"""Those whose results keep what was raised for who asks."""
WAITING = frozenset({"join", "run_until_complete", "shutdown"})
POOLS = frozenset({"ThreadPoolExecutor", "ThreadPool"})
"""Pools whose workers are threads; what is not known may be of processes, whose results have no graph."""
GROUPS = frozenset({*POOLS, "TaskGroup"})
"""Contexts that are left only when all that they were given is over."""


@contextmanager
def _own_mode(m: Core) -> Iterator[None]:
    """Whether autograd records is a matter of each thread, which begins with gradients on, whatever its maker has.

    https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html: "This context manager is thread local".
    """
    before, m.grad_enabled = m.grad_enabled, True
    try:
        yield
    finally:
        m.grad_enabled = before


def fill_thread(m: Core, this: Instance, args: Args, kwargs: Named) -> None:
    """`Thread(group, target, name, args, kwargs)`, by place or by name."""
    given = dict(zip(("group", "target", "name", "args", "kwargs"), args, strict=False)) | kwargs
    this.attrs["#target"] = given.get("target")
    this.attrs["#args"] = given.get("args") or Sequence("tuple", [], m.clock)
    this.attrs["#kwargs"] = given.get("kwargs") or Mapping(m.clock)


def make(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """`threading.Thread(...)`."""
    made = Instance(External("threading.Thread"), m.serial(), m.clock)
    fill_thread(m, made, args, kwargs)
    return made


def thread_method(m: Core, this: Instance, name: str) -> Value:
    """What `start` starts is run there and then, with gradients on; what it raises, nobody sees."""

    def run(args: Args, kwargs: Named, site: Site) -> Value:
        target, held, named = (this.attrs.get(key) for key in ("#target", "#args", "#kwargs"))
        if name == "start":
            try:
                with _own_mode(m), m.tasks.beside(m.tick) as task:
                    this.attrs["#joined"] = _waiting(task)
                    m.call(m.attribute(this, "run", site), [], {}, site)
            except Raised:
                return None
        elif name == "join" and "#joined" in this.attrs:
            m.call(this.attrs["#joined"], [], {}, site)
        elif name == "run" and target is not None:
            options = {k: v for k, v in named.items.values() if isinstance(k, str)} if named is not None else {}
            m.call(target, m.collect(held, site)[0], options, site)
        return False if name == "is_alive" else None

    return Native(name, run, this)


def _waiting(task: Task, value: Value = None, error: Raised | None = None) -> Native:
    """What waits for a task, and gives its result, or raises what it has raised."""

    def wait(args: Args, kwargs: Named, site: Site) -> Value:
        task.is_awaited = True
        if error is not None:
            raise Raised(error.name, error.value)
        return value

    return Native("result", wait)


def event_loop(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """`asyncio.run(main())`: what ran in it is over behind this."""
    m.tasks.end_loop()
    return args[0] if args else m.call_unknown("run", args, kwargs, site)


def wait_for_all(m: Core, this: Opaque, name: str) -> None:
    """`pool.shutdown()`, `pool.join()`, `loop.run_until_complete(main())`: all that was begun there is over."""
    if name == "run_until_complete":
        m.tasks.end_loop()
    elif this.name in POOLS:
        m.tasks.end()


def local(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """`threading.local()`: an object that has what was set, and nothing else. All threads are taken for one."""
    return Instance(External("threading.local"), m.serial(), m.clock)


def futures(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """`as_completed(futures)`: in the order in which they were submitted."""
    value = args[0] if args else kwargs.get("fs")
    items, exact = m.collect(value, site)
    return Sequence("list", items, m.clock, exact)


def called_in_pool(m: Core, pool: Opaque, name: str, args: Args, site: Site) -> Value:
    """`pool.map(f, xs)`, `pool.submit(f, x)`: a function, or a bound `loss.backward`, is called out of view."""
    if pool.name not in POOLS:
        return _called(m, name, args, site)
    with _own_mode(m):
        return _called(m, name, args, site)


def _called(m: Core, name: str, args: Args, site: Site) -> Value:
    if not args or not isinstance(args[0], (Function, Method, Native)):
        return None
    if name in ("map", "imap", "starmap") and len(args) > 1:
        items, _ = m.collect(args[1], site)
        activation = m.activate(site.node, None, exact=True)
        outer = m.loops
        results = []
        try:
            for item in items[:4]:
                m.enter_pass(activation, outer)
                results.append(m.call(args[0], [item], {}, site))
        finally:
            m.loops = outer
        return Sequence("list", results, m.clock)
    result = m.opaque("future")
    error: Raised | None = None
    is_kept = name in KEEPING_ERRORS and are_asked_for(m)
    with m.tasks.beside(m.tick) as task, taking(m, anything if is_kept else None):
        try:
            value = m.call(args[0], list(args[1:]), {}, site)
        except Raised as raised:
            if not is_kept:
                raise
            value, error = None, raised
    result.attrs["result"] = result.attrs["get"] = _waiting(task, value, error)
    if error is not None:
        result.attrs["exception"] = _waiting(task, m.opaque("error") if error.value is None else error.value)
    result.attrs["wait"] = _waiting(task)
    return result
