"""Expressions and statements of every kind that a template may use, to be tried against other engines."""

from __future__ import annotations

MESSAGES = [
    {"role": "user", "content": " Hé <b>llo</b>\n\tWorld's end. "},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "Yo"}],
        "n": 3,
        "x": {"b": [1, 2.5, None], "a": True},
    },
]
EXPRESSIONS = """
1 + 2 * 3 - 4 / 5 // 1 % 3 ** 2 | 'a' + 'b' | 'a' * 3 | 3 * 'ab' | [1] + [2] | [0] * 3
(1, 2) + (3,) | 7 % 3 | '%s-%s' % ('a', 1) | '%5.2f|%-5s|' % (1.5, 'x') | '%(a)s' % {'a': 2}
2 ** 10 | 2 ** -1 | -3 ** 2 | +5 | 1.5 * 2 | 'a' ~ 1 ~ none ~ nope ~ [1, 'x'] | nope | nope.x
nope + 1 | nope ~ 'x' | 1 == 1.0 | 'a' < 'b' | 1 < 2 < 3 | 3 > 2 > 2 | 1 < 2 == true | 'a' in 'abc'
1 in [1, 2] | 'role' in m | 'x' not in m.x | 3 in (1, 2) | 'a' in nope | 1 in range(5)
m.content == [1] | m['x'].b[0] | m.x.b[-1] | m.x.b[7] | m.x.b[1:] | u[1:3] | u[::-1] | u[::2]
(1, 2, 3)[:2] | u[99] | m.get('role') | m.get('zip', 'd') | m['items'] is callable | m.x.keys()|list
m.x.items()|list | m.items()|length | m.copy() | m.append | m.__class__ | u.__len__ | [].append(1)
{}.update(a=1) | m.x.b.index(2.5) | [1, 2, 1].count(1) | u.strip() | u.upper() | u.split()
u.split('l') | u.split('l', 1) | u.rsplit(None, 1) | u.splitlines() | u.title()
u.replace('l', 'LL') | u.replace('l', 'L', 1) | u.center(40) | u.ljust(30, '.') | u.zfill(40)
u.expandtabs(4) | u.find('o') | u.startswith(' H') | u.endswith(('.', ' ')) | u.join(['a', 'b'])
', '.join(m.x) | '-'.join(u.split()|map('upper')) | u.partition('o') | u.lstrip(' H')
'{} {a}'.format(1, a=2) | '{0:>8}'.format('x')
'{a[b]}'.format(a={'b': 1}) | '{a.b}'.format(a={'b': 1}) | '{x}'.format_map({'x': 1})
'{0.__class__}'.format(1) | 'abc'.translate({97: 'zz'}) | 'é'.encode() | 'abc'.isalpha()
'a b'.capitalize() | 'ab'.removeprefix('a') | u|trim | u|upper | u|lower | u|title | u|capitalize
u|length | u|wordcount | u|e | u|escape ~ '<' | u|safe | u|string | m|string | u|replace('l', 'L')
u|replace('l', 'L', 1) | u|indent(2) | u|indent(width='> ', first=true) | u|wordwrap(5)
u|truncate(9) | u|center(40) | u|urlencode | u|striptags | u|first | u|last | u|reverse | u|list
m|list | m|dictsort | m|items|list | m|tojson | m|tojson(indent=2) | m|tojson(sort_keys=true)
m|tojson(separators=(',', ':')) | m|tojson(ensure_ascii=true) | u|tojson | nope|tojson
nope|default('d') | ''|default('d', true) | nope|d(1) | m.x.b|join(', ') | [1, 2]|sum
[[1], [2]]|sum(start=[]) | [3, 1, 2]|sort | ['b', 'A']|sort | [3, 1]|max | [3, 1]|min
[1, 1, 2]|unique|list | [1, 2, 3]|batch(2)|list | [1, 2, 3]|slice(2)|list
ms|map(attribute='role')|list | ms|map(attribute='role')|join('/')
ms|selectattr('role', 'equalto', 'user')|list|length | ms|rejectattr('role', 'eq', 'user')|list
[1, 2, 3]|select('odd')|list | [1, 2]|reject('gt', 1)|list | ['a']|map('upper')|list
ms|groupby('role') | ms|selectattr('n')|list|length
ms|selectattr('n', 'defined')|map(attribute='n')|first | 3.7|round | 3.14159|round(2) | '42'|int + 1
'x'|int(7) | '1.5'|float | -3|abs | 1000000|filesizeformat | '%s!'|format('x') | '<x>'|forceescape
{'a': 1}|xmlattr | 1 is odd | 2 is even | 4 is divisibleby 2 | nope is defined | m is mapping
u is string | m.x.b is sequence | u is iterable | 1 is number | 1.0 is float | true is boolean
none is none | 1 is sameas 1 | 'a' is in 'abc' | 1 is eq 1 | 2 is gt 1 | u is lower | range(3)|list
range(1, 9, 3)|list | range(100001) | dict(a=1) | dict([('a', 1)]) | dict.fromkeys(['a'], 0)
dict({'a': 1}, b=2) | namespace(a=1).a | namespace(_a=1) | namespace(a=1)._x | 'y' if u else 'n'
'y' if nope | not u | u and 1 or 2 | [] or 'e' | {} | {'a': 1, 'b': [1]}.b | {1: 2}[1]
{(1, 2): 3}[(1, 2)] | [1, [2, 3]] | (1,) | '\\n' | "it's" | 'a' 'b' | true | none | 1_000 | 0x1f
m|attr('role') | u|attr('upper') | u|attr('__class__') | (u|attr('center'))(30) | (5).bit_length()
(5).to_bytes(2, 'big') | u|nofilter | 1 is notest | raise_exception('no') | 1 / 0 | 'a' + 1
[] + 'a' | u.nothing() | m.role() | none.x | 1.real | m.content[0].text
m.content|map(attribute='text')|list | ('a', 'b')|join | 'abc'|map('upper')|join
ms[0].role ~ ms[-1]['role'] | 'a'|random | ''|random | [] | first | loop | self | messages|length
tools | documents is none | add_generation_prompt
"""
# '|' with blanks around it separates; filters are written without
CASES = [case.strip() for line in EXPRESSIONS.strip().split("\n") for case in line.split(" | ")]

