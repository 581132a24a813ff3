"""Templates that try to work, or to take memory, without end, or to leave the sandbox.

Each must end in a TemplateError or a small text. `BIG` is a chat of a megabyte.
"""

from __future__ import annotations

_LOOP = "{% for i in range(99999) %}"
_SIXTY = "{% for i in range(60) %}"


def _grow(statement: str, start: str = "'ab'") -> str:
    """A namespace value that a loop feeds back into itself."""
    return (
        f"{{% set ns = namespace(x={start}) %}}{_SIXTY}{{% set ns.x = {statement} %}}{{% endfor %}}"
        + "{{ ns.x }}"
    )


def _folded(use: str, start: str = "[1]") -> str:
    """A list of shared lists, 60 deep: small in memory, without end when written out."""
    return f"{{% set ns = namespace(x={start}) %}}{_SIXTY}{{% set ns.x = [ns.x, ns.x] %}}{{% endfor %}}{use}"


_FOLDED_TUPLE = f"{{% set ns = namespace(x=(1,)) %}}{_SIXTY}{{% set ns.x = (ns.x, ns.x) %}}{{% endfor %}}"

ATTACKS: dict[str, str] = {
    # work without end
    "nested loops": _LOOP * 4 + "{% endfor %}" * 4,
    "nested loops of output": _LOOP * 2 + "{{ i }}x" + "{% endfor %}" * 2,
    "loops whose test is never true": _LOOP + "{% for j in range(99999) if j < 0 %}{% endfor %}{% endfor %}",
    "filters that reject all": _LOOP
    + "{% for j in range(99999)|select('gt', 99999) %}{% endfor %}{% endfor %}",
    "lists of generators": _LOOP + "{% set x = range(99999)|map('string')|list %}{% endfor %}",
    "attributes of many": _LOOP + "{% set x = range(99999)|map(attribute='real')|list %}{% endfor %}",
    "membership of many": _LOOP + "{% if 'x' in range(99999) %}{% endif %}{% endfor %}",
    "sums of many": _LOOP + "{% set x = range(99999)|sum %}{% endfor %}",
    "sums of lists": "{% set x = range(20000)|map('string')|map('list')|list %}"
    "{{ (x + x)|sum(start=[])|length }}",
    "sorting many": _LOOP + "{% set x = range(99999)|sort(reverse=true) %}{% endfor %}",
    "last of many": _LOOP + "{% set x = range(99999)|list|last %}{% endfor %}",
    "length of a loop over many": _LOOP
    + "{% for j in range(99999)|map('string') %}{{ loop.length }}{% break %}"
    "{% endfor %}{% endfor %}",
    "dicts of many keys": _LOOP + "{% set x = dict.fromkeys(range(99999)) %}{% endfor %}",
    "dicts of many keys by a method": _LOOP + "{% set x = {}.fromkeys(range(99999)) %}{% endfor %}",
    "searching the chat": _LOOP + "{% if 'zzz' in messages[0].content %}{% endif %}{% endfor %}",
    "counting in the chat": _LOOP + "{% set x = messages[0].content.count('zq') %}{% endfor %}",
    "comparing the chat": _LOOP
    + "{% if messages[0].content == messages[0].content ~ '' %}{% endif %}{% endfor %}",
    "the chat's case": _LOOP + "{% set x = messages[0].content|title %}{% endfor %}",
    "slicing the chat": _LOOP + "{% set x = messages[0].content[1:] %}{% endfor %}",
    "collecting slices of the chat": "{% set ns = namespace(x=[]) %}"
    + _LOOP
    + "{% set ns.x = ns.x + [messages[0].content[1:]] %}{% endfor %}",
    "splitting the chat": _LOOP + "{% set x = messages[0].content.split() %}{% endfor %}",
    "reversing the chat": _LOOP + "{% set x = messages[0].content|reverse %}{% endfor %}",
    "writing the chat again and again": _LOOP + "{{ messages[0].content }}{% endfor %}",
    "the chat as json": _LOOP + "{% set x = messages|tojson %}{% endfor %}",
    "the chat as text": _LOOP + "{% set x = messages ~ '' %}{% endfor %}",
    "tags of the chat": "{{ (messages[0].content.replace('word', '<!-- -->'))|striptags }}",
    "links of the chat": "{{ messages[0].content|urlize }}",
    "the chat in pretty print": "{{ (messages[0].content.split() )|pprint }}",
    "a macro that calls itself": "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
    "a macro that calls itself twice": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}"
    "{% endif %}{% endmacro %}"
    "{{ f(50) }}",
    "macros that call one another": "{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}"
    "{% endmacro %}{{ f() }}",
    "a loop without end": "{% for i in [[1]] recursive %}{{ loop([i]) }}{% endfor %}",
    "a block that shows itself": "{% block b %}{{ self.b() }}{% endblock %}",
    "a block shown many times": "{% block b %}"
    + "{{ 1 }}" * 200
    + "{% endblock %}"
    + _LOOP * 2
    + "{% set x = self.b() %}{% endfor %}{% endfor %}",
    "a caller that calls": "{% macro f() %}{{ caller() }}{{ caller() }}{% endmacro %}"
    + "{% call f() %}" * 18
    + "x"
    + "{% endcall %}" * 18,
    "powers": "{{ 9 ** 9 ** 9 }}",
    "powers of the chat": "{{ (messages[0].content|length) ** 999999 }}",
    "powers in a loop": _grow("ns.x * ns.x", "7"),
    "a constant of many digits": "{{ 0x" + "f" * 100_000 + " }}",
    "rounding": "{{ 1.5|round(99999999, 'floor') }}",
    "searching for what repeats": "{% set h = 'a' * 900000 %}{% set n = 'a' * 98 ~ 'ba' %}"
    + _LOOP
    + "{% if n in h %}{% endif %}{{ h.find(n) }}{% endfor %}",
    "searching backwards for what repeats": "{% set h = 'a' * 900000 %}{% set n = 'ab' ~ 'a' * 9000 %}"
    + _LOOP
    + "{{ h.rfind(n) }}{% endfor %}",
    "splitting backwards by what repeats": "{% set h = 'a' * 900000 %}{% set n = 'ab' ~ 'a' * 9000 %}"
    + _LOOP
    + "{{ h.rsplit(n)|length }}{% endfor %}",
    "stripping of many characters": "{% set h = 'a' * 900000 %}"
    "{{ h.strip('b' * 90000 ~ 'a') }}{{ h|trim('b' * 90000 ~ 'a') }}",
    "stripping of a long constant": "{% set h = 'a' * 900000 %}{{ h.strip('" + "b" * 90_000 + "a') }}",
    "calls with many arguments": "{% macro f() %}{{ varargs|length }}{% endmacro %}"
    + _LOOP
    + "{% set x = f(*range(99999)) %}{% endfor %}",
    "methods with many arguments": _LOOP + "{% set x = '{}'.format(*range(99999)) %}{% endfor %}",
    "a long way of attributes": "{% set p = 'real' ~ '.real' * 9000 %}"
    + _LOOP
    + "{{ range(99999)|map(attribute=p)|list|length }}"
    + "{{ range(99999)|sort(attribute=p)|length }}{% endfor %}",
    "names of characters": "{% set x = ('é' * 900000).encode('ascii', 'namereplace') %}",
    "escapes of characters": "{{ '{0!a}{0!r}'.format('é' * 900000)|length }}",
    "bytes that grow": "{% set ns = namespace(x='ab'.encode()) %}"
    + _SIXTY
    + "{% set ns.x = ns.x.replace('a'.encode(), ns.x) %}{% endfor %}",
    "slices of bytes": "{% set b = messages[0].content.encode() %}{% set ns = namespace(x=[]) %}"
    + _LOOP
    + "{% set ns.x = ns.x + [b[1:]] %}{% endfor %}",
    "links of many words": "{{ ('http://a.bc ' * 900)|urlize(rel='x' * 99999, target='y' * 99999) }}",
    # memory without end
    "text times a number": "{{ 'a' * 9999999999 }}",
    "a number times text": "{{ 9999999999 * 'a' }}",
    "a list times a number": "{{ ([0] * 9999999999)|length }}",
    "times in pieces": "{% set a = 'a' * 99999 %}{% set b = a * 99999 %}{{ b|length }}",
    "doubling by plus": _grow("ns.x + ns.x"),
    "doubling by tilde": _grow("ns.x ~ ns.x"),
    "doubling by join": _grow("ns.x.join([ns.x, ns.x])"),
    "doubling by the join filter": _grow("[ns.x, ns.x]|join(ns.x)"),
    "doubling by replace": _grow("ns.x.replace('a', ns.x)"),
    "doubling by the replace filter": _grow("ns.x|replace('a', ns.x)"),
    "doubling by replacing nothing": _grow("ns.x.replace('', ns.x)"),
    "doubling by percent": _grow("'%s%s' % (ns.x, ns.x)"),
    "doubling by format": _grow("'{0}{0}'.format(ns.x)"),
    "doubling by format_map": _grow("'{a}{a}'.format_map({'a': ns.x})"),
    "doubling by the format filter": _grow("'%s%s'|format(ns.x, ns.x)"),
    "doubling by translate": _grow("ns.x.translate({97: ns.x})"),
    "doubling by markup": _grow("(ns.x|e) + (ns.x|e)", "'<'"),
    "doubling by escapes": _grow("ns.x|forceescape", "'<'"),
    "doubling by join of an iterator": _grow("ns.x.join([ns.x, ns.x]|map('string'))"),
    "doubling by markup's join": _grow("('<'|safe).join([ns.x, ns.x])", "'<'"),
    "doubling by markup's percent": _grow("('%s%s'|safe) % (ns.x, ns.x)", "'<'"),
    "doubling by json": _grow("ns.x|tojson", "'\"'"),
    "doubling by a macro": "{% macro d(x) %}{{ x }}{{ x }}{% endmacro %}" + _grow("d(ns.x)"),
    "doubling by a set block": "{% set ns = namespace(x='ab') %}"
    + _SIXTY
    + "{% set y %}{{ ns.x }}{{ ns.x }}{% endset %}{% set ns.x = y %}{% endfor %}{{ ns.x }}",
    "doubling by a filter block": "{% set ns = namespace(x='ab') %}"
    + _SIXTY
    + "{% set y %}{% filter upper %}{{ ns.x }}{{ ns.x }}{% endfilter %}{% endset %}"
    "{% set ns.x = y %}{% endfor %}",
    "doubling by indent": _grow("ns.x|indent(ns.x, true)", "'a\\nb'"),
    "doubling by wordwrap": _grow("ns.x|wordwrap(1, true, ns.x)"),
    "indenting by other line ends": "{{ ('\\x0b' * 900000)|indent(9999)|length }}",
    "splitting by other line ends": "{{ ('\\u2028' * 900000).splitlines()|length }}",
    "wrapping a long word": "{{ ('a' * 900000)|wordwrap(1)|length }}",
    "doubling by urlencode": _grow("ns.x|urlencode", "'%'"),
    "doubling by slices": _grow("ns.x + ns.x[:]"),
    "doubling lists": _grow("ns.x + ns.x", "[1]"),
    "doubling tuples": _grow("ns.x + ns.x", "(1,)"),
    "doubling by encode": _grow("(ns.x ~ ns.x).encode('utf-8').decode('utf-8')"),
    "widening by one character": "{% set ns = namespace(x='a' * 2000000) %}"
    + _SIXTY
    + "{% set ns.x = ns.x ~ '😀' %}{% endfor %}",
    "center": "{{ 'a'.center(9999999999) }}",
    "the center filter": "{{ 'a'|center(9999999999) }}",
    "center through attr": "{{ ('a'|attr('center'))(9999999999) }}",
    "center through a map": "{{ ['a']|map('center', 9999999999)|first|length }}",
    "ljust": "{{ 'a'.ljust(9999999999) }}",
    "rjust": "{{ 'a'.rjust(9999999999) }}",
    "zfill": "{{ 'a'.zfill(9999999999) }}",
    "expandtabs": "{{ '\\t'.expandtabs(9999999999) }}",
    "expandtabs by name": "{{ '\\t'.expandtabs(tabsize=9999999999) }}",
    "the indent filter": "{{ 'a\\nb'|indent(9999999999) }}",
    "json's indent": "{{ [[1]]|tojson(indent=9999999999) }}",
    "json's separators": "{{ range(9999)|list|tojson(separators=('a' * 9999, ':')) }}",
    "a width of percent": "{{ '%9999999999d' % 1 }}",
    "a width of percent from its data": "{{ '%*d' % (9999999999, 1) }}",
    "a precision of percent": "{{ '%.999999999f' % 1.5 }}",
    "a width of format": "{{ '{:9999999999}'.format(1) }}",
    "a width of format from its data": "{{ '{:{}}'.format(1, 9999999999) }}",
    "a width of format_map": "{{ '{a:9999999999}'.format_map({'a': 1}) }}",
    "a width of the format filter": "{{ '%9999999999d'|format(1) }}",
    "a width of markup's format": "{{ ('{:9999999999}'|safe).format(1) }}",
    "a width of the clock": "{{ strftime_now('%999999999d') }}",
    "a long format of the clock": "{{ strftime_now('%c' * 500000) }}",
    "batches": "{{ [1]|batch(9999999999, 0)|list|length }}",
    "slices": "{{ [1]|slice(9999999999)|list|length }}",
    "bytes of a number": "{{ (1).to_bytes(9999999999, 'big')|length }}",
    "a range": "{{ range(9999999999)|list }}",
    "lipsum": "{{ lipsum(n=999999) }}",
    "a folded list as text": _folded("{{ ns.x }}"),
    "a folded list as json": _folded("{{ ns.x|tojson }}"),
    "a folded list joined": _folded("{{ ns.x|join }}"),
    "a folded list as string": _folded("{{ ns.x|string|length }}"),
    "a folded list in percent": _folded("{{ '%s' % (ns.x,) }}"),
    "a folded list in format": _folded("{{ '{}'.format(ns.x) }}"),
    "a folded list concatenated": _folded("{{ ns.x ~ '' }}"),
    "a folded list replaced": _folded("{{ ns.x|replace('a', 'b') }}"),
    "a folded list trimmed": _folded("{{ ns.x|trim }}"),
    "a folded list of pretty print": _folded("{{ ns.x|pprint }}"),
    "folded lists compared": _folded("{% set y = ns.x %}", "[1]") + _folded("{{ y == ns.x }}", "[2]"),
    "folded lists compared by a test": _folded("{% set y = ns.x %}")
    + _folded("{{ [y]|select('eq', ns.x)|list }}"),
    "folded lists searched": _folded("{% set y = ns.x %}")
    + _folded("{{ ns.x in [y] }}{{ [y].index(ns.x) }}"),
    "folded lists as a number's default": _folded("{% set y = ns.x %}") + _folded("{{ 'x'|int(y) == ns.x }}"),
    "folded tuples as a key": "{% set ns = namespace(x=(1,)) %}"
    + _SIXTY
    + "{% set ns.x = (ns.x, ns.x) %}{% endfor %}{{ {ns.x: 1} }}",
    "folded tuples looked up": "{% set ns = namespace(x=(1,)) %}"
    + _SIXTY
    + "{% set ns.x = (ns.x, ns.x) %}{% endfor %}{{ {}[ns.x] }}{{ {}.get(ns.x) }}{{ ns.x in {} }}",
    "folded tuples unique": "{% set ns = namespace(x=(1,)) %}"
    + _SIXTY
    + "{% set ns.x = (ns.x, ns.x) %}{% endfor %}{{ [ns.x]|unique|list|length }}",
    "a folded list raised": _folded("{{ raise_exception(ns.x) }}"),
    "a folded list as an item": _folded("{{ {}[ns.x].y }}{{ [][ns.x].y }}"),
    "a folded list as a name": _folded("{{ 1|attr(ns.x) }}"),
    "a folded list as an attribute": _folded("{{ [1]|map(attribute=ns.x)|map('string')|list }}"),
    "a folded list in lower case": _folded("{{ ns.x is lower }}"),
    "folded lists in turn": _folded("{% set y = ns.x %}")
    + _folded("{% for x in [y, ns.x] %}{{ loop.changed(x) }}{% endfor %}"),
    "folded tuples as a filter's name": _FOLDED_TUPLE + "{{ [1]|map(ns.x)|list }}",
    "folded tuples as a test's name": _FOLDED_TUPLE + "{{ [1]|select(ns.x)|list }}",
    "folded tuples as keys of dict": _FOLDED_TUPLE + "{{ dict.fromkeys([ns.x]) }}",
    "folded tuples as pairs of dict": _FOLDED_TUPLE + "{{ dict([[ns.x, 1]]|map('list')) }}",
    "folded tuples and views": _FOLDED_TUPLE + "{{ {}.keys() - [ns.x] }}",
    "folded tuples and disjoint views": _FOLDED_TUPLE + "{{ {}.keys().isdisjoint([ns.x]) }}",
    "folded namespaces": "{% set ns = namespace(x=1) %}"
    + _SIXTY
    + "{% set ns.x = namespace(a=ns.x, b=ns.x) %}{% endfor %}{{ ns.x }}",
    "folded arguments": "{% macro f(n) %}{% if n %}{{ f(n - 1, varargs, varargs) }}{% else %}"
    "{{ varargs }}{% endif %}"
    "{% endmacro %}{{ f(50, 1) }}",
    # before it runs
    "a template of ten megabytes": "{{ 1 }}" * 1_500_000,
    "many outputs": "{{ a.b }}" * 13_000,
    "deep brackets": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "deep lists": "{{ " + "[" * 90 + "]" * 90 + " }}",
    "deep ifs": "{% if 1 %}" * 3000 + "{% endif %}" * 3000,
    "deep loops": "{% for x in [1] %}" * 60 + "{% endfor %}" * 60,
    "many nots": "{{ " + "not " * 20000 + "1 }}",
    "many signs": "{{ " + "-" * 20000 + "1 }}",
    "many sums": "{{ 1" + " + 1" * 9000 + " }}",
    "many tildes": "{{ 1" + " ~ 1" * 9000 + " }}",
    "many dots": "{{ a" + ".a" * 9000 + " }}",
    "many calls": "{{ a" + "()" * 9000 + " }}",
    "many filters": "{{ 1" + "|abs" * 9000 + " }}",
    "many choices": "{{ " + "1 if 1 else " * 5000 + "1 }}",
    "many elifs": "{% if 0 %}" + "{% elif 0 %}" * 5000 + "{% endif %}",
    "open comments": "{#" * 50_000,
    "open strings": "{{ '" * 20_000,
    "many names": "{{ [" + ",".join(f"v{i}" for i in range(12_000)) + "] }}",
    "constants at compile time": "{{ 'a'|center(9999999999)|center(9999999999) }}",
    "constants in a condition": "{% if 'a' * 9999999999 %}{% endif %}",
    # chains that Python itself follows to their end
    "filters that read one another": "{% set ns = namespace(x=[1]) %}{% for i in range(50000) %}"
    "{% set ns.x = ns.x|map('string') %}{% endfor %}{{ ns.x|list }}",
    "selections that read one another": "{% set ns = namespace(x=[1]) %}{% for i in range(50000) %}"
    "{% set ns.x = ns.x|select %}{% endfor %}{{ ns.x|first }}",
    "batches that read one another": "{% set ns = namespace(x=[1]) %}{% for i in range(50000) %}"
    "{% set ns.x = ns.x|batch(1) %}{% endfor %}done",
    "unique items that read one another": "{% set ns = namespace(x=[1]) %}{% for i in range(50000) %}"
    "{% set ns.x = ns.x|unique %}{% endfor %}{{ ns.x|list }}",
    "deep lists given up": "{% set ns = namespace(x=[]) %}" + _LOOP + "{% set ns.x = [ns.x] %}{% endfor %}",
    "deep dicts given up": "{% set ns = namespace(x=[]) %}"
    + _LOOP
    + "{% set ns.x = {1: ns.x} %}{% endfor %}",
    "deep namespaces given up": "{% set ns = namespace(x=1) %}"
    + _LOOP
    + "{% set ns.x = namespace(x=ns.x) %}{% endfor %}",
    "deep lists as json": "{% set ns = namespace(x=[]) %}{% for i in range(9000) %}{% set ns.x = [ns.x] %}"
    "{% endfor %}{{ ns.x|tojson(indent=64) }}",
    "deep lists compared": "{% set ns = namespace(x=[], y=[]) %}"
    + _LOOP
    + "{% set ns.x = [ns.x] %}{% set ns.y = [ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
    "a namespace that holds itself": "{% set ns = namespace() %}{% set ns.a = [ns] %}"
    "{{ ns.a }}{{ ns.a|pprint }}{{ ns.a|tojson }}",
    "namespaces that hold themselves compared": "{% set m = namespace() %}{% set m.a = [m] %}"
    "{% set n = namespace() %}{% set n.a = [n] %}{{ m.a == n.a }}{{ m.a in [n.a] }}",
    # prices of single calls
    "numbers of many digits divided": "{% set n = 9 ** 1200 %}" + _LOOP + "{% set x = n // 7 %}{% endfor %}",
    "a constant of many digits divided": "{% set n = 0x" + "f" * 90_000 + " %}" + _LOOP * 2 + "{{ n // 7 }}"
    "{% endfor %}{% endfor %}",
    "numbers of many digits as text": "{% set n = 9 ** 1200 %}"
    + _LOOP
    + "{% set x = n|string|int %}{% endfor %}",
    "sizes of files": "{% set n = 9 ** 300 %}"
    + _LOOP * 2
    + "{% set x = n|filesizeformat %}{% endfor %}{% endfor %}",
    "hexadecimal fractions": _LOOP * 2 + "{% set x = (0.1).hex() %}{% endfor %}{% endfor %}",
    "random choices": _LOOP * 2 + "{{ range(99999)|random }}{% endfor %}{% endfor %}",
    "times of day": _LOOP * 2 + "{{ strftime_now('%c%c%c%c%c%c') }}{% endfor %}{% endfor %}",
    "counting the chat in a list": "{% set l = [messages[0].content] * 999 %}"
    "{% set t = messages[0].content ~ '' %}" + _LOOP + "{{ l.count(t) }}{% endfor %}",
    "finding the chat in a list": "{% set l = [messages[0].content ~ 'a'] * 999 %}"
    "{% set t = messages[0].content ~ 'b' %}" + _LOOP + "{{ t in l }}{% endfor %}",
    "numbers of one hash, unique": "{% set ns = namespace(x=[]) %}{% for i in range(9000) %}"
    "{% set ns.x = ns.x + [i * (2 ** 61 - 1)] %}{% endfor %}{{ ns.x|unique|list|length }}",
    "numbers of one hash as keys": "{% set ns = namespace(x=[]) %}{% for i in range(2500) %}"
    "{% set ns.x = ns.x + [i * (2 ** 61 - 1)] %}{% endfor %}"
    + _LOOP
    + "{{ dict.fromkeys(ns.x)|length }}{% endfor %}",
    "the largest of the chat": _LOOP
    + "{{ [messages[0].content, messages[0].content ~ '']|max|length }}{% endfor %}",
    "eating the chat": "{% set ns = namespace(x=messages[0].content) %}"
    + _LOOP
    + "{% set ns.x = ns.x[1:] %}{% endfor %}",
    "parting the chat": "{% set ns = namespace(x=messages[0].content) %}"
    + _LOOP
    + "{% set ns.x = ns.x.partition(' ')[2] %}{% endfor %}",
    "encoding the chat": _LOOP + "{% set x = messages[0].content.encode() %}{% endfor %}",
    "truncating the chat": _LOOP + "{{ messages[0].content|truncate(999999, true)|length }}{% endfor %}",
    "links of addresses": "{{ ('a@' * 400000)|urlize }}",
    "links in brackets": "{{ ('(http://a' * 90000)|urlize }}",
    "tags left open": "{{ ('<' * 900000)|striptags }}",
    "attributes without end": "{{ dict.fromkeys(range(99999), 'x' * 9)|xmlattr }}",
    "keywords without end": "{% macro f() %}{{ kwargs|length }}{% endmacro %}"
    + _LOOP
    + "{{ f(**dict.fromkeys(range(9999)|map('string'), 1)) }}{% endfor %}",
    "numbers of base 16": "{% set x = ('f' * 900000)|int(0, 16) %}"
    + _LOOP
    + "{% set z = x // (x // 3) %}{% endfor %}",
    "numbers of bytes": "{% set x = (1).from_bytes(('f' * 900000).encode(), 'big') %}"
    + _LOOP
    + "{% set z = x // 7 %}{% endfor %}",
    "reading long numbers": "{% set x = '9' * 900000 %}"
    + _LOOP
    + "{% set z = x|float %}{{ x|int }}{% endfor %}",
    "doubling numbers by plus": "{% set ns = namespace(x=1) %}"
    + _LOOP * 2
    + "{% set ns.x = ns.x + ns.x %}{% endfor %}{% endfor %}",
    "doubling numbers by minus": "{% set ns = namespace(x=1) %}"
    + _LOOP * 2
    + "{% set ns.x = ns.x - -ns.x %}{% endfor %}{% endfor %}",
    "doubling numbers by sum": "{% set ns = namespace(x=1) %}"
    + _LOOP * 2
    + "{% set ns.x = [ns.x, ns.x]|sum %}{% endfor %}{% endfor %}",
    "tables of characters": "{% set h = 'f' * 900000 %}"
    + _LOOP
    + "{% set z = ''.maketrans('a', 'b', h) %}{% endfor %}",
    "tables of bytes": "{% set h = ('f' * 900000).encode() %}"
    + _LOOP
    + "{% set z = h.maketrans(h, h) %}{% endfor %}",
    "a format of many attributes": "{% set p = '{0' ~ '.real' * 90000 ~ '}' %}"
    + _LOOP
    + "{% set z = p.format(1) %}{% endfor %}",
    "the chat as the name of an attribute": _LOOP
    + "{% set z = messages|map(messages[0].content) %}{% endfor %}",
    "folded tuples as keys of dict by iterators": _FOLDED_TUPLE
    + "{{ dict({1: ns.x}.items()|map('reverse'))|length }}",
    # before it runs, again
    "generation blocks 10,000 deep": "{% generation %}" * 10_000 + "{% endgeneration %}" * 10_000,
    "deep generation blocks": "{% generation %}" * 2500 + "{% endgeneration %}" * 2500,
    "deep set blocks": "{% set a %}" * 2500 + "{% endset %}" * 2500,
    "deep filter blocks": "{% filter upper %}" * 2500 + "{% endfilter %}" * 2500,
    "deep macros": "{% macro m() %}" * 2500 + "{% endmacro %}" * 2500,
    "deep elses": "{% if 0 %}{% else %}" * 1500 + "{% endif %}" * 1500,
    "deep arguments of filters": "{{ 1" + "|default(1" * 95 + ")" * 95 + " }}",
    "many powers": "{{ 2" + " ** 1" * 3000 + " }}",
    "many tests": "{{ 1" + " is defined" * 5000 + " }}",
    "many comparisons": "{{ 1" + " < 2" * 5000 + " }}",
    "a name of 90,000 letters": "{{ " + "é" * 90_000 + " }}",
    "a decimal of many digits": "{{ " + "9" * 90_000 + " }}",
    # a way out
    "classes": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "classes by attr": "{{ ''|attr('__class__')|attr('__mro__') }}",
    "classes by item": "{{ ''['__class__'] }}{{ []['__class__']['__base__']() }}",
    "classes by map": "{{ ['']|map(attribute='__class__')|first|attr('mro') }}",
    "classes by format": "{{ '{0.__class__.__mro__}'.format('') }}",
    "classes by format_map": "{{ '{a.__class__}'.format_map({'a': ''}) }}",
    "globals of a function": "{{ raise_exception.__globals__ }}{{ strftime_now.__closure__[0] }}",
    "globals of a namespace": "{{ namespace.__init__.__globals__.os.system('true') }}",
    "the module of dict": "{{ dict.__class__.__init__.__globals__ }}",
    "the environment of a macro": "{% macro f() %}{% endmacro %}{{ f._environment.filters }}",
    "the code of a generator": "{{ (messages|map('string')).gi_frame.f_globals }}",
    "the context of self": "{{ self._TemplateReference__context.environment }}",
    "the owner of a method": "{{ ''.format.__self__.__class__ }}{{ ''.upper.__self__ }}",
    "changing the chat": "{{ messages.append(1) }}{{ messages[0].update(role='x') }}",
    "changing a namespace's self": "{% set ns = namespace() %}{% set ns.__class__ = 1 %}",
    "another file": "{% include '/etc/passwd' %}",
    "another module": "{% from 'os' import system %}",
    "the debugger": "{% debug %}",
}


def chat(size: int = 1_000_000) -> list[dict[str, str]]:
    """A conversation of this many characters in one message."""
    return [{"role": "user", "content": ("word " * (size // 5))}]
