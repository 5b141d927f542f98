"""Expressions and calls, in every layout, and what a careful person makes of each."""

from __future__ import annotations

from layout_rows import (
    BOM,
    KOREAN,
    LATIN,
    Row,
    asked,
    inlined,
    item,
    kept,
    keyword,
    method,
    named,
    renamed,
    replaced,
    tail,
)

APPENDED: dict[str, Row] = {
    "plain": (item(), "total += loss\n", "total += loss.item()\n"),
    "no last newline": (item(), "total += loss", "total += loss.item()"),
    "comment behind": (item(), "total += loss  # why\n", "total += loss.item()  # why\n"),
    "comment at once": (item(), "total += loss# why\n", "total += loss.item()# why\n"),
    "semicolon": (item(), "a; total += loss; b\n", "a; total += loss.item(); b\n"),
    "one-line suite": (item(), "for loss in x: total += loss\n", "for loss in x: total += loss.item()\n"),
    "own parentheses": (item(), "total += (loss)\n", "total += (loss.item())\n"),
    "own lines": (item(), "total += (\n    loss  # why\n)\n", "total += (\n    loss.item()  # why\n)\n"),
    "backslash": (item(), "total = total + \\\n    loss\n", "total = total + \\\n    loss.item()\n"),
    "backslash behind": (item(), "total = loss \\\n    + total\n", "total = loss.item() \\\n    + total\n"),
    "last argument": (item(), "x.append(loss)\n", "x.append(loss.item())\n"),
    "trailing comma": (item(), "x.append(\n    loss,\n)\n", "x.append(\n    loss.item(),\n)\n"),
    "keyword": (item(), "f(a, loss=loss)\n", "f(a, loss=loss.item())\n"),
    "star": (item("losses"), "f(*losses)\n", "f(*losses.item())\n"),
    "sum": (item("a + b"), "total += a + b\n", "total += (a + b).item()\n"),
    "sum in parentheses": (item("a + b"), "total += (a + b)\n", "total += (a + b).item()\n"),
    "sum over lines": (
        item("a + b"),
        "total += (\n    a  # one\n    + b  # two\n)\n",
        "total += (\n    a  # one\n    + b  # two\n).item()\n",
    ),
    "sum as argument": (item("a + b"), "x.append(a + b)\n", "x.append((a + b).item())\n"),
    "sum as argument over lines": (
        item("a + b"),
        "x.append(\n    a\n    + b\n)\n",
        "x.append(\n    (a\n    + b).item()\n)\n",
    ),
    "sum in its own as argument": (item("a + b"), "x.append((a + b))\n", "x.append((a + b).item())\n"),
    "sum with a backslash": (item("a + b"), "t += a \\\n    + b\n", "t += (a \\\n    + b).item()\n"),
    "condition": (item("a if b else c"), "t += a if b else c\n", "t += (a if b else c).item()\n"),
    "lambda": (item("lambda: a"), "t += (lambda: a)\n", "t += (lambda: a).item()\n"),
    "minus": (item("-a"), "t += -a\n", "t += (-a).item()\n"),
    "await": (item("await a"), "async def f():\n    t = await a\n", "async def f():\n    t = (await a).item()\n"),
    "walrus": (item("(b := a)"), "t.append(b := a)\n", "t.append((b := a).item())\n"),
    "what counts is no tensor": (item("enumerate(a)"), "for i, b in enumerate(a): pass\n", None),
    "what pairs is no tensor": (item("zip(a, b)"), "for c, d in zip(a, b): pass\n", None),
    "items of a dict are no tensor": (item("a.items()"), "for k, v in a.items(): pass\n", None),
    "a list is no tensor": (item("[a]"), "x = [a]\n", None),
    "walrus in parentheses": (item("(b := a)"), "t += (b := a)\n", "t += (b := a).item()\n"),
    "call over lines": (
        item("f(a, b)"),
        "t += f(\n    a,\n    b,  # c\n)\n",
        "t += f(\n    a,\n    b,  # c\n).item()\n",
    ),
    "index": (item("x[0]"), "t += x[ 0 ]\n", "t += x[ 0 ].item()\n"),
    "chain over lines": (item("a.b().c"), "t += (a\n     .b()\n     .c)\n", "t += (a\n     .b()\n     .c.item())\n"),
    "f-string": (item(), 'print(f"{loss}")\n', 'print(f"{loss.item()}")\n'),
    "f-string with format": (item(), 'print(f"{loss:.3f} {a!r}")\n', 'print(f"{loss.item():.3f} {a!r}")\n'),
    "f-string, equal names": (
        item(),
        'print(f"loss {loss} {loss:>{width}}")\n',
        'print(f"loss {loss} {loss.item():>{width}}")\n',
    ),
    "f-string in f-string": (item(), "print(f\"{f'{loss}'}\")\n", "print(f\"{f'{loss.item()}'}\")\n"),
    "wide characters before": (item(), "s, t = 'äö𝄞한', loss\n", "s, t = 'äö𝄞한', loss.item()\n"),
    "combining characters": (item(), "'e\u0301\u0301'; t += loss\n", "'e\u0301\u0301'; t += loss.item()\n"),
    "identifiers": (item("verlust_größe"), "сумма += verlust_größe\n", "сумма += verlust_größe.item()\n"),
    # Python reads the ligature as `fi`; the file keeps it.
    "identifiers that Python normalises": (item("finloss"), "t += ﬁnloss\n", "t += ﬁnloss.item()\n"),
    "line separator in a string": (item(), "s = '\u2028\x85'; t += loss\n", "s = '\u2028\x85'; t += loss.item()\n"),
    "long line": (item(), f"'{'x' * 100_000}'; t += loss\n", f"'{'x' * 100_000}'; t += loss.item()\n"),
    "tabs": (item(), "if x:\n\tt += loss\n", "if x:\n\tt += loss.item()\n"),
    "tabs and blanks": (item(), "if x:\n \tif y:\n \t    t += loss\n", "if x:\n \tif y:\n \t    t += loss.item()\n"),
    "CR LF": (item(), "if x:\r\n    t += loss\r\n", "if x:\r\n    t += loss.item()\r\n"),
    "CR": (item(), "if x:\r    t += loss\rb\r", "if x:\r    t += loss.item()\rb\r"),
    "mixed": (item(), "a\r\nb\rt += loss\nc\r\n", "a\r\nb\rt += loss.item()\nc\r\n"),
    "form feed": (item(), "a\n\f\n\ft += loss\n", "a\n\f\n\ft += loss.item()\n"),
    "form feed in an indentation": (item(), "if x:\n  \f    t += loss\n", "if x:\n  \f    t += loss.item()\n"),
    "BOM": (item(), BOM + b"t += loss\n", BOM + b"t += loss.item()\n"),
    "latin-1": (
        item(),
        f"{LATIN}s, t = 'äß', loss\n".encode("latin-1"),
        f"{LATIN}s, t = 'äß', loss.item()\n".encode("latin-1"),
    ),
    "euc-kr": (
        item(),
        f"{KOREAN}s, t = '한글', loss\n".encode("euc-kr"),
        f"{KOREAN}s, t = '한글', loss.item()\n".encode("euc-kr"),
    ),
}

