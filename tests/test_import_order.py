"""Every module knows only those above it: the order of the design, read from the imports."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "autodetach"

# From top to bottom. A module may import those of the rows above, not those of its own row and not those below.
# `*` stands for the modules of a folder that have no row of their own: a new rule, codemod or format needs none.
ORDER = (
    "autodetach",
    # Folders that hold modules and nothing else.
    "notebooks comments incremental projects proving disk settings adoption tracebacks commands",
    "named_tuples",
    "container_methods decoding disk.reasons kept no_tensors node_types old_names once room safe_path syntax",
    "places",
    "source",
    "notebooks.commands",
    "notebooks.magics",
    "notebooks.broken",
    "notebooks.cells",
    "notebooks.code_cells",
    "notebooks.rewriting",
    "notebooks.notebook",
    "finding",
    "comments.marks",
    "comments.suppress fingerprint incremental.reparse",
    "incremental.follow",
    "incremental.renamed",
    # The abstract machine: what it computes with, what it knows of PyTorch, what it runs.
    "machine",
    "machine.children machine.marks machine.attribute_names",
    "machine.spelling machine.generators",
    "machine.words machine.quiet machine.in_view",
    "machine.alternation machine.remainders machine.replacing",
    "machine.activations machine.delays",
    "machine.torch_facts machine.torch_names machine.result_names machine.graph machine.oracle machine.project",
    "machine.extents machine.loss_options machine.rests_on",
    "machine.evidence machine.passes machine.unfreed",
    "machine.torch_operations machine.torch_modules",
    "machine.mentions",
    "machine.mentioned",
    "machine.reach machine.word_places machine.written_later machine.walking",
    "machine.beginnings machine.parts",
    "machine.torch_semantics",
    "machine.likeness",
    "machine.values",
    "machine.program_values machine.spans",
    "machine.told_of_values",
    "machine.alike_calls machine.passed_counts machine.unlike",
    "machine.closures",
    "machine.held",
    "machine.folding machine.sure_views",
    "machine.classes machine.class_families machine.attribute_view machine.nested",
    "machine.events machine.operands machine.arguments machine.exceptions machine.trainers",
    "machine.restraints",
    "machine.shapes machine.detached_sums machine.library_constants machine.star_names machine.untaken",
    "machine.tasks machine.cut_short machine.called_back machine.yielded_behind",
    "machine.state",
    "machine.added_values",
    "machine.constructor_arguments machine.tape machine.converters",
    "machine.core",
    "machine.others machine.swallowing",
    "machine.settings machine.loss_weights machine.by_place machine.non_leaves",
    "machine.old_types machine.threads machine.enumerations machine.graph_reads machine.number_readers",
    "machine.kept_numbers machine.numpy_draws machine.rhythms machine.steering_branches",
    "machine.names_that_train",
    "machine.steering",
    "machine.remainder_tests machine.windows",
    "machine.picks machine.sizes machine.data_sets machine.sampled machine.number_places",
    "machine.told_by_parts machine.log_records machine.shown_history machine.walked_instead",
    "machine.differentiation machine.in_place machine.counters machine.implicit_calls",
    "machine.descriptors machine.metaclasses",
    "machine.tallies machine.filled_later machine.inherited machine.finalizers machine.differentiated_numbers",
    "machine.chosen_by_default",
    "machine.read_by_text machine.unknown_keys machine.cut_parts machine.dtypes",
    "machine.derived machine.opened machine.keywords machine.texts machine.module_tree machine.counted_keys",
    "machine.added_attributes machine.chosen_entries machine.handed_networks machine.open_listings machine.lent",
    "machine.renewed_elsewhere",
    "machine.watched_elsewhere",
    "machine.other_types machine.set_past_class",
    "machine.slices",
    "machine.bounded",
    "machine.elements machine.iteration machine.module_dicts machine.part_names machine.still_there",
    "machine.joining machine.object_arrays machine.sliced_arrays",
    "machine.list_methods machine.dict_methods machine.ordering",
    "machine.operations machine.autograd_calls",
    "machine.tensors machine.containers machine.options",
    "machine.records machine.unknown_modules",
    "machine.foreach machine.convolutions machine.second_derivatives machine.parametrizations",
    "machine.backward_hooks machine.kept_weights",
    "machine.weight_tools",
    "machine.forward_hooks machine.step_hooks machine.called_unseen",
    "machine.module_building",
    "machine.reductions_set",
    "machine.module_calls",
    "machine.module_methods",
    "machine.taken_early",
    "machine.container_builtins machine.object_builtins machine.one_of_many",
    "machine.ranges",
    "machine.python_builtins",
    "machine.reachable",
    "machine.copies machine.weak_references machine.progress_bars",
    "machine.record_tools",
    "machine.lazy_iterators machine.operator_functions machine.memos",
    "machine.standard_library machine.functional machine.pytree",
    "machine.parameter_groups",
    "machine.optimizers",
    "machine.cut_by_others machine.engines",
    "machine.unknown",
    "machine.observations",
    "machine.frameworks machine.transforms machine.distributions machine.saved_by_functions",
    "machine.library_objects",
    "machine.grad_modes machine.tensor_factories",
    "machine.other_libraries",
    "machine.functional_calls",
    "machine.torch_library machine.own_functions",
    "machine.parameter_classes machine.bare_objects machine.resets",
    "machine.attributes",
    "machine.objects",
    "machine.operators",
    "machine.counted_loops machine.searches machine.stop_flags",
    "machine.last_pass",
    "machine.passes_by_length",
    "machine.decisions",
    "machine.displays",
    "machine.accesses",
    "machine.expressions",
    "machine.comprehensions",
    "machine.imports",
    "machine.patterns machine.contexts",
    "machine.assignments",
    "machine.definitions",
    "machine.loops",
    "machine.statements",
    "machine.generating",
    "machine.interpreter machine.heap",
    "machine.bystanders",
    "machine.set_up machine.given_by_callers",
    "machine.made_by_callers",
    "machine.set_by_others",
    "machine.entering",
    "machine.entries machine.apart",
    "machine.surroundings",
    "machine.mixing machine.passed_by machine.waiting",
    "machine.run",
    "machine.running",
    "incremental.touched",
    "machine.paths",
    "machine.exploring",
    "machine.unseen machine.tails machine.scans machine.evaluations",
    "machine.growth",
    "machine.local_records machine.walked_stores",
    "machine.cycles",
    "machine.nothing_added",
    "machine.terms_picked",
    "machine.growing_chains machine.growing_stores machine.gathered_alike",
    "machine.trained_elsewhere machine.updates_on_tape machine.trials machine.untrained machine.always_cut",
    "machine.bound_names machine.untaken_branches",
    "machine.handed_unseen machine.called_by_python",
    "machine.begun_unseen machine.reached_otherwise",
    "machine.own_changes machine.learning_rates",
    "machine.idle_steps",
    "machine.untrained_starts",
    "machine.growing",
    # How text is changed.
    "codemods",
    "codemods.concrete codemods.arguments",
    "codemods.tree",
    "codemods.*",
    "codemods.copy_statements codemods.drop_guard codemods.inline_element codemods.under_no_grad",
    "codemods.enter_inside codemods.inline_name codemods.keep_part codemods.make_property codemods.sum_when_read",
    "codemods.update_in_place codemods.move_part_of_branch codemods.lift_call",
    # What the machine's events mean.
    "suspect",
    "view",
    "view.by_call",
    "view.program view.crossings",
    "view.half_precision",
    "view.by_name view.asked_before",
    "view.changed_words",
    "view.steps_between",
    "view.generators",
    "view.imported view.assigned",
    "view.read_by view.other_entries view.entered view.later_in_pass",
    "view.handed_on view.entered_alone",
    "view.kept",
    "view.kept_within",
    "view.needed_again",
    "view.changing_calls view.changed_in_place view.changing",
    "view.called_back view.come_to_later",
    "view.walked_unseen",
    "view.same_memory view.runs_between",
    "view.called_with",
    "view.passing",
    "view.handed_over",
    "view.what_is_read",
    "view.changes",
    "view.never_read",
    "view.only_differentiated",
    "view.turned_away",
    "view.*",
    "view.alike view.filled view.told_by_tag view.networks_apart view.still_linked",
    # What may repair them.
    "candidates",
    "candidates.by_parts",
    "candidates.detaching candidates.clipped_together candidates.shared_calls candidates.one_number",
    "candidates.cover candidates.reads candidates.made candidates.changed_later candidates.wider_types",
    "candidates.grown_alike candidates.mixed_states",
    "candidates.held_by_layer candidates.copied_apart",
    "candidates.moved_begin candidates.placed_reads candidates.new_leaves candidates.wanted_updates",
    "candidates.called_inside candidates.only_shown",
    "candidates.names_of_function",
    "candidates.called_out_of_view",
    "candidates.loss_of_kept",
    "candidates.called_by_others candidates.taken_once candidates.behind_train",
    "candidates.*",
    "candidates.cache_guards candidates.done_alike candidates.begun_with_sequence candidates.movable",
    "candidates.computed_behind candidates.nested_layers candidates.new_tensors candidates.bound_results",
    "candidates.entries_in_place",
    "candidates.mentioned",
    "candidates.alike_objects candidates.built_with_locals candidates.returned_itself",
    "candidates.as_property candidates.moved_inside candidates.anew candidates.begun_sum candidates.growing_state",
    "candidates.idle_closures",
    "candidates.left_behind candidates.moved_behind_look candidates.emptied candidates.out_of_view",
    "candidates.copied_views candidates.views_handed_on candidates.changed_leaf candidates.kept_for_copy",
    "candidates.looked_into",
    "candidates.set_in_records candidates.kept_ingredients candidates.cleared_behind candidates.copied_parameter",
    "candidates.emptied_behind_step candidates.emptied_behind_items",
    "candidates.emptied_behind_read candidates.moved_branch candidates.added_by_each candidates.hooks_removed",
    "candidates.tail_of_branch candidates.copied_before_loop candidates.copied_before_change",
    "candidates.hooks_of_objects",
    "candidates.leaf_of_result",
    "candidates.built_once candidates.sums_anew",
    "candidates.kept_parameter candidates.kept_in_record candidates.leaf_where_built",
    "candidates.local_sums candidates.one_backward_behind candidates.learned_behind candidates.registries",
    "candidates.kept_at_first candidates.kept_sums",
    "candidates.sums_when_read candidates.start_as_property candidates.joined_terms candidates.set_back_too",
    "candidates.joined_shares candidates.objects_anew candidates.made_in_pass candidates.taken_as_constant",
    "candidates.maker_handed_over candidates.summed_in_call candidates.emptied_when_entered",
    "candidates.begun_with_states candidates.computed_with_gradients candidates.gradients_on candidates.summed_terms",
    "candidates.raises_anyway candidates.summed_numbers",
    "candidates.left_off candidates.perhaps_none candidates.evaluated_still",
    "candidates.results_of_steps candidates.let_go",
    "candidates.read_when_wanted",
    "candidates.same_type candidates.weighed_by_itself",
    "candidates.with_history",
    "candidates.begun_again",
    "candidates.old_values candidates.called_later candidates.part_of_later_loss candidates.reset_left_out",
    "candidates.without_mode candidates.stored_and_carried candidates.stored_copies candidates.cut_between",
    "candidates.cut_where_set",
    "candidates.begun_in_method",
    "candidates.carried candidates.stored_values candidates.handed_to_sum",
    "candidates.summed_without_graph",
    # One file a rule.
    "rules.*",
    "rules",
    # Where the three of them meet.
    "relevance proving.undefined proving.further proving.blank_lines proving.leaf_names",
    "proving.ways",
    "proving.proof proving.faults projects.project",
    "proving.drawn proving.gradients_read",
    "proving.trial incremental.again projects.costly proving.written_settings proving.branches_off",
    "proving.turned_tests proving.other_classes proving.proven proving.left_out",
    "proving.turned_on",
    "proving.repairs",
    "uses",
    "checks",
    "remembered",
    "examination",
    "checker",
    "fixing",
    # Files and settings.
    "patch disk.globs disk.temporary python2 comments.unused comments.add_ignore",
    "disk.write",
    "disk.gitignore settings.selection",
    "settings.config",
    "adoption.baseline adoption.changed",
    "adoption.wanted",
    "disk.files projects.search_path projects.named_folders disk.state",
    "projects.scripts",
    "projects.imports",
    "record",
    "task",
    "cache projects.twins projects.importers",
    "perform",
    "pool",
    "runner",
    "shared",
    "settle",
    "beside",
    "comments.idle",
    # The command line.
    "console",
    "settings.show",
    # What logs say of errors.
    "tracebacks.log_lines tracebacks.autograd_errors",
    "tracebacks.failure",
    "tracebacks.text",
    "report",
    "report.excerpt report.change report.paths report.rulebook",
    "report.wrap",
    "report.paragraph",
    "report.json_",
    "report.*",
    "output",
    "progress",
    "adoption.adopt",
    "interactive",
    "gather",
    # An error, and what explains it.
    "changes tracebacks.files",
    "tracebacks.explain",
    "report.explanation",
    # A run under observation.
    "doctor",
    "doctor.nodes doctor.frames doctor.budget doctor.enough doctor.hooking doctor.children doctor.patching",
    "doctor.activations doctor.threads doctor.parts",
    "doctor.holders doctor.scan doctor.program doctor.lines doctor.places doctor.referrers doctor.reading",
    "doctor.steppers",
    "doctor.diagnosis doctor.series doctor.stores doctor.loops doctor.noting",
    "doctor.passes",
    "doctor.growth doctor.census doctor.scalars",
    "doctor.journal",
    # From what was written down to what is said of it.
    "doctor.records doctor.crossing doctor.names doctor.facts doctor.standins",
    "doctor.telling",
    "doctor.freed doctor.changed doctor.kept",
    "doctor.gathering",
    "doctor.verdict",
    "doctor.words doctor.repair doctor.table",
    "doctor.observer",
    "doctor.session doctor.watching doctor.testing doctor.live doctor.plot",
    "doctor.magic",
    # The language server.
    "lsp",
    "lsp.text lsp.pages lsp.workers lsp.protocol lsp.foreseen",
    "lsp.work",
    "lsp.documents",
    "lsp.places",
    "lsp.desk lsp.diagnostics lsp.hover",
    "lsp.actions lsp.board",
    "lsp.server",
    "lsp.conversation",
    "lsp.launch",
    "commands.request",
    "commands.keeping doctor.command",
    "commands.run",
    "commands.checking commands.explaining commands.running commands.showing commands.serving",
    "options",
    "app",
    "cli",
    "__main__",
    "pytest_plugin",
)

# What a module imports although it stands in no row above, and why that is right. `*` is as above.
UPWARD = {
    ("places", "source"): "a type: a place names the source that it is in, which makes it",
    ("autodetach", "doctor.*"): "inside: what the package offers to programs is loaded when they ask for it",
    ("codemods", "codemods.tree"): "a type: the protocol names the tree that codemods get",
    ("suspect", "view.program"): "a type: a rule is a function of a program",
    ("report", "report.*"): "inside: only the format that is asked for is loaded",
}

# Who may not know whom, whatever the order says.
FORBIDDEN = (
    ("machine*", "codemods*"),
    ("machine*", "view*"),
    ("machine*", "candidates*"),
    ("machine*", "rules*"),
    ("codemods*", "machine*"),
    ("codemods*", "view*"),
    ("codemods*", "candidates*"),
    ("codemods*", "rules*"),
    ("patch", "machine*"),
    ("patch", "codemods*"),
    ("patch", "view*"),
    ("patch", "candidates*"),
    ("patch", "rules*"),
    ("candidates*", "rules*"),
    ("patch", "checks"),
)

# The only places for packages that take long to load, or that one part of the program is there to hide.
ONLY_IN = {
    "libcst": ("codemods.*",),
    "unidiff": ("patch",),
    "typer": ("app", "options", "progress"),
    "pygls": ("lsp.*",),
    "torch": (),
    "numpy": (),
    "matplotlib": ("doctor.plot",),
}

OUTSIDE_WORLD = set(
    "asyncio fileinput glob http importlib io logging multiprocessing os pathlib random shutil signal socket "
    "subprocess tempfile threading time urllib".split()
)
DOES_INPUT_OR_OUTPUT = {"__import__", "compile", "eval", "exec", "input", "open", "print"}


@dataclass(frozen=True, slots=True)
class Import:
    """`who` imports `what`, both without the name of the package; `inside`: not when the module is loaded."""

    who: str
    what: str
    line: int
    inside: bool

    def __str__(self) -> str:
        return f"{self.who}, line {self.line}: imports {self.what}"


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or PACKAGE.name


MODULES = {name_of(path): ast.parse(path.read_bytes()) for path in sorted(PACKAGE.rglob("*.py"))}


def imports_in(who: str, node: ast.AST, inside: bool = False) -> Iterator[tuple[str, int, bool]]:
    """The dotted names that a module imports, with the line, and whether that waits for a call or a type checker."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield alias.name, child.lineno, inside
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"{who}, line {child.lineno}: a relative import"
            assert child.module
            for alias in child.names:
                whole = f"{child.module}.{alias.name}"
                is_module = short(whole) in MODULES and whole != PACKAGE.name
                yield whole if is_module else child.module, child.lineno, inside
        else:
            waits = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            types = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            yield from imports_in(who, child, inside or waits or types)


