"""Kinds of syntax nodes that belong together: in capitals for `isinstance`, else for annotations."""

from __future__ import annotations

import ast
from typing import TypeAlias

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
CALLABLES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
NAMING = (*DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
"""What binds the name that it has as its `name`, which no `ast.Name` tells."""
LOOPS = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
JUMPS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
ENDING_A_PASS = (ast.Return, ast.Continue, ast.Break)
YIELDS = (ast.Yield, ast.YieldFrom)
LEAVING = (*ENDING_A_PASS, *YIELDS)
"""What ends a pass of a loop before its end, or hands over to others meanwhile."""

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
CallableNode: TypeAlias = FunctionNode | ast.Lambda