KEYWORDS: dict[str, Row] = {
    "none": (keyword("loss.backward()"), "loss.backward()\n", "loss.backward(retain_graph=True)\n"),
    "blanks": (keyword("loss.backward()"), "loss . backward ( )\n", "loss . backward ( retain_graph=True)\n"),
    "comment inside": (
        keyword("loss.backward()"),
        "loss.backward(  # why\n)\n",
        "loss.backward(  # why\nretain_graph=True)\n",
    ),
    "one": (keyword("loss.backward(g)"), "loss.backward(g)\n", "loss.backward(g, retain_graph=True)\n"),
    "trailing comma": (keyword("loss.backward(g)"), "loss.backward(g,)\n", "loss.backward(g, retain_graph=True,)\n"),
    "a line each": (
        keyword("a.backward(g, inputs=i)"),
        "a.backward(\n    g,  # g\n    inputs=i,  # i\n)\n",
        "a.backward(\n    g,  # g\n    inputs=i,  # i\n    retain_graph=True,\n)\n",
    ),
    "a line each, no comma": (
        keyword("a.backward(g, inputs=i)"),
        "a.backward(\n    g,\n    inputs=i\n)\n",
        "a.backward(\n    g,\n    inputs=i,\n    retain_graph=True\n)\n",
    ),
    "one on its line": (
        keyword("a.backward(g)"),
        "a.backward(\n    g\n)\n",
        "a.backward(\n    g,\n    retain_graph=True\n)\n",
    ),
    "before stars": (keyword("a.backward(**k)"), "a.backward(**k)\n", "a.backward(retain_graph=True, **k)\n"),
    "turned on": (
        keyword("a.backward(retain_graph=False)"),
        "a.backward(retain_graph = False)\n",
        "a.backward(retain_graph = True)\n",
    ),
    "removed": (keyword("a.backward(retain_graph=True)", None), "a.backward(retain_graph=True)\n", "a.backward()\n"),
    "removed, alone on its line": (
        keyword("a.backward(retain_graph=True)", None),
        "a.backward(\n    retain_graph=True\n)\n",
        "a.backward()\n",
    ),
    "removed, the first": (
        keyword("a.backward(retain_graph=True, inputs=i)", None),
        "a.backward(retain_graph=True, inputs=i)\n",
        "a.backward(inputs=i)\n",
    ),
    "removed, the last": (
        keyword("a.backward(g, retain_graph=True)", None),
        "a.backward(g, retain_graph=True)\n",
        "a.backward(g)\n",
    ),
    "removed, the last, comma": (
        keyword("a.backward(g, retain_graph=True)", None),
        "a.backward(g, retain_graph=True,)\n",
        "a.backward(g,)\n",
    ),
    "removed, a line each": (
        keyword("a.backward(g, retain_graph=True, inputs=i)", None),
        "a.backward(\n    g,\n    retain_graph=True,\n    inputs=i,\n)\n",
        "a.backward(\n    g,\n    inputs=i,\n)\n",
    ),
    "removed, last line": (
        keyword("a.backward(g, retain_graph=True)", None),
        "a.backward(\n    g,  # the gradient\n    retain_graph=True,\n)\n",
        "a.backward(\n    g,  # the gradient\n)\n",
    ),
    "removed, with a semicolon": (
        keyword("a.backward(retain_graph=True)", None),
        "a.backward(retain_graph=True); b()\n",
        "a.backward(); b()\n",
    ),
    "one-line suite": (keyword("a.backward()"), "if x: a.backward()\n", "if x: a.backward(retain_graph=True)\n"),
    "backslash": (keyword("a.backward()"), "a \\\n  .backward()\n", "a \\\n  .backward(retain_graph=True)\n"),
    "lambda": (keyword("a.backward()"), "f = lambda: a.backward()\n", "f = lambda: a.backward(retain_graph=True)\n"),
    "function in parentheses": (keyword("a.backward()"), "(a.backward)()\n", "(a.backward)(retain_graph=True)\n"),
    "wide characters before": (
        keyword("a['é𝄞'].backward()"),
        "a['é𝄞'].backward()\n",
        "a['é𝄞'].backward(retain_graph=True)\n",
    ),
    "form feed": (
        keyword("a.backward()"),
        "\fif x:\n  \f  a.backward()\n",
        "\fif x:\n  \f  a.backward(retain_graph=True)\n",
    ),
    "CR LF": (
        keyword("a.backward(g, inputs=i)"),
        "a.backward(\r\n    g,\r\n    inputs=i,\r\n)\r\n",
        "a.backward(\r\n    g,\r\n    inputs=i,\r\n    retain_graph=True,\r\n)\r\n",
    ),
    "CR": (keyword("a.backward()"), "if x:\r    a.backward()\r", "if x:\r    a.backward(retain_graph=True)\r"),
    "latin-1": (
        keyword("a.backward(g)"),
        f"{LATIN}'é'; a.backward(g)  # ß\n".encode("latin-1"),
        f"{LATIN}'é'; a.backward(g, retain_graph=True)  # ß\n".encode("latin-1"),
    ),
}