def short(name: str) -> str:
    return name.removeprefix(f"{PACKAGE.name}.")


ALL = [Import(who, what, line, inside) for who, tree in MODULES.items() for what, line, inside in imports_in(who, tree)]
OURS = [Import(i.who, short(i.what), i.line, i.inside) for i in ALL if i.what.split(".")[0] == PACKAGE.name]
OTHERS = [i for i in ALL if i.what.split(".")[0] != PACKAGE.name]


def row_of(module: str) -> int | None:
    """The row with the module's name, else the one with the pattern that it matches."""
    rows = [row.split() for row in ORDER]
    for number, row in enumerate(rows):
        if module in row:
            return number
    for number, row in enumerate(rows):
        if any("*" in pattern and fnmatchcase(module, pattern) for pattern in row):
            return number
    return None


def exception_for(imported: Import) -> tuple[str, str] | None:
    for who, what in UPWARD:
        if imported.who == who and fnmatchcase(imported.what, what):
            return who, what
    return None


def is_upward(imported: Import) -> bool:
    who, what = row_of(imported.who), row_of(imported.what)
    return who is None or what is None or what >= who


def listed(imports: Iterable[Import]) -> list[str]:
    return [str(imported) for imported in imports]


def test_every_module_has_its_place() -> None:
    assert len(MODULES) > 40
    assert [module for module in MODULES if row_of(module) is None] == [], "give it a row in ORDER"
    names = [name for row in ORDER for name in row.split()]
    assert len(names) == len(set(names))
    assert [name for name in names if not any(fnmatchcase(module, name) for module in MODULES)] == []


