"""The table of `test_layouts.py`: programs as people lay them out, by codemod."""

from __future__ import annotations

from layout_rows import Row
from layouts_of_blocks import ENTERED, REWRITTEN, TAKING, UNDECORATED, UNENTERED, UNGUARDED
from layouts_of_calls import LIFTED
from layouts_of_expressions import APPENDED, ASKED, INLINED, KEPT, KEYWORDS, METHODS, NAMED, RENAMED, REPLACED, TAILS
from layouts_of_moves import MOVED, PARTS
from layouts_of_properties import PROPERTIES, SUMS
from layouts_of_statements import BOUND, COPIED, DEFINED, IN_PLACE, INSERTED, UNDER_NO_GRAD

TABLE: dict[str, dict[str, Row]] = {
    "append_method": APPENDED,
    "as_generator": ASKED,
    "set_keyword": KEYWORDS,
    "rename_keyword": RENAMED,
    "rename_method": METHODS,
    "insert_statement": INSERTED,
    "move_statements": MOVED,
    "move_part_of_branch": PARTS,
    "make_property": PROPERTIES,
    "sum_when_read": SUMS,
    "copy_statements": COPIED,
    "assign_result": BOUND,
    "define_as": DEFINED,
    "drop_context": UNENTERED,
    "drop_decorator": UNDECORATED,
    "drop_guard": UNGUARDED,
    "enter_inside": ENTERED,
    "inline_element": INLINED,
    "inline_name": NAMED,
    "keep_part": KEPT,
    "lift_call": LIFTED,
    "replace_expression": REPLACED,
    "replace_parameters": TAKING,
    "replace_statement": REWRITTEN,
    "replace_tail": TAILS,
    "under_no_grad": UNDER_NO_GRAD,
    "update_in_place": IN_PLACE,
}
ROWS = {f"{codemod}: {name}": row for codemod, rows in TABLE.items() for name, row in rows.items()}