REPLACED: dict[str, Row] = {
    "plain": (replaced("s", "tuple(x.detach() for x in {})"), "m(x, s)\n", "m(x, tuple(x.detach() for x in s))\n"),
    "twice": (
        replaced("a.b", "({}.detach() if torch.is_tensor({}) else {})"),
        "m(a . b)\n",
        "m((a . b.detach() if torch.is_tensor(a . b) else a . b))\n",
    ),
    "a sum": (
        replaced("a + b", "({}).detach().requires_grad_()"),
        "[a + b for x in y]\n",
        "[(a + b).detach().requires_grad_() for x in y]\n",
    ),
    "a decorator": (
        replaced("cached_property", "property"),
        "class C:\n    @cached_property  # why\n    def f(self): pass\n",
        "class C:\n    @property  # why\n    def f(self): pass\n",
    ),
    "f-string": (replaced("s", "t"), 'f"{s}"\n', 'f"{t}"\n'),
    "CR": (replaced("s", "[t.detach() for t in {}]"), "if x:\r    m(s)\r", "if x:\r    m([t.detach() for t in s])\r"),
    "latin-1": (
        replaced("d['é']", "{}.detach()"),
        f"{LATIN}'ß', d['é']\n".encode("latin-1"),
        f"{LATIN}'ß', d['é'].detach()\n".encode("latin-1"),
    ),
}