def test_imports_go_one_way() -> None:
    assert listed(i for i in OURS if is_upward(i) and exception_for(i) is None) == [], "not the order of ORDER"


def test_exceptions_are_needed_and_hold_no_module_up() -> None:
    upward = [imported for imported in OURS if is_upward(imported)]
    assert {exception_for(imported) for imported in upward} == set(UPWARD)
    assert listed(imported for imported in upward if not imported.inside) == []


@pytest.mark.parametrize(("who", "whom"), FORBIDDEN)
def test_who_may_not_know_whom(who: str, whom: str) -> None:
    assert any(fnmatchcase(module, who) for module in MODULES)
    found = (i for i in OURS if fnmatchcase(i.who, who) and fnmatchcase(i.what, whom))
    assert listed(found) == []


@pytest.mark.parametrize("package", ONLY_IN)
def test_packages_stay_where_they_belong(package: str) -> None:
    users = [imported for imported in OTHERS if imported.what.split(".")[0] == package]
    assert listed(i for i in users if not any(fnmatchcase(i.who, place) for place in ONLY_IN[package])) == []
    assert bool(users) is bool(ONLY_IN[package])


def test_no_rule_loads_a_codemod_before_it_needs_one() -> None:
    """Else a file without findings would pay for libcst."""
    loading = (i for i in OURS if i.what.startswith("codemods") and not i.who.startswith("codemods"))
    assert listed(i for i in loading if not i.inside) == []


def test_the_machine_does_no_input_or_output() -> None:
    machine = {name: tree for name, tree in MODULES.items() if name.startswith("machine")}
    assert len(machine) > 10
    assert listed(i for i in OTHERS if i.who in machine and i.what.split(".")[0] in OUTSIDE_WORLD) == []
    calls = (
        f"{name}, line {node.lineno}: {node.func.id}()"
        for name, tree in machine.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in DOES_INPUT_OR_OUTPUT
    )
    assert list(calls) == []