TEMPLATES = [
    "{% for m in messages %}{{ loop.index }}/{{ loop.length }}{{ loop.cycle('a', 'b') }}"
    "{{ loop.changed(m.role) }}"
    "{{ loop.previtem.role }}{{ loop.nextitem.role }}{{ loop.first }}{% endfor %}",
    "{% for m in messages if m.role == 'user' %}{{ m.content }}{% else %}none{% endfor %}",
    "{% for m in messages if m.role == 'critic' %}{{ m.content }}{% else %}none{% endfor %}",
    "{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}{{ m.role }}{% break %}{% endfor %}",
    "{% macro f(a, b='x') %}[{{ a }}{{ b }}{{ varargs }}{{ kwargs }}]{% endmacro %}{{ f(1) }}"
    "{{ f(1, 2, 3, c=4) }}",
    "{% macro f() %}{{ caller('in') }}{% endmacro %}{% call(x) f() %}<{{ x }}>{% endcall %}",
    "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}",
    "{% set x %}a{{ messages[0].role }}{% endset %}{{ x|upper }}{% filter upper %}b{{ x }}{% endfilter %}",
    "{% set x = 1 %}{% for m in messages %}{% set x = x + 1 %}{% endfor %}{{ x }}",
    "{% set a, b = 1, 2 %}{% for k, v in messages[1].x.items() %}{{ k }}={{ v }}{% endfor %}{{ a + b }}",
    "{% with a = 1 %}{{ a }}{% endwith %}{{ a }}{% block t %}"
    "{{ messages|length }}{% endblock %}{{ self.t() }}",
    "{% for i in [[1, [2]], [3]] recursive %}{{ loop.depth }}{{ i if i is number else loop(i) }}{% endfor %}",
    "{% autoescape true %}{{ messages[0].content }}{{ '<' ~ messages[0].content }}{% endautoescape %}<b>",
    "  {%- if true -%}  a  {%- endif %}\n  {% if true %}\n b \n  {% endif %}\n{# note #}\nc\n\n",
    "{% raw %}{{ x }}{% endraw %}\r\n{{ 'a' }}\r\nb",
    "{% generation %}{% set y = 1 %}{{ y }}{% endgeneration %}{{ y }}",
    "{% set y = 0 %}{% for m in messages %}{% generation %}{% set y = y + 1 %}{{ y }}{{ loop.index }}"
    "{% endgeneration %}{{ y }}{% endfor %}",
    "{%- for m in messages -%}{%- if m.content is string -%}{%- set c = m.content -%}{%- else -%}"
    "{%- set c = m.content|selectattr('type', 'equalto', 'text')|map(attribute='text')|join('') -%}"
    "{%- endif -%}{{ {'user': 'U'}.get(m.role, m.role|upper) ~ ': ' ~ c|trim }}{%- endfor -%}",
    "{% for m in messages recursive %}{{ m.type or m.role }}"
    "{% if m.content is iterable and m.content is not string %}({{ loop(m.content) }}){% endif %}"
    "{% endfor %}",
    "{% macro keys(d, n) %}{% for k in d|sort %}{{ '  ' * n }}{{ k }}{% if d[k] is mapping %}"
    "{{ keys(d[k], n + 1) }}{% endif %}{% endfor %}{% endmacro %}{{ keys(messages[1], 0) }}",
    "{% set d = {'a': 1} %}{% set _ = d.update({'b': 2}) %}{{ d }}",
    "{% set d = dict(messages[0], role='x') %}{{ d.role }}{{ d|length }}{{ dict(a=1, **d)|length }}",
    "{% for r, ms in messages|groupby('role') %}{{ r }}{{ ms|length }}{% endfor %}",
    "{% set x | upper | trim %} abc {{ messages[0].role }} {% endset %}[{{ x }}]",
    "  {%+ if true +%}  x  {%+ endif %}\n{{- ' a' -}}  {{ 'b' }}",
    "{% for (x, y), z in [((1, 2), 3)] %}{{ x }}{{ y }}{{ z }}{% else %}{% endfor %}{{ x is defined }}",
    "{% do x %}",
    "{% include 'x' %}",
    "{% if %}",
    "{{ x",
    "{% for %}{% endfor %}",
    "{% generation %}",
    "{{ 1 +}}",
    "{% set messages[0].role = 1 %}",
    "{% set ns = namespace() %}{% set ns._x = 1 %}",
    "{{ messages[0].content.x.y }}",
]


def in_template(expression: str) -> str:
    """A template that shows the expression, with `ms`, `m` and `u` for parts of MESSAGES."""
    names = "{%- set ms = messages -%}{%- set m = messages[1] -%}{%- set u = messages[0].content -%}"
    return f"{names}{{{{ {expression} }}}}"