TAILS: dict[str, Row] = {
    "plain": (tail(), "t += loss.data[0]\n", "t += loss.item()\n"),
    "blanks": (tail(), "t += loss . data [ 0 ]\n", "t += loss.item()\n"),
    "parentheses": (tail("(a + b).data[0]", "a + b"), "t += (a + b).data[0]\n", "t += (a + b).item()\n"),
    "two pairs": (tail("(a + b).data[0]", "a + b"), "t += ((a + b)).data[0]\n", "t += ((a + b)).item()\n"),
    "wide parentheses": (tail("(a + b).data[0]", "a + b"), "t += ( a + b ).data[0]\n", "t += ( a + b ).item()\n"),
    "parentheses over lines": (
        tail("(a + b).data[0]", "a + b"),
        "t += (\n    a + b  # c\n).data[0]\n",
        "t += (\n    a + b  # c\n).item()\n",
    ),
    "parentheses around more": (tail(), "t += (loss.data)[0]\n", None),
    "over lines": (tail(), "t += (loss\n      .data\n      [0])\n", "t += (loss.item())\n"),
    "a comment in it": (tail(), "t += loss.data[  # why\n    0]\n", None),
    "f-string": (tail(), 'f"{loss.data[0]:.3f}"\n', 'f"{loss.item():.3f}"\n'),
    "backslash": (tail(), "t += loss.data \\\n    [0] \\\n    + 1\n", "t += loss.item() \\\n    + 1\n"),
    "wide characters": (tail("d['é'].data[0]", "d['é']"), "'𝄞', d['é'].data[0]\n", "'𝄞', d['é'].item()\n"),
    "semicolon": (tail(), "a; loss.data[0]; b\n", "a; loss.item(); b\n"),
}

RENAMED: dict[str, Row] = {
    "plain": (renamed(), "a.backward(retain_variables=True)\n", "a.backward(retain_graph=True)\n"),
    "blanks": (renamed(), "a.backward( retain_variables = True )\n", "a.backward( retain_graph = True )\n"),
    "semicolon": (renamed(), "a.backward(retain_variables=True); b\n", "a.backward(retain_graph=True); b\n"),
    "one-line suite": (renamed(), "if b: a.backward(retain_variables=True)\n", "if b: a.backward(retain_graph=True)\n"),
    "own lines": (
        renamed("a.backward(g, retain_variables=True)"),
        "a.backward(\n    g,  # one\n    retain_variables=(  # two\n        True\n    ),\n)\n",
        "a.backward(\n    g,  # one\n    retain_graph=(  # two\n        True\n    ),\n)\n",
    ),
    "backslash": (
        renamed(),
        "a.backward(retain_variables \\\n    =True)\n",
        "a.backward(retain_graph \\\n    =True)\n",
    ),
    "value of that name": (
        renamed("a.backward(retain_variables=retain_variables)"),
        "a.backward(retain_variables=retain_variables)\n",
        "a.backward(retain_graph=retain_variables)\n",
    ),
    "no last newline": (renamed(), "a.backward(retain_variables=True)", "a.backward(retain_graph=True)"),
    "wide characters before": (
        renamed(),
        "s = 'äö𝄞한'; a.backward(retain_variables=True)\n",
        "s = 'äö𝄞한'; a.backward(retain_graph=True)\n",
    ),
    "tab and CRLF": (
        renamed(),
        "if b:\r\n\ta.backward(retain_variables=True)\r\n",
        "if b:\r\n\ta.backward(retain_graph=True)\r\n",
    ),
}

METHODS: dict[str, Row] = {
    "plain": (method(), "h.detach_()\n", "h.detach()\n"),
    "blanks": (method(), "h . detach_ ( )\n", "h . detach ( )\n"),
    "of an element": (method("hs[0].detach_"), "a = f(hs[0].detach_(), b)\n", "a = f(hs[0].detach(), b)\n"),
    "of what has that name": (method("self.detach_.detach_"), "self.detach_.detach_()\n", "self.detach_.detach()\n"),
    "in parentheses": (method(), "(h.detach_)()\n", "(h.detach)()\n"),
    "own lines": (
        method(),
        "a = (\n    h  # one\n    .detach_()  # two\n)\n",
        "a = (\n    h  # one\n    .detach()  # two\n)\n",
    ),
    "backslash": (method(), "a = h \\\n    .detach_()\n", "a = h \\\n    .detach()\n"),
    "semicolon": (method(), "a; h.detach_(); b\n", "a; h.detach(); b\n"),
    "f-string": (method(), 'f"{h.detach_()}"\n', 'f"{h.detach()}"\n'),
    "wide characters before": (method(), "s = 'äö𝄞한'; h.detach_()\n", "s = 'äö𝄞한'; h.detach()\n"),
    "no last newline, CRLF": (method(), "a\r\nh.detach_()", "a\r\nh.detach()"),
    "not in its usual letters": (method(), "h.\uff44etach_()\n", None),
}

KEPT: dict[str, Row] = {
    "call": (kept(), "self.s = P(x).exp()\ny = self.s * a\n", "self.s = P(x)\ny = self.s.exp() * a\n"),
    "product": (
        kept("P(x) * 0.1"),
        "self.s = P(x) * 0.1\ny = a ** self.s\n",
        "self.s = P(x)\ny = a ** (self.s * 0.1)\n",
    ),
    "argument": (kept("f(P(x), 2)"), "self.s = f(P(x), 2)\ny = self.s[0]\n", "self.s = P(x)\ny = f(self.s, 2)[0]\n"),
    "read twice": (
        kept(),
        "self.s = P(x).exp()\ny = self.s + self.s  # größe\n",
        "self.s = P(x)\ny = self.s.exp() + self.s.exp()  # größe\n",
    ),
    "blanks": (kept(), "self.s = P( x ) . exp()\ny = self.s\n", "self.s = P( x )\ny = self.s . exp()\n"),
    "parentheses": (kept(), "self.s = (P(x)).exp()\ny = self.s\n", "self.s = P(x)\ny = (self.s).exp()\n"),
    "part over lines": (
        kept(),
        "self.s = P(\n    x,  # why\n).exp()\ny = self.s\n",
        "self.s = P(\n    x,  # why\n)\ny = self.s.exp()\n",
    ),
    "rest over lines": (kept(), "self.s = (P(x)\n          .exp())\ny = self.s\n", None),
    "f-string": (kept(), 'self.s = P(x).exp()\nf"{self.s:.3f}"\n', 'self.s = P(x)\nf"{self.s.exp():.3f}"\n'),
}
NAMED: dict[str, Row] = {
    "call": (named("g(a)"), "t = g(a)\nf = lambda x: 2 * t\n", "t = g(a)\nf = lambda x: 2 * g(a)\n"),
    "sum": (named("w + k"), "t = w + k\nf = lambda x: -t\n", "t = w + k\nf = lambda x: -(w + k)\n"),
    "sum alone": (named("w + k", alone=True), "t = w + k\nf = lambda x: t\n", "t = w + k\nf = lambda x: w + k\n"),
    "pair alone": (
        named("(w, k)", alone=True),
        "t = w, k\nf = [lambda x: t, 1]\n",
        "t = w, k\nf = [lambda x: (w, k), 1]\n",
    ),
    "comment behind": (
        named("w + k"),
        "t = w + k  # größe\nf = lambda x: t  # größe\n",
        "t = w + k  # größe\nf = lambda x: (w + k)  # größe\n",
    ),
    "over lines": (named("g(a, b)"), "t = g(a,\n      b)\nf = lambda x: t\n", None),
}

INLINED: dict[str, Row] = {
    "call": (inlined(), "t = [f(k) for k in r]\nx = t[i]\n", "t = [f(k) for k in r]\nx = f(i)\n"),
    "twice": (
        inlined(),
        "t = [f(k, g(*k)) for k in r]\nx = t[i].y\n",
        "t = [f(k, g(*k)) for k in r]\nx = f(i, g(*i)).y\n",
    ),
    "sum": (inlined(), "t = [w + k for k in r]\nx = 2 * t[i]\n", "t = [w + k for k in r]\nx = 2 * (w + i)\n"),
    "sum in parentheses": (
        inlined(),
        "t = [(w + k) for k in r]\nx = -t[i]\n",
        "t = [(w + k) for k in r]\nx = -(w + i)\n",
    ),
    "pair": (inlined(), "t = [(k, w[k]) for k in r]\na, b = t[i]\n", "t = [(k, w[k]) for k in r]\na, b = (i, w[i])\n"),
    "wide characters": (
        inlined(),
        "t = [f('größe', k) for k in r]\nx = t[i]  # größe\n",
        "t = [f('größe', k) for k in r]\nx = f('größe', i)  # größe\n",
    ),
    "keyword of the same name": (
        inlined(),
        "t = [f(k=k) for k in r]\nx = t[i]\n",
        "t = [f(k=k) for k in r]\nx = f(k=i)\n",
    ),
    "condition": (
        inlined(),
        "t = [a if k else b for k in r]\nx = t[i]\n",
        "t = [a if k else b for k in r]\nx = (a if i else b)\n",
    ),
    "comment in the element": (inlined(), "t = [\n    f(k,  # why\n    2) for k in r\n]\nx = t[i]\n", None),
    "element over lines": (inlined(), "t = [f(\n    k) for k in r]\nx = t[i]\n", None),
    "scope in the element": (inlined(), "t = [[i * k for i in s] for k in r]\nx = t[i]\n", None),
    "computed index": (inlined("t[i + 1]"), "t = [2 * k for k in r]\nx = t[i + 1]\n", None),
    "pairs run through": (inlined(), "t = [f(k, v) for k, v in r]\nx = t[i]\n", None),
}


ASKED: dict[str, Row] = {
    "plain": (asked(), "t = [f(k) for k in r]\n", "t = (f(k) for k in r)\n"),
    "spaces and comment": (asked(), "t = [ f(k) for k in r ]  # why\n", "t = ( f(k) for k in r )  # why\n"),
    "over lines": (
        asked(),
        "t = [\n    f(k)  # one\n    for k in r\n]\n",
        "t = (\n    f(k)  # one\n    for k in r\n)\n",
    ),
    "in parentheses": (asked(), "t = ([f(k) for k in r])\n", "t = ((f(k) for k in r))\n"),
    "wide characters": (asked(), "s, t = 'größe', [f(k) for k in r]\n", "s, t = 'größe', (f(k) for k in r)\n"),
    "inner brackets": (
        asked("[f(k[0]) for k in [r]]"),
        "t = [f(k[0]) for k in [r]]\n",
        "t = (f(k[0]) for k in [r])\n",
    ),
}
